public import Larder

/// A suite that checks whether a strategy keeps its promises, in every combination of the copy's state, the behaviour
/// of origin and store, and the load's mode, and with concurrent loads.
///
/// ```swift
/// #expect(StrategyConformance(.copyIfAny, ["patience": "500ms"]).brokenPromises() == [])
/// ```
///
/// The suite checks the traits that the strategy declares. A strategy that needs no store has none in the test.
/// Patience is checked if `Traits.patience` is set; the test's slow calls last some seconds longer.
public struct StrategyConformance: Sendable {
    let tested: TestedPlugin

    /// Creates the suite for a strategy.
    ///
    /// - Parameters:
    ///   - plugin: the strategy to test.
    ///   - settings: its settings, without `"use"`.
    ///   - registry: the plugins that the settings may name.
    public init(_ plugin: Plugin, _ settings: JSON = [:], registry: Registry = .standard) {
        tested = TestedPlugin(plugin: plugin, settings: settings, registry: registry)
    }

    /// Runs the suite and returns the promises that are not kept, each with the first situation in which it was broken.
    public func brokenPromises() -> [BrokenPromise] {
        var findings = BrokenPromises()
        for situation in StrategySituation.all(for: tested.plugin.needs) {
            findings.check(situation.description) {
                try situation.run(self)
            } check: { seen, findings in
                StrategyCheck(situation: situation, seen: seen, needs: tested.plugin.needs).check(&findings)
            }
            // The other checks need a strategy that can be composed.
            if findings.broken.contains(where: { $0.promise == .composes }) { return findings.broken }
        }
        checkConcurrency(&findings)
        return findings.broken
    }

    /// Returns a pantry that uses the strategy, or another one in its place.
    func stage(
        _ world: SimulatedWorld, copies: StrategySituation.Copy = .none, isForeign: Bool = true,
        strategy: JSON? = nil, plugins: [Plugin] = []
    ) async throws -> SimulatedPantry {
        let age = JSON.object([.init("use", "age")]).adding(copies.windows)
        return try await tested.pantry(
            in: world, [.init("strategy", strategy ?? tested.reference), .init("validators", [age])],
            plugins: plugins, isStoreForeign: isForeign)
    }
}
