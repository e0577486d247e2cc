import FoundationEssentials
import LarderSimulation
import Testing

@testable import Larder

/// What a memory store lets go by itself: what is too old, what it is told to, and who hears of it.
@Suite struct MemoryLimitsTests {
    private let ten = Entry(text: "0123456789")

    @Test func whatIsTooOldIsNotFoundAndItsRoomIsGivenBackWithoutATimer() throws {
        try SimulatedWorld().run { world in
            let store = MemoryStore(capacity: 1_000_000, maxAge: .seconds(60), eviction: LRU(), world: world)
            func entry() -> Entry { Entry(text: "text", fetchedAt: world.now) }
            for id in 0..<100 { #expect(store.write(entry(), for: .id("\(id)"))) }
            try await world.sleep(for: .seconds(59))
            #expect(store.read(.id("1")) != nil && store.peek(.id("2")) { _ in true } != nil)
            try await world.sleep(for: .seconds(1))
            #expect(store.read(.id("1")) == nil && store.peek(.id("2")) { _ in true } == nil)
            #expect(store.statistics().entries == 100)
            // Each writing looks at some: before there were as many as there are entries, all that was too old is gone.
            for _ in 0..<99 { #expect(store.write(entry(), for: .id("new"))) }
            #expect(store.statistics().entries == 1)
            // What is validated again begins again, and what is too old already is not kept.
            var old = Entry(text: "text", fetchedAt: world.now - .seconds(60))
            #expect(store.write(old, for: .id("old")) == false && store.read(.id("old")) == nil)
            old.metadata.validatedAt = world.now
            #expect(store.write(old, for: .id("old")) && store.read(.id("old")) != nil)
        }
    }

    @Test func whoWantsToHearOfWhatIsForgottenHearsWhyAndOfNothingElse() throws {
        try SimulatedWorld().run { world in
            let heard = Locked<[String]>([])
            let listeners = Listeners<Forgotten>()
            _ = listeners.add { gone in
                heard.withLock { $0.append("\(gone.key.text) \(gone.tier) \(gone.reason)") }
            }
            let store = MemoryStore(
                capacity: 1_000_000, entries: 2, maxAge: .seconds(60), eviction: LRU(), world: world,
                forgotten: listeners)
            func write(_ id: String) -> Bool {
                store.write(Entry(text: id, fetchedAt: world.now), for: Key(resource: id))
            }
            for id in ["a", "b", "b", "c"] { #expect(write(id)) }
            store.remove(.key(Key(resource: "b")))
            try await world.sleep(for: .seconds(60))
            for _ in 0..<10 { #expect(write("d")) }
            store.relieve()
            #expect(heard.withLock { $0 } == ["a memory capacity", "c memory age", "d memory pressure"])
            #expect(store.statistics().entries == 0)
        }
    }

    @Test func aPantryGivesBackWhatIsKeptInMemoryOnly() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #""cache-first""#, validators: #"[{ "use": "age", "fresh": "1h" }]"#,
                store: #"{ "use": "tiered", "tiers": ["memory", "file"] }"#)
            let forgotten = kitchen.pantry.forgotten
            let request = kitchen.feed.request()
            #expect(kitchen.feed.answer(request) == nil)
            let loaded = try await kitchen.feed.load(request)
            #expect(kitchen.feed.answer(request)?.value == loaded.value)
            #expect(kitchen.feed.metrics.loads == 2)
            kitchen.pantry.relieve()
            #expect(kitchen.feed.answer(request) == nil)
            let again = try await kitchen.feed.load(request)
            #expect(again.source == .store("file") && kitchen.origin.calls.count == 1)
            #expect(kitchen.feed.answer(request)?.source == .store("memory"))
            for await gone in forgotten {
                #expect(gone.key == request.key && gone.tier == "memory" && gone.reason == .pressure)
                break
            }
        }
    }

    @Test func whatCannotBeAnsweredAtOnceIsNil() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#, store: #""memory""#)
            let request = kitchen.feed.request()
            _ = try await kitchen.feed.load(request)
            // The strategy asks the origin; the resource is another; there is no such resource.
            #expect(kitchen.feed.answer(request) == nil)
            #expect(kitchen.feed.answer(Request("other")) == nil)
            #expect(kitchen.pantry.resource("none").answer(Request("none")) == nil)
            #expect(kitchen.feed.metrics.loads == 1)
        }
    }

    /// What is forgotten in simulated time comes out alike in every process, so it hangs on none of the process's hashes.
    @Test func anEvictionInSimulatedTimeKnowsKeysByTheWorldsSeed() {
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
    func whatFitsAndIsAskedForAgainIsKept(eviction name: String) throws {
        for (others, weight) in [([40], 70), (Array(repeating: 1, count: 100), 98)] {
            let eviction: any Eviction =
                switch name {
                case "lru": LRU()
                case "s3-fifo": S3FIFO(small: 0.1)
                case "w-tinylfu": WTinyLFU()
                default: Adaptive()
                }
            let catalog = Catalog<Int, Int>(bytes: 100, eviction: eviction)
            for (id, other) in others.enumerated() {
                _ = catalog.insert(other, as: id, hash: id.hashValue, weight: other)
            }
            var asked = 0
            while asked < 8, catalog.find(-1, hash: (-1).hashValue) == nil {
                _ = catalog.insert(weight, as: -1, hash: (-1).hashValue, weight: weight)
                asked += 1
            }
            #expect(catalog.find(-1, hash: (-1).hashValue) != nil, "asked \(asked) times")
            #expect(catalog.statistics.bytes <= 100)
        }
    }

    @Test func whatWasClearedGivesItsMemoryBackAndCanBeFilledAgain() {
        let catalog = Catalog<Int, Int>(bytes: 10_000, eviction: Adaptive())
        for round in 0..<3 {
            for id in 0..<1_000 { _ = catalog.insert(round, as: id, hash: id.hashValue, weight: 1) }
            #expect((0..<1_000).allSatisfy { catalog.find($0, hash: $0.hashValue) == round })
            #expect(catalog.removeAll { _, _ in true }.count == 1_000)
            #expect((0..<1 << catalog.bits).allSatisfy { catalog.shards[$0].mask == 3 })
        }
    }

    @Test func aCostThatCannotBeIsNoTrap() throws {
        struct Endless: Codec {
            func decode(_ bytes: Data) -> Int { 1 }
            func cost(of value: Int) -> Int { .max }
        }
        let entry = Entry(text: "1")
        for id in 1...3 { try entry.payload.decode(with: AnyCodec(Endless(), id: id)) }
        let store = MemoryStore(capacity: 1_000, eviction: LRU(), world: SimulatedWorld())
        #expect(store.write(entry, for: .id("a")) == false)
    }

    @Test func aLongKeyIsWeighed() {
        let store = MemoryStore(capacity: 10_000, eviction: LRU(), world: SimulatedWorld())
        #expect(store.write(Entry(text: "1"), for: .id("short")) && store.statistics().bytes == 1 + 128)
        #expect(store.write(Entry(text: "1"), for: .id(String(repeating: "x", count: 1_000))))
        #expect(store.statistics().bytes > 1_000)
    }

    @Test func whatACodecSaysItsValuesCostIsWeighed() throws {
        struct Picture: Codec {
            func decode(_ bytes: Data) -> Int { bytes.count }
            func cost(of value: Int) -> Int { 100 * value }
        }
        let entry = Entry(text: "0123456789")
        #expect(entry.weight == 10 + 128)
        try entry.payload.decode(with: AnyCodec(Picture(), id: 1))
        #expect(entry.weight == 1_010 + 128)
        try entry.payload.decode(with: AnyCodec(RawCodec(), id: 2))
        #expect(entry.weight == 1_010 + 128)
    }

    @Test func aValueOfAnotherTypeIsAnErrorAndNotMisread() throws {
        let payload = Entry(text: "12").payload
        #expect(try payload.value(by: AnyCodec(JSONCodec<Int>(), id: 1), as: Int.self) == 12)
        // Two codecs under one number: what was decoded first is there.
        #expect(throws: LoadError.self) {
            try payload.value(by: AnyCodec(JSONCodec<String>(), id: 1), as: String.self)
        }
        #expect(throws: LoadError.self) { try payload.value(by: .raw, as: Int.self) }
        #expect(try payload.value(by: .raw, as: Data.self) == Data("12".utf8))
    }
}
