import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// A store whose writes outlast its limit: nobody waits for them, and nothing may be overtaken by them.
@Suite struct StuckWriteTests {
    private static func pantry(_ world: SimulatedWorld, _ origin: ScriptedOrigin, _ store: FaultyStore) async throws
        -> (Pantry, Folder)
    {
        let folder = try Folder()
        try folder.write(
            """
            { "resource": "feed", "origin": "scripted", "strategy": "network-first",
              "store": { "use": "tiered", "tiers": [{ "use": "faulty", "limit": "1s" }] } }
            """, to: "feed.json")
        var registry = Registry.standard
        try registry.register(origin.plugin("scripted"))
        try registry.register(store.plugin)
        return (try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world), folder)
    }

    @Test func aClearingOutlivesAWriteThatWasGivenUp() throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore(world: world)
            let (pantry, folder) = try await Self.pantry(world, ScriptedOrigin(world: world), store)
            store.set(.takes(.seconds(10)), for: .write)
            let loaded = try await pantry.resource("feed").load()
            #expect(!loaded.isStored)
            #expect(world.uptime < .seconds(5))
            try await pantry.clear()
            #expect(world.uptime >= .seconds(10))
            try await world.sleep(for: .seconds(60))
            #expect(store.entries.isEmpty)
            withExtendedLifetime(folder) {}
        }
    }

    @Test func aWriteThatWasGivenUpNeverOverwritesANewerOne() throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore(world: world)
            let origin = ScriptedOrigin([.value("old"), .value("new")], world: world)
            let (pantry, folder) = try await Self.pantry(world, origin, store)
            let feed = pantry.resource("feed")
            store.set(.takes(.seconds(10)), for: .write)
            _ = try await feed.load()
            store.set(nil, for: .write)
            _ = try await feed.load()
            try await world.sleep(for: .seconds(60))
            #expect(store.entries.values.map { String(decoding: $0.payload.bytes, as: UTF8.self) } == ["new"])
            withExtendedLifetime(folder) {}
        }
    }
}
