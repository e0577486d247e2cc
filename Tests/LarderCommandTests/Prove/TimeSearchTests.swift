import Larder
import Testing

@testable import LarderSimulation
@testable import LarderStories

/// Proofs change the times of the worst situations as long as that makes them worse.
@Suite struct TimeSearchTests {
    private static let sample = #"{ "use": "sample", "payload": "catalog" }"#

    private static func policy(origin: String = sample, around: String = "[]") throws -> SimulatedPolicy {
        let folder = try ProveCommandTests.folder(
            "",
            policy: """
                { "resource": "prices", "origin": \(origin), "around": \(around),
                  "strategy": { "use": "network-first", "rest": "0s" },
                  "validators": [{ "use": "age", "fresh": "1m", "onError": "100s" }], "store": "memory",
                  "promises": { "neverOlderThan": "1s", "waits": "1s", "waitsAtMost": "1s" } }
                """)
        return try SimulatedPolicy(of: "prices", in: folder.url)
    }

    /// Returns what is seen in the situations that a search plays.
    private static func searched(
        _ situation: Story, for promise: String, of plan: SimulatedPolicy
    ) throws -> [ObservedLoad] {
        let player = try StoryPlayer(plan)
        let promises = try #require(plan.promises)
        let rules = PromiseRule.rules(of: promises, soon: plan.timeToAnswer, oldest: plan.oldest)
        let rule = try #require(rules.first { $0.name == promise })
        let needed = try #require(rule.needed(situation, try player.play(situation)))
        var search = TimeSearch(
            rule, of: plan, played: PlayedSituations(of: plan), copies: CopiesThatMayBeShown(of: plan))
        return try search.worsen(situation, needing: needed).map { try player.play($0) }
    }

    private static func oldest(_ seen: [ObservedLoad]) -> Duration? {
        seen.compactMap { if case .value(let age) = $0.ending { age } else { nil } }.max()
    }

    private let failing = [Story.OriginAct(.status(503))]

    @Test func oldestCopyIsFound() throws {
        let situation = Story().with { [failing] in ($0.copy, $0.origin) = (.init(age: .seconds(10)), failing) }
        let seen = try Self.searched(situation, for: "neverOlderThan", of: try Self.policy())
        #expect(Self.oldest(seen) == .milliseconds(159_999))
    }

    @Test func oldestAnswerOfAnEarlierLoadIsFound() throws {
        let situation = Story().with { [failing] in
            ($0.earlier, $0.earlierOrigin, $0.origin) = ([.init(before: .seconds(10))], [.init(.value)], failing)
        }
        let seen = try Self.searched(situation, for: "neverOlderThan", of: try Self.policy())
        #expect(Self.oldest(seen) == .milliseconds(159_999))
    }

    @Test func callUnderWayThatBeganLaterIsFound() throws {
        let plan = try Self.policy(around: #"[{ "use": "timeout", "after": "10s" }]"#)
        let situation = Story().with {
            ($0.earlier, $0.earlierOrigin) = ([.init(before: .seconds(5))], [.init(.hangs)])
        }
        // The load joins the call, and waits until its timeout.
        #expect(try StoryPlayer(plan).play(situation).waited == .seconds(5))
        let seen = try Self.searched(situation, for: "waitsAtMost", of: plan)
        #expect(seen.compactMap(\.waited).max() == .milliseconds(9_999))
    }

    @Test func loadIsNotMadeLongerThanItsCopyMayBeShown() throws {
        let slow = Story.OriginAct(.status(503), after: .seconds(30))
        let situation = Story().with { ($0.copy, $0.origin) = (.init(age: .seconds(90)), [slow]) }
        let seen = try Self.searched(situation, for: "waits", of: try Self.policy())
        // The copy may be shown for 70 seconds, and from then on loads fail. Longer ones are not looked at any further.
        let waits = seen.compactMap(\.waited)
        #expect(waits.contains { $0 > .seconds(69) && $0 < .seconds(160) }, "\(waits)")
        #expect(!waits.contains { $0 > .seconds(300) }, "\(waits)")
    }

    @Test func timesAreSearchedThoughTheOriginHangsAsLongAsItMay() throws {
        let origin = #"{ "use": "http", "url": "https://example.org/prices", "limit": "3s" }"#
        let plan = try Self.policy(origin: origin)
        let hanging = SituationSpace(plan).hanging
        #expect(hanging == .init(.unreachable, after: .seconds(3)))
        let situation = Story().with { ($0.copy, $0.origin) = (.init(age: .seconds(10)), [hanging]) }
        let seen = try Self.searched(situation, for: "neverOlderThan", of: plan)
        #expect(Self.oldest(seen) == .milliseconds(159_999))
    }
}
