import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderCore

/// The counters of prefetched copies: each is used, or wasted, or still waits.
@Suite struct PrefetchUseTests {
    private static let age = #"[{ "use": "age", "fresh": "10m", "onError": "7d" }]"#
    private static let tiered = """
        { "use": "tiered", "tiers": [{ "use": "memory", "entries": 6 }, { "use": "sqlite", "file": "feed.sqlite" }] }
        """

    private static func simulated(
        _ world: SimulatedWorld, strategy: String = #""cache-first""#, store: String = #""memory""#,
        cache: TemporaryFolder? = nil
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: strategy, validators: age, store: store, cache: cache)
        simulated.origin.play(then: .value("value", after: .milliseconds(100)))
        return simulated
    }

    /// The counts, the waiting copies last.
    private static func counts(_ simulated: SimulatedPantry) -> [UInt64] {
        let metrics = simulated.feed.metrics
        for (one, other) in [
            (Counter.prefetched, Counter.prefetchedBytes), (.prefetchedUsed, .prefetchedUsedBytes),
            (.prefetchedWasted, .prefetchedWastedBytes),
        ] {
            #expect(metrics[other] == 5 * metrics[one], "each payload has five bytes")
        }
        return [
            metrics[.prefetched], metrics[.prefetchedUsed], metrics[.prefetchedWasted], metrics.prefetchedWaiting,
        ]
    }

    /// The number of entries in the store that have the mark.
    private static func marked(_ simulated: SimulatedPantry) async throws -> Int {
        let store = try simulated.feed.graph().storeAccess
        var (count, cursor): (Int, StoreCursor?) = (0, nil)
        repeat {
            let page = try await store.list(after: cursor, most: 100)
            count += page.entries.count { $0.metadata.isUnusedPrefetch }
            cursor = page.next
        } while cursor != nil
        return count
    }

    @Test(arguments: [#""memory""#, tiered, #""faulty""#, #"{ "use": "file", "directory": "feed" }"#])
    func copyIsCountedAsUsedOnce(_ store: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, store: store)
            await simulated.feed.prefetch(PrefetchTests.ids(1...4)).finished()
            #expect(Self.counts(simulated) == [4, 0, 0, 4])
            for _ in 1...5 {
                for parameters in PrefetchTests.ids(1...3) {
                    #expect(try await simulated.feed.load(parameters).freshness == .fresh)
                }
                try await world.settle()
            }
            #expect(Self.counts(simulated) == [4, 3, 0, 1])
            #expect(try await Self.marked(simulated) == 1)
            await simulated.pantry.close()
        }
    }

    @Test func otherPurposesAreNoUse() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            await simulated.feed.prefetch(PrefetchTests.ids(1...1)).finished()
            await simulated.feed.prefetch(PrefetchTests.ids(1...1)).finished()
            for purpose in [Request.Purpose.prefetch, .sync] {
                _ = try await simulated.feed.load(["id": "1"], purpose: purpose)
            }
            #expect(Self.counts(simulated) == [1, 0, 0, 1])
            #expect(simulated.feed.answer(simulated.feed.request(["id": "1"])) != nil)
            #expect(Self.counts(simulated) == [1, 1, 0, 0])
            await simulated.pantry.close()
        }
    }

    @Test func answerThatAUserHasWaitedForIsUsed() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            let prefetch = simulated.feed.prefetch(PrefetchTests.ids(1...2))
            try await world.sleep(for: .milliseconds(10))
            let user = simulated.start(["id": "1"])
            _ = try await user.value()
            await prefetch.finished()
            try await world.settle()
            #expect(Self.counts(simulated) == [2, 1, 0, 1])
            #expect(try await Self.marked(simulated) == 1)
            await simulated.pantry.close()
        }
    }

    @Test func answerThatIsShownBeforeItIsSavedIsUsed() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, store: #""faulty""#)
            simulated.store.set(.takes(.seconds(1)), for: .write)
            let prefetch = simulated.feed.prefetch(PrefetchTests.ids(1...1))
            try await world.sleep(for: .milliseconds(10))
            let user = simulated.start(["id": "1"], deadline: .milliseconds(500))
            #expect(try await user.value().isStored == false)
            #expect(Self.counts(simulated) == [0, 0, 0, 0])
            await prefetch.finished()
            try await world.sleep(for: .seconds(5))
            #expect(Self.counts(simulated) == [1, 1, 0, 0])
            #expect(try await Self.marked(simulated) == 0)
            await simulated.pantry.close()
        }
    }

    @Test func evictedCopiesAreWasted() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(
                world, store: #"{ "use": "memory", "entries": 6, "eviction": "lru" }"#)
            await simulated.feed.prefetch(PrefetchTests.ids(1...10)).finished()
            try await world.settle()
            #expect(Self.counts(simulated) == [10, 0, 4, 6])
            #expect(try await Self.marked(simulated) == 6)
            await simulated.pantry.close()
            #expect(Self.counts(simulated) == [10, 0, 10, 0])
        }
    }

    @Test func copyInALowerTierStillWaits() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, store: Self.tiered)
            await simulated.feed.prefetch(PrefetchTests.ids(1...10)).finished()
            try await world.settle()
            #expect(Self.counts(simulated) == [10, 0, 0, 10])
            for parameters in PrefetchTests.ids(1...10) { _ = try await simulated.feed.load(parameters) }
            try await world.settle()
            #expect(Self.counts(simulated) == [10, 10, 0, 0])
            await simulated.pantry.close()
        }
    }

    @Test func storeThatDoesNotTellEvictionsIsAskedForADump() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(
                world, store: #"{ "use": "file", "directory": "feed", "capacity": "2KB" }"#)
            await simulated.feed.prefetch(PrefetchTests.ids(1...30)).finished()
            _ = await simulated.pantry.metrics.dump()
            let counts = Self.counts(simulated)
            let marked = try await Self.marked(simulated)
            #expect(counts[2] > 0 && counts[3] == UInt64(marked) && marked > 0)
            await simulated.pantry.close()
        }
    }

    @Test func clearedAndReplacedCopiesAreWasted() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            await simulated.feed.prefetch(PrefetchTests.ids(1...6)).finished()
            try await simulated.feed.clear(["id": "1"])
            #expect(Self.counts(simulated) == [6, 0, 1, 5])
            _ = try await simulated.feed.save(Data("other".utf8), for: simulated.feed.request(["id": "2"]))
            #expect(Self.counts(simulated) == [6, 0, 2, 4])
            _ = try await simulated.feed.load(["id": "3"], mode: .refresh)
            #expect(Self.counts(simulated) == [6, 0, 3, 3])
            simulated.origin.play(.failure(.status(404)))
            _ = await simulated.start(["id": "4"], mode: .refresh).result()
            #expect(Self.counts(simulated) == [6, 0, 4, 2])
            try await world.sleep(for: .seconds(700))
            await simulated.feed.prefetch(PrefetchTests.ids(5...5)).finished()
            #expect(Self.counts(simulated) == [7, 0, 5, 2])
            try await simulated.pantry.clear()
            #expect(Self.counts(simulated) == [7, 0, 7, 0])
            await simulated.pantry.close()
        }
    }

    @Test func confirmedCopyWaitsOn() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            simulated.origin.play(.value("value", etag: "1"), .unchanged(), .unchanged())
            await simulated.feed.prefetch(PrefetchTests.ids(1...1)).finished()
            try await world.sleep(for: .seconds(700))
            let again = await simulated.feed.prefetch(PrefetchTests.ids(1...1)).finished()
            #expect(again.done == 1 && again.bytes == 0)
            #expect(Self.counts(simulated) == [1, 0, 0, 1])
            try await world.sleep(for: .seconds(700))
            #expect(try await simulated.feed.load(["id": "1"]).source == .revalidated)
            try await world.settle()
            #expect(Self.counts(simulated) == [1, 1, 0, 0])
            #expect(try await Self.marked(simulated) == 0)
            await simulated.pantry.close()
        }
    }

    @Test(arguments: [#""memory""#, tiered])
    func useBeforeAConfirmationIsCountedOnce(_ store: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, store: store)
            simulated.origin.play(then: .unchanged(after: .seconds(1)))
            simulated.origin.play(.value("value", etag: "1"))
            await simulated.feed.prefetch(PrefetchTests.ids(1...1)).finished()
            try await world.sleep(for: .seconds(700))
            let refresh = simulated.feed.prefetch(PrefetchTests.ids(1...1))
            // The origin is asked about the marked copy, which is used meanwhile.
            try await world.sleep(for: .milliseconds(500))
            _ = await simulated.start(["id": "1"], mode: .cachedOnly).result()
            _ = simulated.start(["id": "1"], mode: .refresh)
            try await world.sleep(for: .milliseconds(100))
            await refresh.finished()
            try await world.settle()
            #expect(Self.counts(simulated) == [1, 1, 0, 0])
            _ = try await simulated.feed.load(["id": "1"])
            try await world.settle()
            #expect(Self.counts(simulated) == [1, 1, 0, 0])
            #expect(try await Self.marked(simulated) == 0)
            await simulated.pantry.close()
        }
    }

    @Test(arguments: [tiered, #"{ "use": "file", "directory": "feed" }"#])
    func laterRunGoesOn(_ store: String) throws {
        try SimulatedWorld().run { world in
            let cache = try TemporaryFolder()
            let first = try await Self.simulated(world, store: store, cache: cache)
            await first.feed.prefetch(PrefetchTests.ids(1...5)).finished()
            _ = try await first.feed.load(["id": "1"])
            await first.pantry.close()
            #expect(Self.counts(first) == [5, 1, 0, 4])
            let second = try await Self.simulated(world, store: store, cache: cache)
            for _ in 1...3 {
                for parameters in PrefetchTests.ids(1...2) { _ = try await second.feed.load(parameters) }
                try await world.settle()
            }
            #expect(Self.counts(second) == [0, 1, 0, 0])
            _ = try await second.feed.load(["id": "3"], mode: .cachedOnly)
            try await world.settle()
            #expect(Self.counts(second) == [0, 2, 0, 0])
            // Found by a prefetch, and replaced.
            try await world.sleep(for: .seconds(700))
            await second.feed.prefetch(PrefetchTests.ids(4...4)).finished()
            #expect(Self.counts(second) == [1, 2, 1, 0])
            await second.pantry.close()
        }
    }

    @Test(arguments: [0, 1e-9, 0.1, 0.25, 0.5, 0.75, 0x1.fffffffffffffp-1, 1])
    func markIsKeptBesideTheOtherFacts(_ spread: Double) throws {
        for (isExpired, initialAge) in [(false, Duration.zero), (true, .zero), (true, .seconds(5))] {
            var metadata = Metadata(
                fetchedAt: Timestamp(seconds: 100), initialAge: initialAge, etag: "1", spread: spread)
            metadata.isExpired = isExpired
            let plain = metadata
            metadata.isUnusedPrefetch = true
            #expect(metadata != plain && metadata.isOfSamePayload(as: plain) && metadata.spread == spread)
            #expect(metadata.isExpired == isExpired && metadata.initialAge == initialAge)
            let key = Request("feed").key
            let bytes = try Entry(Data("value".utf8), metadata).encoded(for: key)
            let decoded = try #require(try Entry(encoded: bytes, for: key)).metadata
            #expect(decoded.isUnusedPrefetch && decoded.spread == (spread < 1 ? spread : 0))
            metadata.isUnusedPrefetch = false
            #expect(metadata == plain)
            metadata.spread = spread / 2
            #expect(metadata.spread == spread / 2 && !metadata.isUnusedPrefetch && metadata.isExpired == isExpired)
        }
    }

    // MARK: Sums

    @Test(arguments: [
        #""memory""#, #"{ "use": "memory", "entries": 12 }"#, tiered, #""faulty""#,
        #"{ "use": "tiered", "tiers": [{ "use": "memory", "entries": 6 }, "faulty"] }"#,
    ])
    func everyCopyIsUsedOrWastedOrWaits(_ store: String) throws {
        for seed in 1...12 as ClosedRange<UInt64> {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run(leaving: .anything) { world in
                let simulated = try await Self.simulated(
                    world, strategy: seed % 2 == 0 ? #""cache-first""# : #""network-first""#, store: store)
                simulated.origin.play(then: .value("value", after: .milliseconds(100), etag: seed % 3 == 0 ? "1" : nil))
                var dice = SeededGenerator(seed: seed)
                for _ in 1...150 {
                    let id = Int(dice.next() % 25)
                    let parameters: Parameters = ["id": "\(id)"]
                    switch dice.next() % 12 {
                    case 0...2: simulated.feed.prefetch(PrefetchTests.ids(id...id + 5))
                    case 3...6: _ = simulated.start(parameters)
                    case 7: _ = simulated.start(parameters, mode: .refresh)
                    case 8: _ = simulated.feed.answer(simulated.feed.request(parameters))
                    case 9: if dice.next() % 4 == 0 { try await simulated.feed.clear(parameters) }
                    case 10: if dice.next() % 8 == 0 { try await simulated.pantry.clear() }
                    default: if dice.next() % 8 == 0 { try await world.sleep(for: .seconds(700)) }
                    }
                    try await world.sleep(for: .milliseconds(Int64(dice.next() % 80)))
                }
                try await world.sleep(for: .seconds(60))
                let counts = Self.counts(simulated)
                let marked = try await Self.marked(simulated)
                #expect(counts[0] == counts[1] + counts[2] + UInt64(marked), "seed \(seed)")
                #expect(counts[3] == UInt64(marked) && counts[2] > 0)
                // A network-first load is answered by a copy only if the origin fails.
                if seed % 2 == 0 { #expect(counts[1] > 0) }
                for id in 0...30 { _ = try await simulated.feed.load(["id": "\(id)"]) }
                try await simulated.pantry.clear()
                let last = Self.counts(simulated)
                #expect(last[0] == last[1] + last[2] && last[3] == 0, "seed \(seed)")
                await simulated.pantry.close()
            }
        }
    }
}
