import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Copies that are out of date when a slow read ends.
@Suite struct SlowStoreTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#

    @Test(arguments: [5, 15, 25, 35, 45])
    func unchangedAnswerDoesNotRestoreClearedCopy(_ moment: Int) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.windows, store: #""slow""#,
                plugins: [SlowStore("slow", world).plugin])
            simulated.origin.play(.value("old", etag: "e1"))
            _ = try await simulated.feed.load()
            world.stepClock(by: .seconds(7_200))
            simulated.origin.play(then: .unchanged(after: .milliseconds(20)))
            let start = world.uptime
            let clear = world.start {
                try await world.sleep(for: .milliseconds(20))
                try await simulated.feed.clear()
            }
            try await world.sleep(for: .milliseconds(moment))
            let load = simulated.start()
            _ = try await clear.value()
            #expect(clear.endedAt == start + .milliseconds(40))
            _ = await load.result()
            #expect(try await !simulated.feed.contains())
        }
    }

    @Test func copyReadBeforeClearingIsNotPromoted() throws {
        try SimulatedWorld().run { world in
            let lower = SlowStore("lower", world)
            let upper = FaultyStore("upper", world: world)
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-only""#, store: #"{ "use": "tiered", "tiers": ["upper", "lower"] }"#,
                plugins: [lower.plugin, upper.plugin])
            lower.put(Entry(Data("old".utf8), Metadata(fetchedAt: world.now)), for: Key(resource: "feed"))
            let load = simulated.start()
            try await world.sleep(for: .milliseconds(5))
            try await simulated.pantry.clear()
            _ = await load.result()
            #expect(upper.entries.isEmpty && lower.texts.isEmpty)
        }
    }

    @Test func olderCopyIsNotPromotedOverNewerOne() throws {
        try SimulatedWorld().run { world in
            let lower = SlowStore("lower", world)
            let upper = FaultyStore("upper", world: world)
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, store: #"{ "use": "tiered", "tiers": ["upper", "lower"] }"#,
                plugins: [lower.plugin, upper.plugin])
            lower.put(Entry(Data("old".utf8), Metadata(fetchedAt: world.now)), for: simulated.key())
            simulated.origin.play(.value("7"))
            let reading = simulated.start()
            try await Self.save(simulated, while: lower)
            #expect(try await reading.value().text == "old")
            #expect(upper.entries.values.map { String(decoding: $0.payload.bytes, as: UTF8.self) } == ["7"])
            #expect(lower.texts == ["7"])
        }
    }

    @Test func replacedDamagedCopyIsNotRemoved() throws {
        try SimulatedWorld().run { world in
            let store = SlowStore("slow", world)
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: #"["checksum"]"#, store: #""slow""#,
                plugins: [store.plugin])
            store.put(Entry(Data("damaged".utf8), Metadata(fetchedAt: world.now)), for: simulated.key())
            simulated.origin.play(.value("7"), .failure(.status(503)))
            let reading = simulated.start()
            try await Self.save(simulated, while: store)
            #expect(try await reading.value().text == "7")
            #expect(store.texts == ["7"])
        }
    }

    /// Saves what the origin sends, in a flight of its own, while somebody's read of the store is under way.
    private static func save(_ simulated: SimulatedPantry, while store: SlowStore) async throws {
        try await simulated.world.sleep(for: .milliseconds(5))
        store.delay.withLock { $0 = .zero }
        let numbers = simulated.pantry.resource("feed", as: Int.self)
        #expect(try await numbers.load(mode: .refresh).isStored)
        #expect(simulated.world.uptime < .milliseconds(10))
    }
}

/// A store that reads its entry at once but returns it later. A removal takes twice as long.
struct SlowStore: Store {
    let name: String
    let world: SimulatedWorld
    let entries = Locked<[Key: Entry]>([:])
    let delay = Locked(Duration.milliseconds(10))

    init(_ name: String = "slow", _ world: SimulatedWorld) {
        self.name = name
        self.world = world
    }

    var plugin: Plugin { .store(name, "Finds at once, answers late.") { _ in self } }
    var texts: [String] { entries.withLock { $0.values.map { String(decoding: $0.payload.bytes, as: UTF8.self) } } }

    func put(_ entry: Entry, for key: Key) { entries.withLock { $0[key] = entry } }

    func read(_ reading: Reading) async throws -> Found? {
        let entry = entries.withLock { $0[reading.key] }
        try await world.sleep(for: delay.withLock { $0 })
        return entry.map { Found($0, tier: name, isForeign: true) }
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        entries.withLock { $0[key] = entry }
        return true
    }

    func remove(_ selection: Selection) async throws {
        try await world.sleep(for: delay.withLock { $0 * 2 })
        entries.withLock { $0 = $0.filter { !selection.contains($0.key, $0.value) } }
    }

    func statistics() async -> StoreStatistics { StoreStatistics() }
}
