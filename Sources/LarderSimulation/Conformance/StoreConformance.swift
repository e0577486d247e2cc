public import Larder

/// Whether a store keeps its promises: what it finds after writes, removals and restarts, and what it says of itself.
///
/// ```swift
/// #expect(StoreConformance(.shoebox, ["capacity": "64KB"]).brokenPromises() == [])
/// ```
///
/// A store is held to what it declares: its capacity is looked at where ``Traits/capacity`` names one of up to 4 MB, its
/// age where ``Traits/keepsFor`` does, and what is there after a restart where it says ``Traits/isForeign``. It may
/// forget entries to make room, as long as ``StoreStatistics/evictions`` tells how many.
public struct StoreConformance: Sendable {
    let plugin: Plugin
    let settings: JSON
    let registry: Registry

    /// The suite for a store.
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
        judgeEntries(&findings)
        if findings.broken.contains(where: { $0.promise == .composes }) { return findings.broken }
        judgeKeys(&findings)
        judgeExpiring(&findings)
        judgeRemovals(&findings)
        judgePeek(&findings)
        judgeStatistics(&findings)
        judgeCrowd(&findings)
        judgeLimits(&findings)
        judgeRestart(&findings)
        return findings.broken
    }

    /// Runs a scenario with a store that was never used, and collects what it finds.
    func judge(
        _ situation: String, _ findings: inout Findings, in world: SimulatedWorld = SimulatedWorld(),
        _ scenario: @escaping @Sendable (inout StoreTrial) async throws -> Void
    ) {
        findings.judge(situation) {
            try world.run { world in
                var trial = try await StoreTrial(self, world, situation)
                do { try await scenario(&trial) } catch { trial.fail(error) }
                return try await trial.end()
            }
        } _: { found, findings in
            findings.add(found)
        }
    }

    /// Composes the store and takes it out of its graph.
    func opened(_ world: SimulatedWorld, cache: TemporaryFolder) async throws -> (Stage, any Store, Traits) {
        let made = Locked<(any Store, Traits)?>(nil)
        let probe = Plugin.store(
            "conformance-probe", "Shows the store it is made of.", Setting("of", .part(.store), help: "The store")
        ) { context, part in
            let store = try part.store(in: context)
            made.withLock { $0 = (store, part.traits) }
            return store
        }
        let store: JSON = ["use": "conformance-probe", "of": .use(plugin.name, settings)]
        let strategy = Plugin.strategy("conformance-strategy", "Uses both sides.") { $0.live }
        let stage = try await Stage(
            world, [.init("store", store), .init("strategy", "conformance-strategy")],
            plugins: [probe, strategy, plugin], registry: registry, cache: cache)
        guard let (store, traits) = made.withLock({ $0 }) else {
            throw LoadError(.failed, "it was not composed")
        }
        return (stage, store, traits)
    }
}
