import LarderFoundation
import Larder
import LarderSimulation

/// A pantry with a resource `feed`, whose origin answers `large`. Policies can name another one, `small`.
struct DataSaverScene {
    let simulated: SimulatedPantry
    let small: ScriptedOrigin
    var pantry: Pantry { simulated.pantry }
    var feed: Resource<Data> { simulated.pantry.resource("feed") }
    var large: ScriptedOrigin { simulated.origin }

    init(
        _ world: SimulatedWorld, _ expensive: String, strategy: String = #""cache-first""#,
        store: String = #""memory""#, fallbacks: String = "[]", cache: TemporaryFolder? = nil
    ) async throws {
        small = ScriptedOrigin(then: .value("small", etag: "s"), world: world)
        let text = """
            { "resource": "feed", "origin": "scripted", "strategy": \(strategy),
              "validators": [{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }],
              "store": \(store), "fallbacks": \(fallbacks), \(expensive) }
            """
        simulated = try await SimulatedPantry(
            ["feed": text], in: world, plugins: [small.plugin("small")], cache: cache)
        simulated.origin.play(then: .value("large", etag: "l"))
    }

    /// The calls of the policy's origin, and of `small`.
    var calls: [Int] { [large.calls.count, small.calls.count] }

    /// Runs a test of one pantry on Wi-Fi, and closes it.
    static func run(
        _ expensive: String, strategy: String = #""cache-first""#, fallbacks: String = "[]",
        _ body: @escaping @Sendable (SimulatedWorld, DataSaverScene) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            world.network = DataSaverTests.wifi
            let scene = try await DataSaverScene(world, expensive, strategy: strategy, fallbacks: fallbacks)
            try await body(world, scene)
            await scene.pantry.close()
        }
    }
}
