public import Larder

/// Whether an origin keeps its promises, whatever parameters and copies its calls name.
///
/// ```swift
/// #expect(OriginConformance(.orchard, ["trees": 3]).brokenPromises() == [])
/// ```
///
/// The origin is to live in the simulated world: with time and chance of the context's world, and without a network. It
/// is not made to fail, but held to account where it does.
public struct OriginConformance: Sendable {
    let plugin: Plugin
    let settings: JSON
    let registry: Registry
    let files: [String: String]

    /// The suite for an origin.
    ///
    /// - Parameters:
    ///   - settings: what stands beside `"use"`.
    ///   - registry: the plugins that the settings may name.
    ///   - files: what lies below the policy's folder, by path: `Seeds/data.json`.
    public init(
        _ plugin: Plugin, _ settings: JSON = [:], registry: Registry = .standard, files: [String: String] = [:]
    ) {
        self.plugin = plugin
        self.settings = settings
        self.registry = registry
        self.files = files
    }

    /// The promises that are not kept, each with the first situation in which that showed.
    public func brokenPromises() -> [BrokenPromise] {
        var findings = Findings()
        for seed in UInt64(1)...3 {
            judgeCalls(seed, &findings)
            if findings.broken.contains(where: { $0.promise == .composes }) { return findings.broken }
        }
        judgeCancellation(&findings)
        return findings.broken
    }

    /// What no message may hold: it stands in every parameter, account and known copy.
    static let secret = "quince"

    /// Parameters and accounts, usual ones and some that are not.
    static var requests: [Request] {
        let texts = [
            secret, "1-" + secret, "../" + secret, secret + "/a?b=c&d#e%", secret + " \u{0}\n\"é", "",
            String(repeating: secret, count: 100),
        ]
        return [Request(Stage.resource)] + texts.map { Request(Stage.resource, ["id": $0]) } + [
            Request(Stage.resource, [secret: "1", "page": "2"]), Request(Stage.resource, scope: secret),
            Request(Stage.resource, ["id": "1"], scope: "a", mode: .refresh, priority: .low),
        ]
    }

    /// The origin itself, taken out of its graph.
    struct Made: Sendable {
        var stage: Stage
        var loader: any Loader
        var traits: Traits

        /// A load, and where it goes.
        func load(_ call: Call) -> Watched<Loaded<Entry>> {
            Watched(in: stage.world) { [loader] in try await loader.load(call) }
        }
    }

    /// Composes the origin and takes it out of its graph.
    func made(_ world: SimulatedWorld) async throws -> Made {
        let made = Locked<(any Loader, Traits)?>(nil)
        let probe = Plugin.origin(
            "conformance-probe", "Shows the origin it is made of.", Setting("of", .part(.origin), help: "The origin")
        ) { context, part in
            let loader = try part.origin(in: context)
            made.withLock { $0 = (loader, part.traits) }
            return loader
        }
        let origin: JSON = ["use": "conformance-probe", "of": .use(plugin.name, settings)]
        let stage = try await Stage(
            world, [.init("origin", origin)], plugins: [probe, plugin], registry: registry, files: files)
        guard let (loader, traits) = made.withLock({ $0 }) else {
            throw LoadError(.failed, "it was not composed")
        }
        return Made(stage: stage, loader: loader, traits: traits)
    }
}
