import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// A store whose writes exceed its limit. No load waits for them, and they must not undo later operations.
@Suite struct StuckWriteTests {
    private static func simulated(_ world: SimulatedWorld) async throws -> SimulatedPantry {
        try await SimulatedPantry(
            world, strategy: #""network-first""#,
            store: #"{ "use": "tiered", "tiers": [{ "use": "faulty", "limit": "1s" }] }"#)
    }

    @Test func abandonedWriteDoesNotUndoClearing() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            let (pantry, store) = (simulated.pantry, simulated.store)
            store.set(.takes(.seconds(10)), for: .write)
            let loaded = try await simulated.feed.load()
            #expect(!loaded.isStored)
            #expect(world.uptime < .seconds(5))
            try await pantry.clear()
            #expect(world.uptime >= .seconds(10))
            try await world.sleep(for: .seconds(60))
            #expect(store.entries.isEmpty)
        }
    }

    @Test func abandonedWriteDoesNotOverwriteNewerEntry() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            let (feed, store) = (simulated.feed, simulated.store)
            simulated.origin.play(.value("old"), .value("new"))
            store.set(.takes(.seconds(10)), for: .write)
            _ = try await feed.load()
            store.set(nil, for: .write)
            _ = try await feed.load()
            try await world.sleep(for: .seconds(60))
            #expect(store.entries.values.map { String(decoding: $0.payload.bytes, as: UTF8.self) } == ["new"])
        }
    }
}
