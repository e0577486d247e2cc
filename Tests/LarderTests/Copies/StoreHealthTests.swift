import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The beginning and the end of a store's failure are logged. Counters count each failure.
@Suite struct StoreHealthTests {
    /// The notes of the log about stores in a story.
    private static func notes(_ simulated: SimulatedPantry, _ story: () async throws -> Void) async throws -> [String] {
        var notes: [String] = []
        var stream = simulated.pantry.decisions.makeAsyncIterator()
        try await story()
        // Something that is surely told ends it.
        try await simulated.edit("\"resource\": \"feed\"", "\"resource\": \"feed\", \"about\": \"the end\"")
        while let decision = await stream.next(), decision.kind != .policy {
            if decision.kind == .storeFault { notes.append(decision.note) }
        }
        return notes
    }

    @Test func fullStoreIsReportedOnce() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            let notes = try await Self.notes(simulated) {
                simulated.store.fillUp(at: 0)
                for _ in 0..<100 {
                    _ = try await simulated.feed.load()
                    try await world.sleep(for: .seconds(10))
                }
                simulated.store.fillUp(at: nil)
                for _ in 0..<20 {
                    _ = try await simulated.feed.load()
                    try await world.sleep(for: .seconds(10))
                }
            }
            #expect(
                notes == [
                    "cannot write: faulty: cannot write: no space left on device",
                    "can write again, after 16 min: faulty",
                ], "\(notes)")
            #expect(simulated.feed.metrics.storeFaults == ["faulty": 100])
        }
    }

    @Test func storeThatIsFullForLargeEntriesIsReportedOnce() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            let notes = try await Self.notes(simulated) {
                simulated.store.fillUp(at: 500)
                for number in 0..<100 {
                    simulated.origin.play(.value(String(repeating: "x", count: number % 2 * 1_000)))
                    #expect(try await simulated.feed.load().isStored == (number % 2 == 0))
                    try await world.sleep(for: .seconds(10))
                }
            }
            #expect(notes.count == 1, "\(notes)")
        }
    }

    @Test func pauseWithoutWritesDoesNotEndAFailure() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            let notes = try await Self.notes(simulated) {
                simulated.store.fillUp(at: 500)
                for _ in 0..<3 {
                    simulated.origin.play(.value(String(repeating: "x", count: 1_000)))
                    #expect(try await !simulated.feed.load().isStored)
                    for _ in 0..<2 {
                        try await world.sleep(for: .seconds(600))
                        for _ in 0..<20 {
                            #expect(try await simulated.feed.load().isStored)
                            try await world.sleep(for: .seconds(1))
                        }
                    }
                }
            }
            #expect(notes.count == 1, "\(notes)")
        }
    }

    @Test func failuresAreReportedByTierAndOperation() throws {
        try SimulatedWorld().run { world in
            let lower = FaultyStore("lower", world: world)
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-first""#,
                store: #"{ "use": "tiered", "tiers": ["faulty", "lower"] }"#, plugins: [lower.plugin])
            let notes = try await Self.notes(simulated) {
                simulated.store.set(.fails, for: .read)
                lower.set(.fails, for: .write)
                for _ in 0..<5 { _ = try await simulated.feed.load() }
                try await world.sleep(for: .seconds(100))
                lower.set(nil, for: .write)
                // A copy in a lower tier does not show whether the failing tier works.
                for _ in 0..<15 {
                    _ = try await simulated.feed.load()
                    try await world.sleep(for: .seconds(10))
                }
                simulated.store.set(nil, for: .read)
                for _ in 0..<15 {
                    _ = try await simulated.feed.load()
                    try await world.sleep(for: .seconds(10))
                }
            }
            #expect(
                notes == [
                    "cannot read: faulty: told to fail", "cannot write: lower: told to fail",
                    "can write again, after 1.6 min: lower", "can read again, after 4.1 min: faulty",
                ], "\(notes)")
        }
    }
}
