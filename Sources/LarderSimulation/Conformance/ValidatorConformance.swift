public import Larder

/// Whether a validator keeps its promises: what it admits, what it permits as time goes by, and what it says of both.
///
/// ```swift
/// #expect(ValidatorConformance(.signed, ["key": "k1"]).brokenPromises() == [])
/// ```
///
/// Windows are looked for among all ages up to a hundred years; they are expected to be whole milliseconds, as policies
/// write them, for an entry whose ``Metadata/spread`` is 0.
public struct ValidatorConformance: Sendable {
    let plugin: Plugin
    let settings: JSON
    let registry: Registry

    /// The suite for a validator.
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
        findings.judge("it is asked about many entries and ages") {
            try SimulatedWorld().run { world in
                let (stage, validator, traits) = try await made(world)
                var findings = Findings()
                ValidatorAdmission(validator, traits, now: world.now).judge(&findings)
                let windows = ValidatorWindows(validator, traits, now: world.now)
                let before = windows.answers()
                windows.judge(&findings)
                try await world.sleep(for: .seconds(86_400))
                windows.judge(before, &findings)
                findings.expect(
                    stage.leftRunning == 0, .endsEverything, "nothing under way a day later",
                    got: "\(stage.leftRunning) tasks")
                return findings.broken
            }
        } _: { found, findings in
            findings.add(found)
        }
        return findings.broken
    }

    /// Composes the validator and takes it out of its graph.
    private func made(_ world: SimulatedWorld) async throws -> (Stage, any Validator, Traits) {
        let made = Locked<(any Validator, Traits)?>(nil)
        let probe = Plugin.validator(
            "conformance-probe", "Shows the validator it is made of.",
            Setting("of", .part(.validator), help: "The validator")
        ) { context, part in
            let validator = try part.validator(in: context)
            made.withLock { $0 = (validator, part.traits) }
            return validator
        }
        let strategy = Plugin.strategy("conformance-strategy", "Uses both sides.") { $0.live }
        let validators: JSON = [["use": "conformance-probe", "of": .use(plugin.name, settings)]]
        let stage = try await Stage(
            world, [.init("validators", validators), .init("strategy", "conformance-strategy")],
            plugins: [probe, strategy, plugin], registry: registry)
        guard let (validator, traits) = made.withLock({ $0 }) else {
            throw LoadError(.failed, "it was not composed")
        }
        return (stage, validator, traits)
    }
}
