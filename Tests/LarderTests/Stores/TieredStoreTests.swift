import LarderSystem
import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderPlugins

@Suite struct TieredStoreTests {
    /// A pantry whose only resource `feed` is kept in two tiers.
    private struct Cellar {
        let upper: FaultyStore
        let lower: FaultyStore
        let origin: ScriptedOrigin
        let feed: Resource<Data>
        private let pantry: Pantry

        init(
            _ world: SimulatedWorld, _ tiers: String = #"["upper", "lower"]"#, windows: String = "", more: String = "",
            areBothForeign: Bool = false
        ) async throws {
            upper = FaultyStore("upper", isForeign: areBothForeign, world: world)
            lower = FaultyStore("lower", world: world)
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "cache-first", "rest": "0s" }"#,
                validators: #"[{ "use": "age", \#(windows) "fresh": "1m" }\#(more)]"#,
                store: #"{ "use": "tiered", "tiers": \#(tiers) }"#, plugins: [upper.plugin, lower.plugin])
            (origin, pantry, feed) = (simulated.origin, simulated.pantry, simulated.feed)
        }

        var key: Key { feed.request().key }

        func text(in store: FaultyStore) -> String? { store.entries[key]?.text }
    }

    private static let limited = #"[{ "use": "upper", "limit": "100ms" }, { "use": "lower", "limit": "200ms" }]"#

    @Test func writeReachesEveryTier() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world)
            #expect(try await cellar.feed.load().isStored)
            #expect(cellar.text(in: cellar.upper) == "value" && cellar.text(in: cellar.lower) == "value")
        }
    }

    @Test func readPromotesOnceAndKeepsTimes() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world)
            let entry = Entry(text: "copy", fetchedAt: world.now - .seconds(10))
            cellar.lower.put(entry, for: cellar.key)
            #expect(try await cellar.feed.load().source == .store("lower"))
            #expect(cellar.upper.entries[cellar.key]?.metadata == entry.metadata)
            #expect(cellar.lower.count(of: .write) == 0)
            let second = try await cellar.feed.load()
            #expect(second.source == .store("upper") && second.age == .seconds(10))
            #expect(cellar.upper.count(of: .write) == 1 && cellar.lower.count(of: .read) == 1)
        }
    }

    @Test func unreadableTierIsSkippedAndCounted() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world)
            cellar.lower.put(Entry(text: "copy", fetchedAt: world.now), for: cellar.key)
            cellar.upper.set(.fails, for: .read)
            let loaded = try await cellar.feed.load()
            #expect(loaded.text == "copy" && loaded.source == .store("lower"))
            #expect(loaded.trail.lines.contains("store: not read: upper: told to fail"))
            #expect(cellar.feed.metrics.storeFaults == ["upper": 1] && cellar.origin.calls.isEmpty)
        }
    }

    @Test func loadSucceedsIfAllTiersFail() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world)
            for store in [cellar.upper, cellar.lower] {
                for operation in [.read, .write, .remove] as [FaultyStore.Operation] {
                    store.set(.fails, for: operation)
                }
            }
            let loaded = try await cellar.feed.load()
            #expect(loaded.text == "value" && loaded.source == .origin && !loaded.isStored)
            // Each tier was read once and written once.
            #expect(cellar.feed.metrics.storeFaults == ["upper": 2, "lower": 2])
            cellar.origin.play(then: .failure(.status(503)))
            let error = await #expect(throws: LoadError.self) { try await cellar.feed.load() }
            #expect(error?.status == 503)
            #expect((error?.store as? StoreError)?.faults.map(\.tier) == ["upper", "lower"])
        }
    }

    @Test func failedTierExpiresItsOlderCopy() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world)
            cellar.origin.play(.value("older"), .value("newer"))
            _ = try await cellar.feed.load()
            cellar.upper.set(.fails, for: .write)
            let loaded = try await cellar.feed.load(mode: .refresh)
            #expect(loaded.text == "newer" && loaded.isStored)
            #expect(cellar.text(in: cellar.upper) == "older" && cellar.text(in: cellar.lower) == "newer")
            #expect(cellar.upper.entries[cellar.key]?.metadata.isExpired == true)
            #expect(cellar.feed.metrics.storeFaults == ["upper": 1])
            cellar.upper.set(nil, for: .write)
            #expect(try await cellar.feed.load().text == "newer")
            #expect(cellar.text(in: cellar.upper) == "newer")
        }
    }

    @Test func freshCopyInLowerTierIsFoundBehindStaleOne() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world)
            cellar.upper.put(Entry(text: "older", fetchedAt: world.now - .seconds(70)), for: cellar.key)
            cellar.lower.put(Entry(text: "newer", fetchedAt: world.now - .seconds(10)), for: cellar.key)
            let loaded = try await cellar.feed.load()
            #expect(loaded.text == "newer" && loaded.source == .store("lower") && loaded.age == .seconds(10))
            #expect(cellar.text(in: cellar.upper) == "newer" && cellar.origin.calls.isEmpty)
        }
    }

    @Test func lowerTierIsReadOnceBehindStaleCopyAndMayFail() throws {
        // An abandoned operation continues in its tier.
        try SimulatedWorld().run(leaving: .anything) { world in
            let cellar = try await Cellar(world, Self.limited, windows: #""onError": "1h","#)
            cellar.upper.put(Entry(text: "older", fetchedAt: world.now - .seconds(70)), for: cellar.key)
            cellar.lower.put(Entry(text: "oldest", fetchedAt: world.now - .seconds(80)), for: cellar.key)
            cellar.origin.play(then: .failure(.status(503)))
            #expect(try await cellar.feed.load().text == "older")
            #expect(cellar.lower.count(of: .read) == 1)
            cellar.lower.set(.hangs, for: .read)
            let start = world.uptime
            let loaded = try await cellar.feed.load()
            #expect(loaded.text == "older" && loaded.freshness == .stale && world.uptime - start == .milliseconds(200))
            #expect(cellar.lower.count(of: .read) == 2 && cellar.feed.metrics.storeFaults == ["lower": 1])
        }
    }

    @Test func damagedCopyInLowerTierIsReplacedByStaleCopyAbove() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world, windows: #""onError": "1h","#, more: #", "checksum""#)
            _ = try await cellar.feed.load()
            let older = try #require(cellar.upper.entries[cellar.key])
            try await world.sleep(for: .seconds(70))
            var newer = older
            newer.metadata.fetchedAt = world.now
            newer.metadata[.checksum] = 1
            cellar.lower.put(newer, for: cellar.key)
            cellar.origin.play(then: .failure(.status(503)))
            let loaded = try await cellar.feed.load()
            #expect(loaded.text == "value" && loaded.freshness == .stale && loaded.source == .store("upper"))
            #expect(cellar.lower.entries[cellar.key]?.metadata == older.metadata)
            #expect(cellar.feed.metrics.corrupt == 1)
        }
    }

    @Test func damagedCopyInUpperTierIsReplacedByCopyBelow() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world, more: #", "checksum""#, areBothForeign: true)
            _ = try await cellar.feed.load()
            let sound = try #require(cellar.lower.entries[cellar.key])
            var damaged = sound
            damaged.metadata[.checksum] = 1
            cellar.upper.put(damaged, for: cellar.key)
            let loaded = try await cellar.feed.load()
            #expect(loaded.text == "value" && loaded.source == .store("lower") && cellar.origin.calls.count == 1)
            #expect(cellar.upper.entries[cellar.key]?.metadata == sound.metadata)
            #expect(cellar.feed.metrics.corrupt == 1)
            #expect(loaded.trail.lines.contains("upper: copy replaced by that of another tier: its checksum differs"))
        }
    }

    @Test func copyIsRemovedIfAllTiersAreDamaged() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world, more: #", "checksum""#, areBothForeign: true)
            _ = try await cellar.feed.load()
            var damaged = try #require(cellar.lower.entries[cellar.key])
            damaged.metadata[.checksum] = 1
            cellar.upper.put(damaged, for: cellar.key)
            cellar.lower.put(damaged, for: cellar.key)
            cellar.origin.play(then: .failure(.status(503)))
            await #expect(throws: LoadError.self) { try await cellar.feed.load() }
            #expect(cellar.upper.entries.isEmpty && cellar.lower.entries.isEmpty)
        }
    }

    @Test func hangingTierIsAbandonedAfterLimit() throws {
        // An abandoned operation continues in its tier.
        try SimulatedWorld().run(leaving: .anything) { world in
            let cellar = try await Cellar(world, Self.limited)
            cellar.lower.put(Entry(text: "copy", fetchedAt: world.now), for: cellar.key)
            cellar.upper.set(.hangs, for: .read)
            let loaded = try await cellar.feed.load()
            #expect(loaded.text == "copy" && world.uptime == .milliseconds(100))
            #expect(loaded.trail.lines.contains("store: not read: upper: no answer within 100 ms"))

            cellar.upper.set(.hangs, for: .write)
            cellar.upper.set(.hangs, for: .remove)
            cellar.lower.set(.hangs, for: .read)
            #expect(try await cellar.feed.load().text == "value")
            #expect(cellar.feed.metrics.storeFaults == ["upper": 3, "lower": 1])
            #expect(cellar.text(in: cellar.lower) == "value")
        }
    }

    @Test func eachTierHasItsOwnLimit() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world, Self.limited)
            cellar.upper.set(.takes(.milliseconds(150)), for: .read)
            cellar.lower.set(.takes(.milliseconds(150)), for: .read)
            cellar.lower.put(Entry(text: "copy", fetchedAt: world.now), for: cellar.key)
            #expect(try await cellar.feed.load().text == "copy")
            #expect(world.uptime == .milliseconds(250))
            #expect(cellar.feed.metrics.storeFaults == ["upper": 1])
        }
    }

    @Test func clearingReachesEveryTierEvenIfOneFails() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world)
            _ = try await cellar.feed.load()
            cellar.upper.set(.fails, for: .remove)
            let error = await #expect(throws: StoreError.self) { try await cellar.feed.clear() }
            #expect(error?.faults.map(\.tier) == ["upper"])
            #expect(cellar.lower.entries.isEmpty)
        }
    }

    @Test func clearedCopyIsNotPromoted() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world)
            cellar.lower.put(Entry(text: "copy", fetchedAt: world.now), for: cellar.key)
            cellar.lower.set(.takes(.seconds(1)), for: .read)
            async let loaded = cellar.feed.load()
            try await world.sleep(for: .milliseconds(500))
            try await cellar.feed.clear()
            cellar.lower.put(Entry(text: "copy", fetchedAt: world.now), for: cellar.key)
            _ = try await loaded
            #expect(cellar.upper.entries.isEmpty)
        }
    }

    @Test func statisticsAreSumOfTiers() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world, #"[{ "use": "memory", "entries": 1 }, "memory"]"#)
            for id in ["a", "b", "a"] { _ = try await cellar.feed.load(["id": id]) }
            let statistics = try await cellar.feed.statistics()
            #expect(statistics.entries == 2 && statistics.hits == 1)
            #expect(statistics.evictions == 2)
        }
    }

    @Test func copyIsServedFromMemoryAndSurvivesOnDisk() async throws {
        let policy = """
            { "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first",
              "validators": ["checksum"], "store": { "use": "tiered", "tiers": ["memory", "file"] } }
            """
        let cache = try TemporaryFolder()
        for source in [Source.origin, .store("file")] {
            let pantry = try await Pantry(policies: ["feed": policy], cache: cache.url)
            let feed = pantry.resource("feed", as: Int.self)
            #expect(try await feed.load().source == source)
            let hit = try await feed.load()
            #expect(hit.source == .store("memory") && hit.value == 1)
        }
    }
}
