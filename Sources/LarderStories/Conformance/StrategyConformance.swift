public import Larder
public import LarderSimulation

/// A suite that checks whether a strategy keeps its promises, in every combination of the copy's state, the behaviour
/// of origin and store, and the load's mode, and with concurrent loads.
///
/// ```swift
/// #expect(StrategyConformance(.copyIfAny, ["patience": "500ms"]).brokenPromises() == [])
/// ```
///
/// The suite checks the traits that the strategy declares. A strategy that needs no store has none in the test.
/// Patience is checked if `StrategyTraits.patience` is set; the test's slow calls last some seconds longer.
public struct StrategyConformance: Sendable {
    let plugin: Plugin
    private let settings: JSON
    private let registry: Registry

    /// The stores of the policies that the suite plays. They are simulated. The second one answers at once.
    enum Store: String, CaseIterable {
        case file
        case memory
    }

    /// Creates the suite for a strategy.
    ///
    /// - Parameters:
    ///   - plugin: the strategy to test.
    ///   - settings: its settings, without `"use"`.
    ///   - registry: the plugins that the settings may name.
    public init(_ plugin: Plugin, _ settings: JSON = [:], registry: Registry = .standard) {
        (self.plugin, self.settings, self.registry) = (plugin, settings, registry)
    }

    /// Runs the suite and returns the promises that are not kept, each with the first situation in which it was broken.
    public func brokenPromises() -> [BrokenPromise] {
        var findings = BrokenPromises()
        for copy in StrategyCopy.all {
            for store in Store.allCases {
                findings.check(copy.name) {
                    let policy = try policy(with: copy, in: store)
                    return (player: try StoryPlayer(policy), patience: policy.policy.strategy?.strategyTraits.patience)
                } check: { tested, findings in
                    for story in stories(with: copy, in: store) {
                        play(story, named: "\(story.inWords), with \(copy.name)", by: tested.player, into: &findings) {
                            StrategyRules(
                                story: story, copy: copy, history: $0, needs: plugin.needs, patience: tested.patience
                            ).all
                        }
                    }
                }
                // The other stories need a strategy that can be composed.
                if findings.broken.contains(where: { $0.promise == .composes }) { return findings.broken }
            }
        }
        for all in ConcurrentStory.all(for: plugin.needs) {
            findings.check(all.name) {
                try StoryPlayer(policy(with: .none, in: .file))
            } check: { player, findings in
                play(all.story, named: all.name, by: player, into: &findings) { history in
                    zip(history.answers, all.expectations).map { answer, expected in
                        history.rule(expected.promise, of: answer, expected.answer)
                    } + history.endings
                }
            }
        }
        return findings.broken
    }

    /// Plays a story until all work that it began should have ended, and checks its rules.
    private func play(
        _ story: Story, named name: String, by player: StoryPlayer, into findings: inout BrokenPromises,
        _ rules: (StoryHistory) -> [StrategyRules.Rule]
    ) {
        findings.check(name) {
            try player.history(of: story, aftermath: .seconds(7_200))
        } check: { history, findings in
            for rule in rules(history) {
                findings.expect(rule.isKept, promise: rule.promise, expected: rule.expected, got: history.inWords)
            }
        }
    }

    /// Returns a policy with the strategy.
    private func policy(with copy: StrategyCopy, in store: Store) throws -> SimulatedPolicy {
        let origin = Plugin.origin("conformance-origin") { (_: Call) -> Loaded<Entry> in throw LoadError.notCached }
        let registry = try registry.replacing(plugin).replacing(origin)
        let text: JSON = [
            "resource": "conformance", "origin": .string(origin.name), "store": .string(store.rawValue),
            "strategy": .joined(["use": .string(plugin.name)], settings),
            "validators": [copy.windows],
        ]
        let reader = try PolicyReader(
            registry: registry, texts: ["conformance": text.text()], files: nil, environment: [:])
        let result = reader.check("conformance.json")
        guard let policy = result.policy else { throw PolicyError(result.problems) }
        return try SimulatedPolicy(policy, registry: registry, files: nil, environment: [:])
    }
}

extension StoryHistory {
    /// Returns the rule that an answer is as expected.
    func rule(_ promise: Promise, of answer: Answer, _ expectation: Expectation) -> StrategyRules.Rule {
        let wrong = expectation.mismatches(of: answer, in: self)
        return (promise, wrong.map { "\($0.key) \($0.expected)" }.joined(separator: ", "), wrong.isEmpty)
    }

    /// The rules of the end of every story.
    var endings: [StrategyRules.Rule] { [(.endsEverything, "no task running two hours later", running == 0)] }

    /// The history in words: its first load, and what is left at the end.
    var inWords: String {
        let uses = "\(calls.count) calls, \(reads) reads and \(writes) writes, \(running) tasks at the end"
        return answers.prefix(1).map(drawing).joined() + ", " + uses
    }
}
