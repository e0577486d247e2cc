import LarderBase
import Testing

import Larder
@testable import LarderPlugins

/// A world whose wall clock can be set.
private struct ShiftedWorld: World {
    private let base = SystemWorld(blockingThreads: 2)
    let shift = Locked(Duration.zero)

    var now: Timestamp { base.now + shift.withLock { $0 } }
    var uptime: Duration { base.uptime }
    func random() -> UInt64 { base.random() }
    func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
    func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.spawn(work) }
    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await base.blocking(work)
    }
    func blocking<Value: Sendable>(
        on name: String, atMost limit: Int, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await base.blocking(on: name, atMost: limit, work)
    }
}

@Suite struct SQLiteClockTests {
    private static let day = Duration.seconds(86_400)

    @Test func storeWorksWhenTheClockIsSetByADay() async throws {
        let world = ShiftedWorld()
        let place = try SQLiteFixture(in: world)
        let store = place.open {
            $0.maxAge = .seconds(3_600)
            $0.mostEntries = 40
        }
        func write(_ text: String, _ id: String) async throws {
            #expect(try await store.write(Entry(text: text, fetchedAt: world.now), for: .id(id)))
        }
        try await write("today", "a")
        world.shift.withLock { $0 = .zero - Self.day }
        // The entry is from the future. Its age decides about its use, not the store.
        #expect(try await store.text(.id("a")) == "today")
        try await write("yesterday", "a")
        #expect(try await store.text(.id("a")) == "yesterday")
        try await store.remove(.tag("none"))
        world.shift.withLock { $0 = Self.day }
        #expect(try await store.read(.id("a")) == nil)
        for number in 0..<100 { try await write("\(number)", "\(number)") }
        #expect(try await store.text(.id("99")) == "99")
        #expect(await store.statistics().entries <= 40)
        world.shift.withLock { $0 = .zero }
        #expect(try await store.text(.id("99")) == "99")
        await store.close()
        #expect(try await place.open().text(.id("99")) == "99")
    }
}
