import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Instances that are cleared or given back while they are put on the list, or while the list is resumed.
///
/// Each test runs in many worlds, in which files take different times and the other task comes at different moments.
@Suite struct KeepingRaceTests {
    private static let policy =
        #"{ "resource": "feed", "origin": "scripted", "strategy": { "use": "cache-first", "rest": "0s" }, "store": "faulty" }"#

    /// An app with a slow disk.
    private struct App {
        let world: SimulatedWorld
        let disk: SlowDiskWorld
        let origin: ScriptedOrigin
        let store: FaultyStore
        let pantry: Pantry

        /// - Parameter data: the folder that has the list.
        init(_ world: SimulatedWorld, data: TemporaryFolder, cache: TemporaryFolder) async throws {
            self.world = world
            disk = SlowDiskWorld(world)
            origin = ScriptedOrigin(world: world)
            store = FaultyStore(world: world)
            // Pins take different times, too.
            store.set(.takes(.milliseconds(20)), for: .pin, chance: 0.5)
            origin.play(then: .value("value", after: .milliseconds(5)))
            pantry = try await Pantry(
                policies: ["feed": policy],
                registry: Registry.standard.replacing(origin.plugin("scripted")).replacing(store.plugin),
                cache: cache.url, data: data.url, environment: [:], world: disk)
        }

        var feed: Resource<Data> { pantry.resource("feed") }

        var kept: Set<Key> { get async throws { Set(try await feed.kept().map(\.request.key)) } }

        /// Lets up to 40 ms pass.
        func pause() async throws { try await world.sleep(for: .milliseconds(40).scaled(by: world.chance())) }
    }

    private static func ids(_ range: ClosedRange<Int>) -> [Parameters] { range.map { ["id": "\($0)"] } }

    private static func inManyWorlds(
        _ test:
            @escaping @Sendable (SimulatedWorld, _ data: TemporaryFolder, _ cache: TemporaryFolder) async throws ->
            Void
    ) throws {
        for seed in 1...100 as ClosedRange<UInt64> {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run {
                try await test($0, TemporaryFolder(), TemporaryFolder())
            }
        }
    }

    /// Returns an app whose list of twenty instances was made by its former process, while there was no network.
    private static func resumed(
        _ world: SimulatedWorld, _ data: TemporaryFolder, _ cache: TemporaryFolder
    ) async throws -> App {
        let first = try await App(world, data: data, cache: cache)
        world.network = .offline
        try await first.feed.keep(ids(1...20))
        await first.pantry.close()
        return try await App(world, data: data, cache: cache)
    }

    @Test func clearingWhileTheListIsResumedIsNotUndone() throws {
        try Self.inManyWorlds { world, data, cache in
            let app = try await Self.resumed(world, data, cache)
            world.network = .online
            try await app.pause()
            try await app.pantry.clear()
            let calls = app.origin.calls.count
            try await world.sleep(for: .seconds(1))
            #expect(try await app.kept.isEmpty)
            #expect(app.store.entries.isEmpty && app.store.pins.isEmpty && app.origin.calls.count == calls)
            await app.pantry.close()
        }
    }

    @Test func instanceThatIsGivenBackWhileTheListIsResumedIsNotFetched() throws {
        try Self.inManyWorlds { world, data, cache in
            let app = try await Self.resumed(world, data, cache)
            try await app.pause()
            try await app.feed.unkeep(Self.ids(11...20))
            world.network = .online
            try await world.sleep(for: .seconds(1))
            let called = app.origin.calls.compactMap { $0.request.parameters["id"] }
            #expect(Set(called) == Set((1...10).map { "\($0)" }))
            await app.pantry.close()
        }
    }

    @Test func clearingWhileInstancesArePutOnTheListLeavesNoneThatIsNotOnIt() throws {
        try Self.inManyWorlds { world, data, cache in
            let app = try await App(world, data: data, cache: cache)
            try await app.feed.keep(Self.ids(0...0)).finished()
            let keeping = world.start { try await app.feed.keep(Self.ids(1...5)).finished() }
            try await app.pause()
            try await app.pantry.clear()
            let progress = try await keeping.value()
            let calls = app.origin.calls.count
            try await world.sleep(for: .seconds(1))
            let kept = try await app.kept
            #expect(kept.isEmpty || kept.count == 5)
            #expect(kept.isEmpty || progress.cancelled == 0)
            #expect(Set(app.store.entries.keys).isSubset(of: kept) && app.store.pins.isSubset(of: kept))
            #expect(app.origin.calls.count == calls)
            await app.pantry.close()
        }
    }

    @Test func instanceThatIsGivenBackWhileItIsPutOnTheListIsNotPinned() throws {
        try Self.inManyWorlds { world, data, cache in
            let app = try await App(world, data: data, cache: cache)
            try await app.feed.keep(Self.ids(0...0)).finished()
            let keeping = world.start { try await app.feed.keep(Self.ids(1...5)).finished() }
            try await app.pause()
            try await app.feed.unkeep(Self.ids(1...5))
            let progress = try await keeping.value()
            try await world.sleep(for: .seconds(1))
            let kept = try await app.kept
            #expect(kept.count == 1 || kept.count == 6)
            #expect(kept.count == 1 || progress.cancelled == 0)
            #expect(app.store.pins == kept)
            await app.pantry.close()
        }
    }

    @Test func instanceThatIsPutOnTheListAgainIsPinned() throws {
        try Self.inManyWorlds { world, data, cache in
            let app = try await App(world, data: data, cache: cache)
            let keeping = world.start { try await app.feed.keep(Self.ids(1...5)).finished() }
            try await app.pause()
            let ending = world.start { try await app.feed.unkeep(Self.ids(1...5)) }
            try await app.pause()
            #expect(try await app.feed.keep(Self.ids(1...5)).finished().total == 5)
            try await ending.value()
            _ = try await keeping.value()
            try await world.sleep(for: .seconds(1))
            #expect(try await app.store.pins == app.kept)
            await app.pantry.close()
        }
    }

    // MARK: Many instances

    @Test func manyInstancesAreTakenOffTheListInOneChange() throws {
        try SimulatedWorld().run { world in
            let app = try await App(world, data: TemporaryFolder(), cache: TemporaryFolder())
            world.network = .offline
            let prefetch = try await app.feed.keep(Self.ids(1...10_000))
            var before = app.disk.blocked
            try await app.feed.unkeep(Self.ids(1...5_000))
            #expect(app.disk.blocked - before <= 3 && app.store.count(of: .pin) <= 5_001)
            before = app.disk.blocked
            try await app.pantry.clear()
            #expect(app.disk.blocked - before <= 10 && prefetch.present.cancelled == 10_000)
            await app.pantry.close()
        }
    }
}
