public import Larder

/// A suite that checks whether a validator keeps its promises: the payloads it admits, the uses it permits as copies
/// age, and its traits.
///
/// ```swift
/// #expect(ValidatorConformance(.signed, ["key": "k1"]).brokenPromises() == [])
/// ```
///
/// The suite searches for the ends of windows at all ages up to a hundred years. It expects windows of whole
/// milliseconds, as in policies, for an entry with a `Metadata.spread` of 0.
public struct ValidatorConformance: Sendable {
    let tested: TestedPlugin

    /// Creates the suite for a validator.
    ///
    /// - Parameters:
    ///   - plugin: the validator to test.
    ///   - settings: its settings, without `"use"`.
    ///   - registry: the plugins that the settings may name.
    public init(_ plugin: Plugin, _ settings: JSON = [:], registry: Registry = .standard) {
        tested = TestedPlugin(plugin: plugin, settings: settings, registry: registry)
    }

    /// Runs the suite and returns the promises that are not kept, each with the first situation in which it was broken.
    public func brokenPromises() -> [BrokenPromise] {
        var findings = BrokenPromises()
        findings.check("it is asked about many entries and ages") {
            try SimulatedWorld().run { world in
                let (stage, validator, part) = try await made(world)
                var findings = BrokenPromises()
                ValidatorAdmission(validator: validator, traits: part.validatorTraits, now: world.now).check(&findings)
                let windows = ValidatorWindows(validator: validator, traits: part.validatorTraits, now: world.now)
                let before = windows.answers()
                windows.check(&findings)
                try await world.sleep(for: .seconds(86_400))
                windows.check(before, &findings)
                findings.expect(
                    stage.leftRunning == 0, promise: .endsEverything, expected: "nothing under way a day later",
                    got: "\(stage.leftRunning) tasks")
                return findings.broken
            }
        } check: { found, findings in
            findings.add(found)
        }
        return findings.broken
    }

    /// Composes the validator and takes it out of its graph.
    private func made(_ world: SimulatedWorld) async throws -> (SimulatedPantry, any Validator, Part) {
        try await tested.composed(in: world, at: { .init("validators", [$0]) }) { setting, show in
            .validator("conformance-probe", "Shows the validator it is made of.", setting) { context, part in
                let validator = try part.validator(in: context)
                show(validator, part)
                return validator
            }
        }
    }
}
