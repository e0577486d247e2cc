public import Larder

/// Whether an eviction keeps its promises, driven as stores drive it: places that are filled, used, changed and emptied in
/// many orders, with weights and hashes of all sorts.
///
/// ```swift
/// #expect(EvictionConformance(.firstOut).brokenPromises() == [])
/// ```
///
/// How good its choices are is not judged: `larder-bench hitratio` measures that. An eviction that traps ends the test, and
/// one whose ``Eviction/evict()`` does not return hangs it.
public struct EvictionConformance: Sendable {
    let plugin: Plugin
    let settings: JSON
    let registry: Registry

    /// The suite for an eviction.
    ///
    /// - Parameters:
    ///   - settings: the settings beside `"use"`.
    ///   - registry: the plugins that the settings may name.
    public init(_ plugin: Plugin, _ settings: JSON = [:], registry: Registry = .standard) {
        self.plugin = plugin
        self.settings = settings
        self.registry = registry
    }

    /// The promises that are not kept, each with the first situation in which that showed.
    public func brokenPromises() -> [BrokenPromise] {
        var findings = Findings()
        findings.judge("an eviction is told of many places") {
            try SimulatedWorld().run { world in
                var situations = EvictionSituations(part: try await part(world))
                try situations.judgeAll()
                return situations.findings.broken
            }
        } _: { found, findings in
            findings.add(found)
        }
        return findings.broken
    }

    /// Reads the eviction's part out of a policy that names it.
    private func part(_ world: SimulatedWorld) async throws -> Part {
        let read = Locked<Part?>(nil)
        let probe = Plugin.store(
            "conformance-probe", "Shows the eviction it is given.",
            Setting("of", .part(.eviction), help: "The eviction")
        ) { context, part in
            read.withLock { $0 = part }
            return FaultyStore(world: context.world)
        }
        let store: JSON = ["use": "conformance-probe", "of": .use(plugin.name, settings)]
        let strategy = Plugin.strategy("conformance-strategy", "Uses both sides.") { $0.live }
        let stage = try await Stage(
            world, [.init("store", store), .init("strategy", "conformance-strategy")],
            plugins: [probe, strategy, plugin], registry: registry)
        return try withExtendedLifetime(stage) {
            guard let part = read.withLock({ $0 }) else { throw LoadError(.failed, "it was not composed") }
            return part
        }
    }
}
