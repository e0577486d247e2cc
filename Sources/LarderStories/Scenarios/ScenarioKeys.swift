import Larder

// The keys of scenario files, each declared once: reading, messages, `larder test --keys` and the reference in the
// documentation come from here.

extension SettingType where Value == ScenarioFile {
    /// A scenario file, for policies of these resources.
    static func scenarioFile(of resources: [String]) -> SettingType<ScenarioFile> {
        .object(
            "a file of scenarios",
            Setting("resource", .choice(resources), help: "Whose policy is tried"),
            Setting("about", optional: .text, help: "What the file tells, for people"),
            Setting(
                "scenarios", .list(of: .scenario), default: [], help: "What happens, each from a beginning of its own"),
            Setting(
                "histories", .list(of: .recordScenario), default: [],
                help: "What happens to records that are changed offline, each from a beginning of its own")
        ) { node, reading, resource, about, scenarios, histories in
            if scenarios.isEmpty, histories.isEmpty {
                reading.report(
                    "nothing happens", at: node["scenarios"]?.position ?? node.position,
                    expected: "'scenarios' with at least 1 value, or 'histories'")
                return nil
            }
            return ScenarioFile(resource: resource, about: about, scenarios: scenarios, histories: histories)
        }
    }
}

extension SettingType where Value == Scenario {
    static var scenario: SettingType<Scenario> {
        .object(
            "a scenario",
            Setting("name", .text, help: "What it shows, in a sentence"),
            Setting("cached", .oneOrMore(.cachedCopy), default: [], help: "The copies that are kept when it begins"),
            Setting(
                "restarted", .flag, default: false,
                help: "Whether the app was started anew after that: what lay in memory only is gone"),
            Setting(
                "origin", .oneOrMore(.originPhase), default: [],
                help: "What the origin does, each from its moment to the next one's; until the first it is offline"),
            Setting(
                "lifetime", optional: .moment,
                help: "The lifetime that the origin states for its answers and for the copies, in whole seconds, as "
                    + "'Cache-Control: max-age'; without it, none"
            ),
            Setting(
                "network", .oneOrMore(.network), default: [],
                help:
                    "What the device knows about its network, each from its moment on; until the first it knows nothing"
            ),
            Setting(
                "stores", .oneOrMore(.storeFault), default: [],
                help: "The faults of the stores, after the copies are in them"),
            Setting(
                "chance", optional: .share,
                help: "Every random number is this share of the largest one; without it they are random"),
            Setting("asks", .oneOrMore(.ask), help: "Who asks when, and what is expected")
        ) { node, reading, name, copies, isRestarted, origin, lifetime, networks, stores, chance, asks in
            if let lifetime, lifetime.nanoseconds % 1_000_000_000 != 0 {
                reading.report("'lifetime' takes whole seconds", at: node["lifetime"]?.position ?? node.position)
            }
            let story = Story().with { story in
                (story.copies, story.isRestarted, story.origin) = (copies, isRestarted, origin)
                (story.lifetime, story.networks, story.stores) = (lifetime, networks, stores.flatMap { $0 })
                (story.chance, story.loads) = (chance, asks.map(\.load))
            }
            var scenario = Scenario(
                name: name, position: node["name"]?.position ?? node.position, story: story,
                expectations: asks.map(\.expectation))
            scenario.positions = asks.map(\.position)
            scenario.check(node, reading)
            return scenario
        }
    }
}

extension SettingType where Value == Story.Copy {
    static var cachedCopy: SettingType<Story.Copy> {
        .object(
            "a copy",
            Setting("value", .json, help: "The value"),
            Setting("age", .moment, default: .zero, help: "How old it is when the scenario begins"),
            Setting("etag", optional: .text, help: "The origin's tag of this version"),
            Setting("contentType", .text, default: "application/json", help: "The payload's media type"),
            Setting(
                "tier", optional: .int(1...100),
                help: "The only tier of the store that it lies in, counted from 1, the fastest; without it, all"),
            Setting("spread", .share, default: 0, help: "The share of a validator's jitter that it has"),
            .parameters("Which instance it is of"),
            .scope("Whose it is: an account")
        ) { _, _, value, age, etag, contentType, tier, spread, parameters, scope in
            var copy = Story.Copy(age: age, tier: tier, spread: spread)
            (copy.value, copy.etag, copy.contentType) = (value, etag, contentType)
            (copy.parameters, copy.scope) = (parameters, scope)
            return copy
        }
    }
}

extension SettingType where Value == Story.OriginAct {
    static var originPhase: SettingType<Story.OriginAct> {
        .object(
            "a phase of the origin",
            Setting("from", .moment, default: .zero, help: "When it begins; a call does what its first moment says"),
            Setting(
                "calls", optional: .int(1...1_000_000), help: "How many calls it lasts; then the next phase begins"),
            Setting("takes", .moment, default: .zero, help: "How long a call takes"),
            Setting("value", optional: .json, help: "It answers with this value"),
            Setting("etag", optional: .text, help: "The value's tag: who has it already is told that it is unchanged"),
            Setting(
                "contentType", optional: .text, help: "The value's media type; application/json if nothing is said"),
            Setting("fails", optional: .failure, help: "It fails with this status"),
            Setting(
                "retryAfter", optional: .moment, help: "With that status, it asks for no further calls for so long"),
            Setting("answers", optional: .answer, help: "It answers with this status, an error that stands"),
            Setting("offline", .flag, default: false, help: "There is no network"),
            Setting("hangs", .flag, default: false, help: "It never answers")
        ) {
            node, reading, from, calls, takes, value, etag, contentType, fails, retryAfter, answers, isOffline,
            hangs in
            let type = contentType ?? "application/json"
            let endings: [Story.OriginAct.Ending?] = [
                value.map { .sends($0, etag: etag, contentType: type) },
                fails.map { .status($0, retryAfter: retryAfter) }, answers.map { .status($0, retryAfter: nil) },
                isOffline ? .unreachable : nil, hangs ? .hangs : nil,
            ]
            let names = ["value", "fails", "answers", "offline", "hangs"]
            let given = endings.compactMap { $0 }
            guard let ending = given.first, given.count == 1 else {
                reading.report(
                    given.isEmpty ? "what the origin does is not said" : "the origin does one thing at a time",
                    at: node.position, expected: "one of " + names.map { "'\($0)'" }.joined(separator: ", "))
                return nil
            }
            let idle =
                (value == nil ? ["etag", "contentType"] : []) + (hangs ? ["takes"] : [])
                + (fails == nil ? ["retryAfter"] : [])
            for member in node.members ?? [] where idle.contains(member.name) {
                reading.report("'\(member.name)' has no effect here", at: member.position)
            }
            return Story.OriginAct(ending, after: takes, calls: calls, from: from)
        }
    }
}

/// A load of a scenario, with the expectation of its answer.
struct ScenarioLoad: Sendable {
    var load: Story.Load
    var expectation: Expectation?
    /// The position of its parameters.
    var position: SourcePosition
}

extension SettingType where Value == ScenarioLoad {
    static var ask: SettingType<ScenarioLoad> {
        .object(
            "a request",
            Setting("at", .moment, default: .zero, help: "When it is made"),
            .parameters("Which instance is wanted"),
            .scope("For whom: an account"),
            Setting(
                "mode", .choice(["normal", "refresh", "cachedOnly"]), default: "normal",
                help: "As the policy says, from the origin now, or never from the origin"),
            Setting("deadline", optional: .moment, help: "How long the caller waits for the origin"),
            Setting(
                "restarted", .flag, default: false, help: "Whether the app is started anew right before the request"),
            Setting(
                "clockBack", .moment, default: .zero, help: "How far the clock is set back right before the request"),
            Setting("expect", optional: .expectation, help: "What is expected of its answer")
        ) { node, _, at, parameters, scope, mode, deadline, isRestarted, clockBack, expectation in
            var load = Story.Load(at: at, parameters: parameters, scope: scope)
            (load.mode, load.deadline) = (Request.Mode(rawValue: mode) ?? .normal, deadline)
            (load.isRestarted, load.clockBack) = (isRestarted, clockBack)
            return ScenarioLoad(
                load: load, expectation: expectation, position: node["parameters"]?.position ?? node.position)
        }
    }
}

extension SettingType where Value == Expectation {
    static var expectation: SettingType<Expectation> {
        .object(
            "an expectation",
            Setting("value", optional: .json, help: "The value"),
            Setting("freshness", optional: .choice(["fresh", "stale"]), help: "How current it is"),
            Setting("source", optional: .source, help: "Where it comes from"),
            Setting(
                "age", optional: .age, help: "How old it is, as exactly as it is written: 3h is 3 to under 4 hours"),
            Setting("fellBack", optional: .flag, help: "Whether it stands in for a call that failed or took too long"),
            Setting("error", optional: .code, help: "The code of the error there is instead of a value"),
            Setting("status", optional: .int(100...599), help: "The status of that error"),
            Setting("takes", optional: .moment, help: "How long the caller waits, exactly"),
            Setting("within", optional: .moment, help: "How long the caller waits at most"),
            Setting("calls", optional: .int(0...1_000_000), help: "How many calls the origin has had by then"),
            Setting(
                "answered", optional: .choice(["yes", "no", "either"]),
                help: "Whether there is a value; either also allows an error or no answer. A value is expected by "
                    + "default, unless an error is"),
            Setting("noOlderThan", optional: .moment, help: "The age that a value does not exceed"),
            Setting(
                "freshWithin", optional: .moment,
                help: "The age that a value does not exceed, unless the origin answers within this time"),
            Setting(
                "callsAtMost", optional: .int(0...1_000_000),
                help: "How many calls begin at most from the request on, also after its answer")
        ) {
            node, reading, value, freshness, source, age, fellBack, error, status, takes, within, calls, answered,
            noOlderThan, freshWithin, callsAtMost in
            let expectation = Expectation(
                value: value, freshness: freshness, source: source, age: age, fellBack: fellBack, error: error,
                status: status, takes: takes, within: within, calls: calls, answered: answered,
                noOlderThan: noOlderThan,
                freshWithin: freshWithin, callsAtMost: callsAtMost, node: node)
            expectation.check(reading)
            return expectation
        }
    }
}
