public import Larder

/// A suite that checks whether an origin keeps its promises, with usual and unusual parameters and copies.
///
/// ```swift
/// #expect(OriginConformance(.orchard, ["trees": 3]).brokenPromises() == [])
/// ```
///
/// The origin must use the time and the random numbers of the context's world, and no network. The suite does not make
/// the origin fail, but checks its failures.
public struct OriginConformance: Sendable {
    let tested: TestedPlugin

    /// Creates the suite for an origin.
    ///
    /// - Parameters:
    ///   - plugin: the origin to test.
    ///   - settings: its settings, without `"use"`.
    ///   - registry: the plugins that the settings may name.
    ///   - files: the text of each file below the policy's folder under its path, such as `Seeds/data.json`.
    public init(
        _ plugin: Plugin, _ settings: JSON = [:], registry: Registry = .standard, files: [String: String] = [:]
    ) {
        tested = TestedPlugin(plugin: plugin, settings: settings, registry: registry, files: files)
    }

    /// Runs the suite and returns the promises that are not kept, each with the first situation in which it was broken.
    public func brokenPromises() -> [BrokenPromise] {
        var findings = BrokenPromises()
        for seed in UInt64(1)...3 {
            checkCalls(seed, &findings)
            if findings.broken.contains(where: { $0.promise == .composes }) { return findings.broken }
        }
        checkCancellation(&findings)
        return findings.broken
    }

    /// A word in every parameter, account and known copy, which no message may contain.
    static let secret = "quince"

    /// Requests with usual and unusual parameters and accounts.
    static var requests: [Request] {
        let texts = [
            secret, "1-" + secret, "../" + secret, secret + "/a?b=c&d#e%", secret + " \u{0}\n\"é", "",
            String(repeating: secret, count: 100),
        ]
        return [Request(TestedPlugin.resource)] + texts.map { Request(TestedPlugin.resource, ["id": $0]) } + [
            Request(TestedPlugin.resource, [secret: "1", "page": "2"]), Request(TestedPlugin.resource, scope: secret),
            Request(TestedPlugin.resource, ["id": "1"], scope: "a", mode: .refresh, priority: .low),
        ]
    }

    /// The origin, taken out of its graph.
    struct TestedOrigin: Sendable {
        var stage: SimulatedPantry
        var loader: any Loader
        var traits: OriginTraits

        /// Starts a load of the origin.
        func load(_ call: Call) -> ObservedTask<Loaded<Entry>> {
            ObservedTask(in: stage.world) { [loader] in try await loader.load(call) }
        }
    }

    /// Composes the origin and takes it out of its graph.
    func made(_ world: SimulatedWorld) async throws -> TestedOrigin {
        let (stage, loader, part): (_, any Loader, _) = try await tested.composed(
            in: world, at: { .init("origin", $0) }
        ) { setting, show in
            .origin("conformance-probe", "Shows the origin it is made of.", setting) { context, part in
                let loader = try part.origin(in: context)
                show(loader, part)
                return loader
            }
        }
        return TestedOrigin(stage: stage, loader: loader, traits: part.originTraits)
    }
}
