import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@_spi(Bench) @testable import LarderPlugins

/// The removal of entries from a memory store by age and memory pressure, and its reports.
@Suite struct MemoryLimitsTests {
    private let ten = Entry(text: "0123456789")

    @Test func expiredEntryIsNotFoundAndFreesSpaceWithoutTimer() throws {
        try SimulatedWorld().run { world in
            let store = MemoryStore(capacity: 1_000_000, maxAge: .seconds(60), eviction: LRU(), world: world)
            func entry() -> Entry { Entry(text: "text", fetchedAt: world.now) }
            for id in 0..<100 { #expect(store.write(entry(), for: .id("\(id)"))) }
            try await world.sleep(for: .seconds(59))
            #expect(store.read(Reading(.id("1"))) != nil && store.peek(.id("2")) { _ in true } != nil)
            try await world.sleep(for: .seconds(1))
            #expect(store.read(Reading(.id("1"))) == nil && store.peek(.id("2")) { _ in true } == nil)
            #expect(store.statistics().entries == 100)
            // Each write examines a few entries. After as many writes as there are entries, all expired ones are gone.
            for _ in 0..<99 { #expect(store.write(entry(), for: .id("new"))) }
            #expect(store.statistics().entries == 1)
            // A validation restarts the age. An entry that is already too old is not kept.
            var old = Entry(text: "text", fetchedAt: world.now - .seconds(60))
            #expect(store.write(old, for: .id("old")) == false && store.read(Reading(.id("old"))) == nil)
            old.metadata.validatedAt = world.now
            #expect(store.write(old, for: .id("old")) && store.read(Reading(.id("old"))) != nil)
        }
    }

    @Test func removalsAreReportedWithReason() throws {
        try SimulatedWorld().run { world in
            let heard = Locked<[String]>([])
            let sinks = EventSinks()
            let listening = sinks.forgotten.add { gone in
                heard.withLock { $0.append("\(gone.key.text) \(gone.tier) \(gone.reason)") }
            }
            let store = MemoryStore(
                capacity: 1_000_000, entries: 2, maxAge: .seconds(60), eviction: LRU(), world: world,
                context: StoreContext(resource: "a", world: world, cacheDirectory: "", sinks: sinks))
            func write(_ id: String) -> Bool {
                store.write(Entry(text: id, fetchedAt: world.now), for: Key(resource: id))
            }
            for id in ["a", "b", "b", "c"] { #expect(write(id)) }
            store.remove(.key(Key(resource: "b")))
            try await world.sleep(for: .seconds(60))
            for _ in 0..<10 { #expect(write("d")) }
            store.relieve()
            #expect(heard.withLock { $0 } == ["a memory capacity", "c memory age", "d memory pressure"])
            listening.stop()
            #expect(store.statistics().entries == 0)
        }
    }

    @Test func relieveRemovesCopiesInMemoryOnly() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: #"[{ "use": "age", "fresh": "1h" }]"#,
                store: #"{ "use": "tiered", "tiers": ["memory", "file"] }"#)
            let forgotten = simulated.pantry.forgotten
            let request = simulated.feed.request()
            #expect(simulated.feed.answer(request) == nil)
            let loaded = try await simulated.feed.load(request)
            #expect(simulated.feed.answer(request)?.value == loaded.value)
            #expect(simulated.feed.metrics.loads == 2)
            simulated.pantry.relieve()
            #expect(simulated.feed.answer(request) == nil)
            let again = try await simulated.feed.load(request)
            #expect(again.source == .store("file") && simulated.origin.calls.count == 1)
            #expect(simulated.feed.answer(request)?.source == .store("memory"))
            for await gone in forgotten {
                #expect(gone.key == request.key && gone.tier == "memory" && gone.reason == .pressure)
                break
            }
        }
    }

    @Test func requestThatCannotBeAnsweredAtOnceGetsNil() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#, store: #""memory""#)
            let request = simulated.feed.request()
            _ = try await simulated.feed.load(request)
            // The strategy asks the origin; the resource is another; there is no such resource.
            #expect(simulated.feed.answer(request) == nil)
            #expect(simulated.feed.answer(Request("other")) == nil)
            #expect(simulated.pantry.resource("none").answer(Request("none")) == nil)
            #expect(simulated.feed.metrics.loads == 1)
        }
    }

    /// Evictions in simulated time are the same in every process, so they must not depend on the process's own hashes.
    @Test func simulatedEvictionHashesDependOnSeedOnly() {
        final class Seen: Sendable {
            let hashes = Locked<[Int]>([])
        }
        struct Noting: Eviction {
            let seen: Seen
            mutating func inserted(_ place: Int, hash: Int, weight: Int) { seen.hashes.withLock { $0.append(hash) } }
            mutating func used(_ place: Int) {}
            mutating func removed(_ place: Int) {}
            mutating func evict() -> Int? { nil }
        }
        func hash(_ key: Key, in world: any World) -> Int? {
            let seen = Seen()
            _ = MemoryStore(capacity: 1_000, eviction: Noting(seen: seen), world: world).write(ten, for: key)
            return seen.hashes.withLock { $0.first }
        }
        let key = Key(resource: "feed", parameters: ["id": "1"])
        #expect(hash(key, in: SimulatedWorld(seed: 1)) == -9_132_887_096_790_856_451)
        #expect(hash(key, in: SimulatedWorld(seed: 2)) != hash(key, in: SimulatedWorld(seed: 1)))
        #expect(hash(key, in: SystemWorld()) == key.hash)
    }

    /// Two entries of which each fits, and not both: whoever asks for one again and again finds it.
    @Test(arguments: ["lru", "s3-fifo", "w-tinylfu", "adaptive"])
    func usedEntriesThatFitAreKept(eviction name: String) throws {
        for (others, weight) in [([40], 70), (Array(repeating: 1, count: 100), 98)] {
            let eviction: any Eviction =
                switch name {
                case "lru": LRU()
                case "s3-fifo": S3FIFO(small: 0.1)
                case "w-tinylfu": WTinyLFU()
                default: Adaptive()
                }
            let table = ShardedTable<Int, Int>(bytes: 100, eviction: eviction)
            for (id, other) in others.enumerated() {
                _ = table.insert(other, as: id, hash: id.hashValue, weight: other)
            }
            var asked = 0
            while asked < 8, table.find(-1, hash: (-1).hashValue) == nil {
                _ = table.insert(weight, as: -1, hash: (-1).hashValue, weight: weight)
                asked += 1
            }
            #expect(table.find(-1, hash: (-1).hashValue) != nil, "asked \(asked) times")
            #expect(table.statistics.bytes <= 100)
        }
    }

    @Test func clearedTableFreesMemoryAndCanBeRefilled() {
        let table = ShardedTable<Int, Int>(bytes: 10_000, eviction: Adaptive())
        for round in 0..<3 {
            for id in 0..<1_000 { _ = table.insert(round, as: id, hash: id.hashValue, weight: 1) }
            #expect((0..<1_000).allSatisfy { table.find($0, hash: $0.hashValue) == round })
            #expect(table.removeAll { _, _ in true }.count == 1_000)
            #expect((0..<1 << table.bits).allSatisfy { table.shards[$0].content.mask == 3 })
        }
    }

    @Test func impossibleCostDoesNotTrap() throws {
        struct Endless: Codec {
            func decode(_ bytes: Data) -> Int { 1 }
            func cost(of value: Int) -> Int { .max }
        }
        let entry = Entry(text: "1")
        for id in 1...3 { try entry.payload.decode(with: AnyCodec(Endless(), id: id)) }
        let store = MemoryStore(capacity: 1_000, eviction: LRU(), world: SimulatedWorld())
        #expect(store.write(entry, for: .id("a")) == false)
    }

    @Test func longKeyAddsToWeight() {
        let store = MemoryStore(capacity: 10_000, eviction: LRU(), world: SimulatedWorld())
        #expect(store.write(Entry(text: "1"), for: .id("short")) && store.statistics().bytes == 1 + 420)
        #expect(store.write(Entry(text: "1"), for: .id(String(repeating: "x", count: 1_000))))
        #expect(store.statistics().bytes > 1_000)
    }

    @Test func costOfCodecAddsToWeight() throws {
        struct Picture: Codec {
            func decode(_ bytes: Data) -> Int { bytes.count }
            func cost(of value: Int) -> Int { 100 * value }
        }
        let entry = Entry(text: "0123456789")
        #expect(entry.weight == 10 + 420)
        try entry.payload.decode(with: AnyCodec(Picture(), id: 1))
        #expect(entry.weight == 1_010 + 420)
        try entry.payload.decode(with: AnyCodec(RawCodec(), id: 2))
        #expect(entry.weight == 1_010 + 420)
    }

    @Test func valueOfOtherTypeIsError() throws {
        let payload = Entry(text: "12").payload
        #expect(try payload.value(by: AnyCodec(JSONCodec<Int>(), id: 1), as: Int.self) == 12)
        // Two codecs with one number: the value of the first one is kept.
        #expect(throws: LoadError.self) {
            try payload.value(by: AnyCodec(JSONCodec<String>(), id: 1), as: String.self)
        }
        #expect(throws: LoadError.self) { try payload.value(by: .raw, as: Int.self) }
        #expect(try payload.value(by: .raw, as: Data.self) == Data("12".utf8))
    }
}
