public import Larder

/// A suite that checks whether an eviction keeps its promises. It calls the eviction as stores do: places are filled,
/// used, changed and emptied in many orders, with all kinds of weights and hashes.
///
/// ```swift
/// #expect(EvictionConformance(.firstOut).brokenPromises() == [])
/// ```
///
/// The suite does not measure the quality of the choices: `larder-bench hitratio` does. An eviction that traps ends the
/// test, and an eviction whose `Eviction.evict()` does not return hangs it.
public struct EvictionConformance: Sendable {
    let tested: TestedPlugin

    /// Creates the suite for an eviction.
    ///
    /// - Parameters:
    ///   - plugin: the eviction to test.
    ///   - settings: its settings, without `"use"`.
    ///   - registry: the plugins that the settings may name.
    public init(_ plugin: Plugin, _ settings: JSON = [:], registry: Registry = .standard) {
        tested = TestedPlugin(plugin: plugin, settings: settings, registry: registry)
    }

    /// Runs the suite and returns the promises that are not kept, each with the first situation in which it was broken.
    public func brokenPromises() -> [BrokenPromise] {
        var findings = BrokenPromises()
        findings.check("the eviction is used as a store would") {
            try SimulatedWorld().run { world in
                var situations = EvictionSituations(part: try await part(world))
                try situations.checkAll()
                return situations.findings.broken
            }
        } check: { found, findings in
            findings.add(found)
        }
        return findings.broken
    }

    /// Composes a policy that names the eviction and returns the eviction's part.
    private func part(_ world: SimulatedWorld) async throws -> Part {
        let (pantry, part, _): (_, Part, _) = try await tested.composed(
            in: world, at: { .init("store", $0) }
        ) { setting, show in
            .store("conformance-probe", "Shows the eviction it is given.", setting) { context, part in
                show(part, part)
                return FaultyStore(world: context.world)
            }
        }
        return withExtendedLifetime(pantry) { part }
    }
}
