import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Ten thousand prefetches beside the loads of users.
@Suite struct PrefetchLoadTests {
    /// The metrics after 150 seconds with a hundred loads a second. The origin bears few calls at once, and its answers
    /// take as long as those of a network do.
    private static func metrics(prefetching: Bool, seed: UInt64) throws -> ResourceMetrics {
        let feed = """
            { "resource": "feed", "origin": "modelled", "strategy": "cache-first", "store": { "use": "memory",
              "entries": 9000 }, "validators": [{ "use": "age", "fresh": "1h" }],
              "around": [{ "use": "limit", "concurrent": 9, "queue": 1000 }] }
            """
        return try SimulatedWorld(seed: seed).run { world in
            var model = OriginModel()
            (model.latency, model.slowest, model.size) = (.milliseconds(50), .milliseconds(250), 1_000)
            let origin = model.origin(in: world)
            let simulated = try await SimulatedPantry(
                ["feed": feed], in: world, plugins: [.origin("modelled", "Takes its time.") { _ in origin }])
            let prefetch = simulated.feed.prefetch(prefetching ? PrefetchTests.ids(1...10_000) : [])
            var dice = SeededGenerator(seed: seed)
            var loads: [Started<Loaded<Data>>] = []
            for _ in 1...15_000 {
                try await world.sleep(for: .nanoseconds(Int64(dice.next() % 20_000_000)))
                // One in ten asks for something that is prefetched, sooner or later.
                let id = dice.next() % 10 == 0 ? Int(dice.next() % 10_000) + 1 : 1_000_000 + loads.count
                loads.append(simulated.start(["id": "\(id)"]))
            }
            for load in loads { _ = try await load.value() }
            let progress = await prefetch.finished()
            #expect(progress.done == progress.total)
            await simulated.pantry.close()
            return simulated.feed.metrics
        }
    }

    @Test(arguments: [1] as [UInt64])
    func loadsAreAsFastBesidesTenThousandPrefetches(_ seed: UInt64) throws {
        let (alone, beside) = (
            try Self.metrics(prefetching: false, seed: seed), try Self.metrics(prefetching: true, seed: seed)
        )
        #expect(alone.loads == 15_000 && beside.loads == 15_000 && beside[.prefetches] > 9_000)
        let (former, present) = (
            try #require(alone.load(percentile: 0.95)), try #require(beside.load(percentile: 0.95))
        )
        #expect(present <= former.scaled(by: 1.05), "\(former) → \(present)")
        // The store had no room for all of them, and its memory is gone now that the pantry is closed.
        #expect(beside[.prefetched] <= beside[.prefetches], "a prefetch may join the call of a load")
        #expect(beside[.prefetched] == beside[.prefetchedUsed] + beside[.prefetchedWasted])
        #expect(beside[.prefetchedBytes] == 1_000 * beside[.prefetched])
        #expect(beside[.prefetchedUsedBytes] == 1_000 * beside[.prefetchedUsed] && beside[.prefetchedUsed] > 50)
        #expect(
            beside[.prefetchedWastedBytes] == 1_000 * beside[.prefetchedWasted] && beside[.prefetchedWasted] > 1_000)
    }
}
