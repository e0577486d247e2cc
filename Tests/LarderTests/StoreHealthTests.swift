import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// A store that fails is told to the log when that begins and when it is over; counters count each time.
@Suite struct StoreHealthTests {
    /// The notes of the log about stores in a story.
    private static func notes(_ kitchen: Kitchen, _ story: () async throws -> Void) async throws -> [String] {
        var notes: [String] = []
        var stream = kitchen.pantry.decisions.makeAsyncIterator()
        try await story()
        // Something that is surely told ends it.
        try kitchen.folder.edit("feed.json", "\"resource\": \"feed\"", "\"resource\": \"feed\", \"about\": \"the end\"")
        try await kitchen.pantry.reload()
        while let decision = await stream.next(), decision.kind != .policy {
            if decision.kind == .storeFault { notes.append(decision.note) }
        }
        return notes
    }

    @Test func fullStoreIsToldOnceWhateverTheTraffic() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#)
            let notes = try await Self.notes(kitchen) {
                kitchen.store.fillUp(at: 0)
                for _ in 0..<100 {
                    _ = try await kitchen.feed.load()
                    try await world.sleep(for: .seconds(10))
                }
                kitchen.store.fillUp(at: nil)
                for _ in 0..<20 {
                    _ = try await kitchen.feed.load()
                    try await world.sleep(for: .seconds(10))
                }
            }
            #expect(
                notes == [
                    "cannot write: faulty: cannot write: no space left on device",
                    "can write again, after 16 min: faulty",
                ], "\(notes)")
            #expect(kitchen.feed.metrics.storeFaults == ["faulty": 100])
        }
    }

    @Test func storeInWhichSmallEntriesFitAndLargeOnesDoNotIsToldOnce() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#)
            let notes = try await Self.notes(kitchen) {
                kitchen.store.fillUp(at: 500)
                for number in 0..<100 {
                    kitchen.origin.play(.value(String(repeating: "x", count: number % 2 * 1_000)))
                    #expect(try await kitchen.feed.load().isStored == (number % 2 == 0))
                    try await world.sleep(for: .seconds(10))
                }
            }
            #expect(notes.count == 1, "\(notes)")
        }
    }

    @Test func eachTierAndEachOperationIsToldApart() throws {
        try SimulatedWorld().run { world in
            let lower = FaultyStore("lower", world: world)
            let kitchen = try await Kitchen(
                world, strategy: #""network-first""#,
                store: #"{ "use": "tiered", "tiers": ["faulty", "lower"] }"#, plugins: [lower.plugin])
            let notes = try await Self.notes(kitchen) {
                kitchen.store.set(.fails, for: .read)
                lower.set(.fails, for: .write)
                for _ in 0..<5 { _ = try await kitchen.feed.load() }
                try await world.sleep(for: .seconds(100))
                lower.set(nil, for: .write)
                // What is found below says nothing of the tier that fails.
                for _ in 0..<15 {
                    _ = try await kitchen.feed.load()
                    try await world.sleep(for: .seconds(10))
                }
                kitchen.store.set(nil, for: .read)
                for _ in 0..<15 {
                    _ = try await kitchen.feed.load()
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
