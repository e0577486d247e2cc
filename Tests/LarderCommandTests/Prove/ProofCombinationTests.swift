import Testing

@testable import LarderCommand
@testable import LarderSimulation
@testable import LarderStories

/// Combinations of facts without which a proof would call a limit enough that is not. Random histories found them.
@Suite struct ProofCombinationTests {
    private static let sample = #"{ "use": "sample", "payload": "catalog" }"#

    private static func proof(
        _ promises: String, origin: String = sample, around: String = #"[{ "use": "timeout", "after": "2s" }]"#,
        strategy: String = #""cache-first""#, validators: String, store: String = #""memory""#, fallbacks: String = "[]"
    ) throws -> PromiseProof {
        let folder = try ProveCommandTests.folder(
            promises,
            policy: """
                { "resource": "prices", "origin": \(origin), "around": \(around), "strategy": \(strategy),
                  "validators": [\(validators)], "store": \(store), "fallbacks": \(fallbacks), "promises": PROMISES }
                """)
        return try PromiseProof(of: "prices", in: folder.url)
    }

    @Test func allMirrorsFailBeforeTheNextTryHangs() throws {
        let proof = try Self.proof(
            #"{ "waitsAtMost": "1s" }"#,
            origin: #"{ "use": "mirrors", "origins": [\#(Self.sample), \#(Self.sample)] }"#,
            around: #"[{ "use": "retry", "retries": 1, "backoff": "200ms" }, { "use": "timeout", "after": "6s" }]"#,
            strategy: #"{ "use": "cache-first", "rest": "0s" }"#, validators: #""checksum""#)
        // The first try takes six seconds, the pause a minute, and the second try six seconds.
        #expect(proof.verdicts.first?.refutation?.needed == .time(.seconds(72)), "\(proof)")
    }

    @Test func tierBelowACopyFromTheFutureHangs() throws {
        let proof = try Self.proof(
            #"{ "waits": "1s" }"#, strategy: #""network-first""#,
            validators: #"{ "use": "age", "fresh": "1h", "onError": "1h" }"#,
            store: #"{ "use": "tiered", "tiers": ["memory", "file", { "use": "sqlite", "limit": "3s" }] }"#)
        let refutation = try #require(proof.verdicts.first?.refutation)
        #expect(refutation.needed == nil, "\(proof)")
    }

    @Test func tierHangsBetweenBordersThatAreNearEachOther() throws {
        let proof = try Self.proof(
            #"{ "waits": "1ms" }"#, around: #"[{ "use": "timeout", "after": "3ms" }]"#, strategy: #""race""#,
            validators: #"{ "use": "age", "fresh": "3ms", "whileRevalidating": "540ms", "onError": "15ms" }"#,
            store: #"{ "use": "tiered", "tiers": ["memory", { "use": "sqlite", "limit": "5ms" }] }"#)
        // The tier is asked twice.
        #expect(proof.verdicts.first?.refutation?.needed == .time(.milliseconds(10)), "\(proof)")
    }

    @Test func fallbackHangsAfterTheDeadlineWasOver() throws {
        let proof = try Self.proof(
            #"{ "waits": "2s" }"#, around: "[]", strategy: #""cache-only""#,
            validators: #"{ "use": "age", "fresh": "1h" }"#, store: #"{ "use": "file", "limit": "2s" }"#,
            fallbacks: "[\(Self.sample)]")
        let situation = try #require(proof.verdicts.first?.refutation?.story)
        #expect(situation.load.deadline != nil && situation.origin.first?.ending == .hangs, "\(proof)")
    }

    @Test func copyIsConfirmedWhileALowerTierIsSlow() throws {
        let proof = try Self.proof(
            #"{ "neverOlderThan": "10ms" }"#, validators: #"{ "use": "age", "fresh": "0s" }"#,
            store: #"{ "use": "tiered", "tiers": ["memory", { "use": "file", "limit": "500ms" }] }"#)
        // The tier does not have the entry that it renews, so that it is written: twice just less than half a second.
        #expect(proof.verdicts.first?.refutation?.needed == .time(.milliseconds(999)), "\(proof)")
    }

    @Test func failuresOfRepeatedCallsAreNotCompletelyPlayed() throws {
        let (hedge, retry) = (#"{ "use": "hedge", "after": "1s" }"#, #"{ "use": "retry", "retries": 1 }"#)
        let breaker = #"{ "use": "breaker", "failures": 2, "rest": "1s" }"#
        func gaps(_ around: String...) throws -> [String] {
            try Self.proof(
                #"{ "callsPerLoad": 4 }"#, around: "[\(around.joined(separator: ", "))]", strategy: #""network-only""#,
                validators: #""checksum""#, store: #""none""#
            ).gaps
        }
        let gap =
            "wrapper 'breaker' counts failures of calls that 'hedge' and 'retry' repeat, whose times are not all played"
        #expect(try gaps(hedge, retry, breaker) == [gap])
        #expect(try gaps(hedge, breaker, retry).isEmpty)
        #expect(try gaps(breaker, hedge, retry).isEmpty)
    }

    @Test func clockIsSetBackBehindACopyThatStoresSoonForget() throws {
        let proof = try Self.proof(
            #"{ "waits": "1ms" }"#, strategy: #"{ "use": "stale-while-revalidate", "patience": "41ms" }"#,
            validators: "", store: #"{ "use": "file", "limit": "364ms", "forgetAfter": "26ms" }"#)
        let needed = try #require(proof.verdicts.first?.refutation?.needed)
        // The store is slow, and the copy is not forgotten, because it seems to come from the future.
        #expect(needed == .time(.milliseconds(363)), "\(proof)")
    }

    @Test func damagedTierIsSlowToKeepACopyThatIsConfirmed() throws {
        let proof = try Self.proof(
            #"{ "freshWithin": "1ms" }"#, strategy: #"{ "use": "cache-first", "rest": "0s" }"#,
            validators: #"{ "use": "age", "fresh": "47ms" }"#,
            store: #"{ "use": "tiered", "tiers": ["memory", { "use": "file", "limit": "310ms" }] }"#)
        // The tier does not have the entry that it renews, so that it is written: twice 309 ms.
        #expect(proof.verdicts.first?.refutation?.needed == .time(.milliseconds(619)), "\(proof)")
    }

    /// With one exception: the oldest copy is older than anything promised.
    @Test(arguments: [
        (#"{ "waits": "1ms" }"#, #"{ "waits": "200ms" }"#),
        (#"{ "waits": "1h", "waitsAtMost": "2h" }"#, #"{ "waits": "3s", "waitsAtMost": "1m" }"#),
        (
            #"{ "neverOlderThan": "5m", "freshWithin": "77m", "callsPerLoad": 9 }"#,
            #"{ "neverOlderThan": "5d", "freshWithin": "9s", "callsPerLoad": 1 }"#
        ),
    ])
    func situationsDoNotDependOnTheLimits(_ promises: String, _ others: String) throws {
        func situations(_ promises: String) throws -> (number: Int, ages: Set<Duration>) {
            let folder = try ProveCommandTests.folder(
                promises,
                policy: ProveCommandTests.small.replacing(#""memory""#, with: #"{ "use": "file", "limit": "500ms" }"#))
            let policy = try SimulatedPolicy(of: "prices", in: folder.url)
            let ages = SituationSpace(policy).all.compactMap(\.copy?.age)
            let number = try PromiseProof(of: "prices", in: folder.url).situations
            return (number, Set(ages.filter { $0 < .seconds(7 * 3_600) }))
        }
        let (one, another) = (try situations(promises), try situations(others))
        #expect(one == another)
    }

    @Test(arguments: [("2199ms", false), ("2200ms", true)])
    func answerThatWasNotSavedIsMissedWhenTheClockIsSetBack(_ limit: String, isKept: Bool) throws {
        let proof = try Self.proof(
            "{ \"waits\": \"\(limit)\" }", around: #"[{ "use": "timeout", "after": "6s" }]"#,
            strategy: #"{ "use": "stale-while-revalidate", "patience": "2200ms" }"#,
            validators: #"{ "use": "age", "fresh": "3700ms", "whileRevalidating": "56ms" }"#,
            store: #"{ "use": "file", "limit": "990ms" }"#)
        // The store has an older copy than the one that was shown. The origin is asked for as long as the patience lasts.
        #expect(proof.isProved == isKept, "\(proof)")
        let situation = proof.verdicts.first?.refutation?.story
        #expect(isKept || situation?.stores == [.init(.changes, .fails)], "\(proof)")
    }

    @Test func originFailsRightBeforeTheStoreIsReadAgain() throws {
        let proof = try Self.proof(
            #"{ "waits": "1s" }"#, around: "[]", strategy: #"{ "use": "cache-first", "patience": "1s" }"#,
            validators: #"{ "use": "age", "fresh": "1m", "onError": "1h" }"#,
            store: #"{ "use": "sqlite", "limit": "2s" }"#)
        // The origin fails 2,999 ms after the first read: the patience of 1,000 ms and the second read of 1,999 ms. Then the
        // store is read a third time: 1,999 + 2,999 + 1,999 ms.
        #expect(proof.verdicts.first?.refutation?.needed == .time(.milliseconds(6_997)), "\(proof)")
    }
}
