import Larder

/// A sound file of scenarios.
package struct ScenarioFile: Sendable {
    package var resource: String
    var about: String?
    var scenarios: [Scenario]
    /// The histories of records.
    var histories: [RecordScenario] = []
}

/// A scenario: a story with a name, and the expectations of its answers.
struct Scenario: Sendable {
    var name: String
    var position: SourcePosition
    var story: Story
    /// The expectation of the answer to each load; nil if nothing is expected.
    var expectations: [Expectation?]
    /// The position of the parameters of each load.
    var positions: [SourcePosition] = []

    /// Returns the problems of loads with parameters that no call of the policy's origin can have. A load without any is for
    /// the usual instance.
    func parameterProblems(_ policy: Policy, file: String) -> [Problem] {
        guard let origin = policy.origin else { return [] }
        let other = Story.Load(before: .zero, isOther: true).parameters
        return zip(story.loads, zip(expectations, positions)).compactMap { load, place in
            let isFree = load.parameters.isEmpty || load.parameters == other || place.0?.error == "invalidRequest"
            guard !isFree, let mistake = origin.mistake(in: load.parameters) else { return nil }
            return Problem(mistake, file: file, at: place.1, path: "$.scenarios")
        }
    }

    /// Whether it is about single tiers or faults of stores.
    var needsFaultyStores: Bool { !story.stores.isEmpty || story.copies.contains { $0.tier != nil } }
}

/// The expectation of an answer. A field that is left out is not checked.
struct Expectation: Sendable {
    enum Age: Sendable {
        case unknown
        /// The range of an age, as exact as it is written: `3h` is at least three hours and less than four.
        case about(Range<Duration>, text: String)

        /// Exactly this age.
        static func exactly(_ age: Duration) -> Age { .about(age..<age + .nanoseconds(1), text: age.short) }
    }

    var value: JSON?
    var freshness: String?
    var source: String?
    var age: Age?
    var fellBack: Bool?
    var isStored: Bool?
    var error: String?
    var status: Int?
    var takes: Duration?
    var within: Duration?
    var calls: Int?
    /// `yes`, `no` or `either`; nil for a value unless an error is expected. With `either` there may also be no answer.
    var answered: String?
    var noOlderThan: Duration?
    var freshWithin: Duration?
    var callsAtMost: Int?
    /// The text in the file, for the position of each key; nil for one that no file contains.
    var node: Node?
}
