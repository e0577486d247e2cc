import LarderFoundation
import Larder
import LarderSystem
import Testing

@testable import LarderSimulation
@testable import LarderStories

/// Proofs play a situation only if it can end in another way than one that was played.
@Suite struct PlayedSituationsTests {
    private static let policy = """
        { "resource": "prices", "origin": { "use": "sample", "payload": "catalog" },
          "around": [{ "use": "retry", "retries": 1, "backoff": "250ms" }, { "use": "timeout", "after": "1s" }],
          "strategy": { "use": "cache-first", "patience": "700ms" },
          "validators": [{ "use": "age", "fresh": "1m", "onError": "1h" }],
          "store": { "use": "tiered", "tiers": ["memory", { "use": "file", "limit": "500ms" }] },
          "promises": { "callsPerLoad": 2 } }
        """

    @Test func situationsThatAreNotPlayedAgainEndAsTheyWouldIfPlayed() throws {
        let folder = try ProveCommandTests.folder("", policy: Self.policy)
        let policy = try SimulatedPolicy(of: "prices", in: folder.url)
        let player = try StoryPlayer(policy)
        let kinds = Dictionary(grouping: SituationSpace(policy).all, by: \.withoutOriginAndFaults)
        // Every seventh kind is enough, and takes a second.
        let some = kinds.values.sorted { $0[0].size < $1[0].size }.enumerated().filter { $0.offset % 7 == 0 }
        let situations = some.flatMap(\.element)
        let played = try PlayedSituations(situations, of: policy)
        #expect(played.all.map(\.situation) == situations)
        #expect(played.plays < situations.count)
        for (situation, seen) in played.all {
            #expect(try player.play(situation) == seen, "\(situation.inWords)")
        }
    }

    @Test func factsThatWereAskedForMakeADifference() throws {
        let folder = try ProveCommandTests.folder("", policy: Self.policy)
        let player = try StoryPlayer(of: "prices", in: folder.url)
        let stale = Story().with { ($0.copy, $0.origin) = (.init(age: .seconds(120)), [.init(.hangs)]) }
        let used = try player.playTellingFacts(stale).used
        // The timeout cancels both tries after a second, so later answers are never seen.
        #expect(used.agree(stale, stale.with { $0.origin = [.init(.value, after: .milliseconds(1_001))] }))
        #expect(!used.agree(stale, stale.with { $0.origin = [.init(.value, after: .milliseconds(1_000))] }))
        #expect(!used.agree(stale, stale.with { $0.origin = [.init(.hangs, calls: 1), .init(.value)] }))
        #expect(used.agree(stale, stale.with { $0.origin = [.init(.hangs, calls: 2), .init(.value)] }))
        // Nothing is saved.
        #expect(used.agree(stale, stale.with { $0.stores = [.init(.changes, .fails)] }))
        #expect(!used.agree(stale, stale.with { $0.stores = [.init(.reads, .fails)] }))

        // A fresh copy in memory is all that is asked for.
        let fresh = stale.with { $0.copy?.age = .seconds(1) }
        let usedFresh = try player.playTellingFacts(fresh).used
        let others = fresh.with {
            ($0.origin, $0.stores) = ([.init(.value)], [.init(.reads, .hangs), .init(.changes, .fails)])
        }
        #expect(usedFresh.agree(fresh, others))

        let missing = stale.with { $0.copy = nil }
        let usedWithout = try player.playTellingFacts(missing).used
        #expect(!usedWithout.agree(missing, missing.with { $0.stores = [.init(.reads, .hangs)] }))
        #expect(usedWithout.agree(missing, missing.with { $0.stores = [.init(.changes, .hangs)] }))
    }

    @Test func neededLimitsAreWholeMillisecondsThatAreEnough() {
        func rule(_ name: String, isShortened: Bool = false) -> PromiseRule {
            PromiseRule(name: name, limit: .time(.zero), isShortened: isShortened) { _ in
                true
            } needed: { _, _ in
                nil
            }
        }
        let needed = NeededLimit.time(.microseconds(7_500))
        #expect(needed.rounded(for: rule("waits")) == .time(.milliseconds(8)))
        #expect(NeededLimit.time(.milliseconds(7)).rounded(for: rule("waits")) == .time(.milliseconds(7)))
        // Ages are played up to a millisecond before the end of a window.
        #expect(needed.rounded(for: rule("neverOlderThan")) == .time(.milliseconds(9)))
        #expect(needed.rounded(for: rule("offlineFor", isShortened: true)) == .time(.milliseconds(7)))
        #expect(NeededLimit.calls(2).rounded(for: rule("callsPerLoad")) == .calls(2))
    }
}
