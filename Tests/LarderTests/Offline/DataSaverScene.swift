import LarderFoundation
import Larder
import LarderSimulation

/// A pantry with a resource `feed`, whose origin answers `large` and whose alternative, if it has one, `small`.
struct DataSaverScene {
    let simulated: SimulatedPantry
    let small: ScriptedOrigin
    var pantry: Pantry { simulated.pantry }
    var feed: Resource<Data> { simulated.pantry.resource("feed") }
    var large: ScriptedOrigin { simulated.origin }

    init(
        _ world: SimulatedWorld, _ expensive: String, strategy: String = #""cache-first""#,
        store: String = #""memory""#, around: String = "[]", fallbacks: String = "[]", plugins: [Plugin] = [],
        cache: TemporaryFolder? = nil
    ) async throws {
        small = ScriptedOrigin(then: .value("small", etag: "s"), world: world)
        let text = """
            { "resource": "feed", "origin": "scripted", "around": \(around), "strategy": \(strategy),
              "validators": [{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }],
              "store": \(store), "fallbacks": \(fallbacks), \(expensive) }
            """
        simulated = try await SimulatedPantry(
            ["feed": text], in: world, plugins: [small.plugin("small")] + plugins, cache: cache)
        simulated.origin.play(then: .value("large", etag: "l"))
    }

    /// The calls of the policy's own origin, and of the alternative.
    var calls: [Int] { [large.calls.count, small.calls.count] }

    static let twoOrigins = #""expensive": { "origin": "small" }"#

    /// Runs a test of one pantry on Wi-Fi, and closes it.
    static func run(
        _ expensive: String = twoOrigins, strategy: String = #""cache-first""#, store: String = #""memory""#,
        around: String = "[]", fallbacks: String = "[]",
        _ body: @escaping @Sendable (SimulatedWorld, DataSaverScene) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            world.network = DataSaverTests.wifi
            let scene = try await DataSaverScene(
                world, expensive, strategy: strategy, store: store, around: around, fallbacks: fallbacks)
            try await body(world, scene)
            await scene.pantry.close()
        }
    }
}
