import LarderSimulation
import Testing

import Larder
@testable import LarderPlugins

@Suite struct SQLiteClockTests {
    private static let day = Duration.seconds(86_400)

    @Test func storeWorksWhenTheClockIsSetByADay() throws {
        try SimulatedWorld().run { world in
            let place = try SQLiteFixture(in: world)
            let store = place.open {
                $0.maxAge = .seconds(3_600)
                $0.mostEntries = 40
            }
            func write(_ text: String, _ id: String) async throws {
                #expect(try await store.write(Entry(text: text, fetchedAt: world.now), for: .id(id)))
            }
            try await write("today", "a")
            world.stepClock(by: .zero - Self.day)
            // The entry is from the future. Its age decides about its use, not the store.
            #expect(try await store.text(.id("a")) == "today")
            try await write("yesterday", "a")
            #expect(try await store.text(.id("a")) == "yesterday")
            try await store.remove(.tag("none"))
            world.stepClock(by: Self.day + Self.day)
            #expect(try await store.read(.id("a")) == nil)
            for number in 0..<100 { try await write("\(number)", "\(number)") }
            #expect(try await store.text(.id("99")) == "99")
            #expect(await store.statistics().entries <= 40)
            world.stepClock(by: .zero - Self.day)
            #expect(try await store.text(.id("99")) == "99")
            await store.close()
            #expect(try await place.open().text(.id("99")) == "99")
        }
    }
}
