public import Larder

/// A suite that checks whether a store keeps its promises: its entries after writes, removals and restarts, and its
/// traits and statistics.
///
/// ```swift
/// #expect(StoreConformance(.shoebox, ["capacity": "64KB"]).brokenPromises() == [])
/// ```
///
/// The suite checks the traits that the store declares: a `StoreTraits.capacity` of up to 4 MB, the age in
/// `StoreTraits.keepsFor`, and the entries after a restart if `StoreTraits.isForeign` is set. The store may evict entries to make
/// room if `StoreStatistics.evictions` counts them. It need not list or pin entries, but then it must say so with
/// `StoreError.isUnsupported`.
///
/// If the plugin has a setting that is a store, or a list of stores, the suite puts a store there that records its
/// calls. It then names each method that is not forwarded: Swift does not, because the methods have defaults.
public struct StoreConformance: Sendable {
    var tested: TestedPlugin

    /// Creates the suite for a store.
    ///
    /// - Parameters:
    ///   - plugin: the store to test.
    ///   - settings: its settings, without `"use"`.
    ///   - registry: the plugins that the settings may name.
    public init(_ plugin: Plugin, _ settings: JSON = [:], registry: Registry = .standard) {
        tested = TestedPlugin(plugin: plugin, settings: settings, registry: registry)
    }

    /// Runs the suite and returns the promises that are not kept, each with the first situation in which it was broken.
    public func brokenPromises() -> [BrokenPromise] {
        var findings = BrokenPromises()
        checkEntries(&findings)
        if findings.broken.contains(where: { $0.promise == .composes }) { return findings.broken }
        checkKeys(&findings)
        checkRenewals(&findings)
        checkContains(&findings)
        checkLists(&findings)
        checkExpiring(&findings)
        checkSelectionsExpire(&findings)
        checkPins(&findings)
        checkRemovals(&findings)
        checkPeek(&findings)
        checkStatistics(&findings)
        checkConcurrentLoads(&findings)
        checkLimits(&findings)
        checkRestart(&findings)
        checkFolderLoss(&findings)
        checkForwarding(&findings)
        return findings.broken
    }

    /// Runs a scenario with a new store and collects its findings.
    func check(
        _ situation: String, findings: inout BrokenPromises, in world: SimulatedWorld = SimulatedWorld(),
        scenario: @escaping @Sendable (inout StoreTrial) async throws -> Void
    ) {
        findings.check(situation) {
            try world.run { world in
                var trial = try await StoreTrial(self, in: world, situation: situation)
                do { try await scenario(&trial) } catch { trial.fail(error) }
                return try await trial.end()
            }
        } check: { found, findings in
            findings.add(found)
        }
    }

    /// Composes the store and takes it out of its graph.
    func opened(_ world: SimulatedWorld, cache: TemporaryFolder) async throws
        -> (SimulatedPantry, any Store, StoreTraits)
    {
        let (stage, store, part): (_, any Store, _) = try await tested.composed(
            in: world, cache: cache, at: { .init("store", $0) }
        ) { setting, show in
            .store("conformance-probe", "Shows the store it is made of.", setting) { context, part in
                let store = try part.store(in: context)
                show(store, part)
                return store
            }
        }
        return (stage, store, part.storeTraits)
    }
}
