import Larder
import LarderSimulation
import Testing

@Suite struct FirstTests {
    @Test func aMissIsLoadedSavedAndThenServed() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #""cache-first""#, validators: #"[{ "use": "age", "fresh": "5m" }]"#)
            kitchen.origin.play(.value("one", after: .milliseconds(20)))
            let first = try await kitchen.feed.load()
            #expect(first.text == "one" && first.source == .origin && first.isStored)
            #expect(world.uptime == .milliseconds(20))
            let second = try await kitchen.feed.load()
            #expect(second.source == .store("faulty") && second.freshness == .fresh)
            #expect(kitchen.origin.calls.count == 1)
            print(second.trail)
        }
    }
}
