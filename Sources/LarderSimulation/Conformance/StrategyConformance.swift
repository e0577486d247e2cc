public import Larder

/// Whether a strategy keeps its promises: every combination of a copy's state, what the origin does, what the store
/// does, and how the load is wanted, and then what several loads at a time do to each other.
///
/// ```swift
/// #expect(StrategyConformance(.copyIfAny, ["patience": "500ms"]).brokenPromises() == [])
/// ```
///
/// A strategy is held to what it declares: one that needs no store has none to be judged by, and patience is looked at
/// where ``Traits/patience`` names it. Calls are expected to go on for some seconds after that.
public struct StrategyConformance: Sendable {
    let plugin: Plugin
    let settings: JSON
    let registry: Registry

    /// The suite for a strategy.
    ///
    /// - Parameters:
    ///   - settings: what stands beside `"use"`.
    ///   - registry: the plugins that the settings may name.
    public init(_ plugin: Plugin, _ settings: JSON = [:], registry: Registry = .standard) {
        self.plugin = plugin
        self.settings = settings
        self.registry = registry
    }

    /// The promises that are not kept, each with the first situation in which that showed.
    public func brokenPromises() -> [BrokenPromise] {
        var findings = Findings()
        for situation in StrategySituation.all(for: plugin.needs) {
            findings.judge(situation.description) {
                try situation.run(self)
            } _: { seen, findings in
                StrategyJudge(situation: situation, seen: seen, needs: plugin.needs).judge(&findings)
            }
            // Nothing can be learned where nothing can be composed.
            if findings.broken.contains(where: { $0.promise == .composes }) { return findings.broken }
        }
        judgeCompany(&findings)
        return findings.broken
    }

    /// A stage on which the strategy decides.
    func stage(
        _ world: SimulatedWorld, copies: StrategySituation.Copy = .none, isForeign: Bool = true, plugins: [Plugin] = []
    ) async throws -> Stage {
        let members: [JSON.Member] = [
            .init("strategy", .use(plugin.name, settings)),
            .init("validators", .list([.use("age", copies.windows)])),
        ]
        return try await Stage(world, members, plugins: [plugin] + plugins, registry: registry, isForeign: isForeign)
    }
}
