import Larder
import LarderSimulation
import Testing

/// Loads of a process that the system suspends while they wait, or of a device that sleeps meanwhile. On Apple's systems
/// the monotonic clock goes on, on Linux it stands still in sleep.
@Suite struct SuspendedProcessTests {
    private static let policy = """
        { "resource": "feed", "origin": "scripted", "around": [{ "use": "timeout", "after": "8s" }],
          "strategy": "network-first", "store": "faulty",
          "validators": [{ "use": "age", "fresh": "0s", "onError": "7d" }] }
        """

    @Test(arguments: [true, false]) func loadThatIsSuspendedForAnHourEndsWithTheCopy(stopsClock: Bool) throws {
        try SimulatedWorld().run { base in
            let world = SleepyWorld(base, stopsClock: stopsClock)
            let origin = ScriptedOrigin([.value("old")], then: .hang, world: base)
            let registry = try Registry.standard.replacing(origin.plugin("scripted")).replacing(
                FaultyStore(isForeign: true, world: base).plugin)
            let cache = try TemporaryFolder()
            let pantry = try await Pantry(
                policies: ["feed": Self.policy], registry: registry, cache: cache.url, data: cache.url, world: world)
            let feed = pantry.resource("feed")
            _ = try await feed.load()

            let load = base.start { try await feed.load() }
            try await base.sleep(for: .seconds(1))
            try await world.doze(for: .seconds(3_600))
            let woken = base.uptime
            let loaded = try await load.value()
            #expect(loaded.text == "old" && loaded.freshness == .stale && loaded.fellBack)
            // The timeout rings at once if its time has passed, and else when the rest of it has.
            #expect(base.uptime - woken == (stopsClock ? .seconds(7) : .zero))

            origin.play(.value("new"))
            #expect(try await feed.load(mode: .refresh).text == "new")
            await pantry.close()
        }
    }
}
