import Larder

/// A history of records with a name, and what is expected of its end.
struct RecordScenario: Sendable {
    var name: String
    var position: SourcePosition
    var story: RecordStory
    var expectations: [RecordPromise]
}

extension SettingType where Value == RecordScenario {
    static var recordScenario: SettingType<RecordScenario> {
        .object(
            "a history",
            Setting("name", .text, help: "What it shows, in a sentence"),
            Setting(
                "steps", .list(of: .recordStep, atLeast: 1),
                help: "What the user and another device do, and what goes wrong; at the end there is a network"),
            Setting("expect", .recordExpectation, help: "What holds at the end")
        ) { node, reading, name, steps, expectations in
            if expectations.isEmpty {
                reading.report(
                    "nothing is expected", at: node["expect"]?.position ?? node.position,
                    expected: "at least one promise")
                return nil
            }
            return RecordScenario(
                name: name, position: node["name"]?.position ?? node.position, story: RecordStory(steps),
                expectations: expectations)
        }
    }
}

extension SettingType where Value == RecordStory.Step {
    static var recordStep: SettingType<RecordStory.Step> {
        let words = SettingType<String>.choice(RecordStory.Step.allCases.map(\.rawValue))
        return SettingType(
            "step", expectation: words.expectation, schema: words.schema, show: { "\"\($0.rawValue)\"" },
            read: { node, reading in words.read(node, reading).flatMap(RecordStory.Step.init) })
    }
}

extension SettingType where Value == [RecordPromise] {
    static var recordExpectation: SettingType<[RecordPromise]> {
        .object(
            "an expectation",
            Setting(
                "losesNothing", .flag, default: false,
                help: "Whether each change is at the service, or kept as a letter"),
            Setting("appliesOnce", .flag, default: false, help: "Whether the service has made no change twice"),
            Setting(
                "noLostUpdate", .flag, default: false,
                help:
                    "Whether no change of the other device is replaced unseen, and the device shows what the service has"
            ),
            Setting(
                "sentWithin", optional: .moment,
                help: "The time within which the last change reaches the service, once there is a network")
        ) { _, _, losesNothing, appliesOnce, noLostUpdate, sentWithin in
            var promises = Promises()
            (promises.losesNothing, promises.appliesOnce) = (losesNothing, appliesOnce)
            (promises.noLostUpdate, promises.sentWithin) = (noLostUpdate, sentWithin)
            return RecordPromise.all(of: promises)
        }
    }
}

/// The end of a history of records, judged.
package struct RecordScenarioResult: Sendable {
    let path: String
    package let file: ScenarioFile
    let scenario: RecordScenario
    /// The breach of each expectation that is not met, in words.
    let breaches: [(promise: String, breach: String)]

    var isPassed: Bool { breaches.isEmpty }

    /// Plays a history, and judges its end.
    init(
        _ scenario: RecordScenario, of file: ScenarioFile, at path: String, by player: RecordStoryPlayer
    ) throws {
        (self.path, self.file, self.scenario) = (path, file, scenario)
        let history = try player.play(scenario.story)
        breaches =
            scenario.expectations.compactMap { expected in expected.breach(history).map { (expected.name, $0.words) } }
            + (history.misunderstood > 0 ? [("steps", "the simulated service cannot read a call of the policy")] : [])
            + history.idle.map { ("steps", "'\($0.rawValue)' has no effect here") }
    }

    /// A line for the history, and those of what is not met.
    func lines(draws: Bool) -> [String] {
        let mark = isPassed ? "  ✓ \(scenario.name)" : "  ✗ \(scenario.name)  [line \(scenario.position.line)]"
        let steps = draws || !isPassed ? scenario.story.steps.map { "      \($0.inWords)" } : []
        return [mark] + steps + breaches.map { "      → \($0.promise): \($0.breach)" }
    }

    var json: JSON {
        [
            "file": .string(path), "line": .int(scenario.position.line), "resource": .string(file.resource),
            "name": .string(scenario.name), "passed": .bool(isPassed),
            "steps": .list(scenario.story.steps.map { .string($0.rawValue) }),
            "breaches": .list(breaches.map { ["promise": .string($0.promise), "breach": .string($0.breach)] }),
        ]
    }
}
