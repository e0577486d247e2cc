import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Swaps of policies that are in use.
@Suite struct LiveSwapTests {
    /// A policy with its edition in two places that must agree.
    private static func policy(_ edition: Int, strategy: String = "network-only") -> String {
        """
        { "resource": "feed", "about": "edition \(edition)", "strategy": "\(strategy)",
          "origin": { "use": "constant", "value": \(edition) }, "around": [{ "use": "timeout", "after": "\(edition + 1)s" }],
          "validators": [{ "use": "entry-version", "version": \(edition) }], "store": { "use": "plain" } }
        """
    }

    private static func registry() throws -> Registry {
        var registry = Registry.standard
        try registry.register(
            .store("plain", "Keeps entries.") { _ in FaultyStore(world: SystemWorld()) })
        return registry
    }

    @Test func thousandSwapsFailNoLoadAndMixNoRevisions() async throws {
        let pantry = try await Pantry(
            policies: ["feed": Self.policy(0)], registry: try Self.registry(), cache: TemporaryFolder().url)
        let editions = Locked<[String: Int]>([pantry.policy(of: "feed")?.revision ?? "": 0])
        let isOver = Locked(false)
        let feed = pantry.resource("feed", as: Int.self)
        var refused = 0
        let loads = try await withThrowingTaskGroup(of: (Int, [(String, Int)]).self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var seen: [String: Int] = [:]
                    var count = 0
                    while !isOver.withLock({ $0 }) {
                        let loaded = try await feed.load()
                        let revision = loaded.trail.revision ?? ""
                        // Each revision has one value. A second one would be a mixture.
                        if let other = seen[revision], other != loaded.value { return (count, [("mixed", -1)]) }
                        seen[revision] = loaded.value
                        count += 1
                    }
                    return (count, seen.map { ($0.key, $0.value) })
                }
            }
            for edition in 1...1_000 {
                let isBroken = edition % 3 == 0
                do {
                    try await pantry.replace(policies: ["feed": isBroken ? "{ \"resource\": " : Self.policy(edition)])
                    let revision = pantry.policy(of: "feed")?.revision ?? ""
                    editions.withLock { $0[revision] = edition }
                } catch is PolicyError {
                    refused += 1
                }
            }
            isOver.withLock { $0 = true }
            return try await group.reduce(into: [(Int, [(String, Int)])]()) { $0.append($1) }
        }
        #expect(refused == 333)
        let known = editions.withLock { $0 }
        for (_, seen) in loads {
            for (revision, value) in seen { #expect(known[revision] == value) }
        }
        #expect(loads.allSatisfy { $0.0 > 0 })
        #expect(feed.metrics.failures == 0)
    }

    @Test func unchangedStoreIsKeptAndReplacedStoreEndsWithLastReader() throws {
        try SimulatedWorld().run { world in
            let alive = Locked(0)
            let told = Plugin.store(
                "told", "Tells when it goes.", Setting("size", .int(0...9), default: 0, help: "Any number")
            ) { _, _ in
                ToldStore(world: world, alive: alive)
            }
            func policy(_ size: Int, _ about: String) -> [String: String] {
                [
                    "feed": """
                    { "resource": "feed", "about": "\(about)", "origin": "scripted", "strategy": "cache-first",
                      "store": { "use": "told", "size": \(size) } }
                    """
                ]
            }
            let simulated = try await SimulatedPantry(policy(1, "a"), in: world, plugins: [told])
            let (pantry, feed) = (simulated.pantry, simulated.feed)
            simulated.origin.play(then: .value("old", after: .seconds(5)))
            #expect(try await feed.load().source == .origin)
            #expect(try await pantry.replace(policies: policy(1, "b")).count == 1)
            #expect(try await feed.load().source == .store("faulty"))
            // A load that is under way holds its store until it ends.
            simulated.origin.play(.value("late", after: .seconds(5)))
            world.spawn { _ = try? await feed.load(["page": "2"]) }
            try await world.sleep(for: .seconds(1))
            try await pantry.replace(policies: policy(2, "b"))
            #expect(alive.withLock { $0 } == 2)
            try await world.sleep(for: .seconds(10))
            #expect(alive.withLock { $0 } == 1)
            #expect(try await !feed.contains())
        }
    }

    @Test func reloadingWithoutAChangeChangesNothing() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            #expect(try await simulated.pantry.reload().isEmpty)
        }
    }

    @Test func runningCallsAreJoinedAfterSwapThatKeepsLiveSide() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: #"[{ "use": "age", "fresh": "5m" }]"#,
                store: #""memory""#)
            let (feed, origin) = (simulated.feed, simulated.origin)
            origin.play(then: .value("one", after: .seconds(5)))
            func loadSoon() async throws -> Task<Void, Never> {
                let task = world.spawn { _ = try? await feed.load() }
                try await world.sleep(for: .seconds(1))
                return task
            }
            _ = try await loadSoon()
            try await simulated.edit("cache-first", "network-first")
            _ = try await loadSoon()
            #expect(origin.calls.count == 1)
            // Another validator makes another live side: its answers would be judged by other rules.
            try await simulated.edit("5m", "6m")
            await (try await loadSoon()).value
            #expect(origin.calls.count == 2)
        }
    }

    @Test func clearingReachesCallsOfFormerPolicy() throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore(world: world)
            let plugin = Plugin.store(
                "faulty", "Fails.", Setting("size", .int(0...9), default: 0, help: "Any number")
            ) { _, _ in
                store
            }
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, store: #"{ "use": "faulty", "size": 1 }"#, plugins: [plugin])
            let (pantry, feed) = (simulated.pantry, simulated.feed)
            simulated.origin.play(then: .value("one", after: .seconds(5)))
            let task = world.spawn { _ = try? await feed.load(scope: "alice") }
            try await world.sleep(for: .seconds(1))
            try await simulated.edit(#""size": 1"#, #""size": 2"#)
            try await pantry.clear(.scope("alice"))
            await task.value
            #expect(store.entries.isEmpty)
        }
    }

    @Test func resourcesAreAddedAndRemovedWhileRunning() throws {
        try SimulatedWorld().run { world in
            let folder = try Folder()
            func policy(_ name: String) -> String {
                """
                { "resource": "\(name)", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only" }
                """
            }
            try folder.write(policy("feed"), to: "feed.json")
            let pantry = try await Pantry(policies: folder.url, cache: folder.url, world: world)
            let prices = pantry.resource("prices")
            let before = await #expect(throws: LoadError.self) { try await prices.load() }
            #expect(before?.code == .noSuchResource && before?.message == "no such resource; there are: feed")
            try folder.write(policy("prices"), to: "prices.json")
            let watch = pantry.watch()
            let events = Locked<[PantryEvent]>([])
            let stream = pantry.events
            world.spawn { for await event in stream { events.withLock { $0.append(event) } } }
            try await pantry.reload()
            #expect(try await prices.load().text == "1")
            // From here on only the watch reloads.
            try FileManager.default.removeItem(at: folder.url.appending(path: "prices.json"))
            try await world.sleep(for: .seconds(3))
            #expect(pantry.resources == ["feed"])
            try folder.write("{", to: "prices.json")
            try await world.sleep(for: .seconds(3))
            #expect(pantry.resources == ["feed"])
            watch.stop()
            try folder.write(policy("prices"), to: "prices.json")
            try await world.sleep(for: .seconds(3))
            #expect(pantry.resources == ["feed"])
            let texts = events.withLock { $0 }.map { event in
                switch event {
                case .reloaded(let changes):
                    changes.map { "\($0.resource) \($0.from == nil ? "new" : "") \($0.to == nil ? "gone" : "")" }
                        .joined()
                case .rejected(let error): "\(error.problems.count) problem"
                case .cacheUnusable, .cacheUsable, .interrupted, .offline, .online: "cache"
                }
            }
            #expect(texts == ["prices new ", "prices  gone", "1 problem"])
        }
    }

    @Test func systemReportsChangedFiles() async throws {
        let folder = try Folder()
        let changes = SystemWorld().changes(in: folder.url.path)
        var listener = changes.makeAsyncIterator()
        try folder.write("{}", to: "a.json")
        // Returns as soon as the system reports it. A watch that misses it would hang until the test's time limit.
        #expect(await listener.next() == .files(["a.json"]))
    }
}

/// A store that reports when it is deallocated.
private final class ToldStore: Store {
    private let store: FaultyStore
    private let alive: Locked<Int>

    init(world: any World, alive: Locked<Int>) {
        store = FaultyStore(world: world)
        self.alive = alive
        alive.withLock { $0 += 1 }
    }

    deinit { alive.withLock { $0 -= 1 } }

    func read(_ reading: Reading) async throws -> Found? { try await store.read(reading) }
    func write(_ entry: Entry, for key: Key) async throws -> Bool { try await store.write(entry, for: key) }
    func remove(_ selection: Selection) async throws { try await store.remove(selection) }
    func statistics() async -> StoreStatistics { await store.statistics() }
}
