import Larder
import Testing

@testable import LarderCommand
@testable import LarderSimulation
@testable import LarderStories

/// Proofs of policies with unusual times, many tries, or promises that must not change one another.
@Suite struct UnusualPolicyProofTests {
    private static func folder(
        _ promises: String, around: String = #"{ "use": "timeout", "after": "2s" }"#,
        strategy: String = #"{ "use": "stale-while-revalidate", "patience": "1s" }"#,
        age: String = #""fresh": "100ms", "whileRevalidating": "1h", "onError": "1h""#, store: String = #""memory""#
    ) throws -> Folder {
        try ProveCommandTests.folder(
            promises,
            policy: """
                { "resource": "prices", "origin": { "use": "sample", "payload": "catalog" }, "around": [\(around)],
                  "strategy": \(strategy), "validators": [{ "use": "age", \(age) }], "store": \(store),
                  "promises": PROMISES }
                """)
    }

    /// Wrappers with so many times that a policy is too large to be proved.
    private static let tooMany =
        ([#""retry""#] + (1...90).map { #"{ "use": "timeout", "after": "\#(9_000 - $0 * 77)ms" }"# })
        .joined(separator: ", ")
    private static let file = #"{ "use": "file", "limit": "50ms" }"#

    @Test(arguments: [
        (#"{ "freshWithin": "500ms" }"#, #""memory""#),
        (#"{ "freshWithin": "500ms", "waits": "400ms" }"#, #""memory""#),
        (#"{ "freshWithin": "500ms", "waitsAtMost": "400ms" }"#, #""memory""#), (#"{ "freshWithin": "500ms" }"#, file),
    ])
    func refreshThatFollowsTooLateRefutesFreshness(_ promises: String, _ store: String) throws {
        let folder = try Self.folder(promises, store: store)
        let proof = try PromiseProof(of: "prices", in: folder.url)
        let verdict = try #require(proof.verdicts.last { $0.promise == "freshWithin" })
        // An answer is in time as long as it comes before the patience ends.
        let origin = verdict.refutation?.story.origin
        #expect(origin == [.init(.value, after: .milliseconds(999))], "\(proof)")
    }

    @Test func answerForAnotherInstanceIsNoHistoryOfThisOne() throws {
        let around = #"{ "use": "limit", "concurrent": 1 }, { "use": "timeout", "after": "2s" }"#
        let folder = try Self.folder(
            #"{ "offlineFor": "1h", "waitsAtMost": "1m" }"#, around: around, strategy: #""network-first""#,
            age: #""fresh": "1h", "onError": "6h""#, store: #"{ "use": "file", "limit": "1s" }"#)
        #expect(try PromiseProof(of: "prices", in: folder.url).isProved)
    }

    @Test func timesThatAreNotPlayedAreTold() throws {
        let folder = try Self.folder(#"{ "offlineFor": "4500d" }"#, age: #""fresh": "1d", "onError": "4000d""#)
        #expect(try PromiseProof(of: "prices", in: folder.url).gaps.contains("times of 3649d or more are not played"))
    }

    @Test(arguments: [
        (#"{ "use": "timeout", "after": "2s" }"#, #"{ "use": "network-first", "rest": "forever" }"#),
        (
            #"{ "use": "breaker", "failures": 1, "rest": "forever" }, { "use": "timeout", "after": "2s" }"#,
            #""network-first""#
        ),
    ])
    func restWithoutEndIsPlayed(_ around: String, _ strategy: String) async throws {
        let folder = try Self.folder(#"{ "waitsAtMost": "1m" }"#, around: around, strategy: strategy)
        let output = await Output(["prove", "--policies", folder.path])
        #expect(output.code == 0 && output.out.contains("✓ waitsAtMost 1m"), "\(output.out)\(output.err)")
        let other = try Self.folder(#"{ "waitsAtMost": "1m" }"#)
        let compared = await Output(["diff", other.path, folder.path, "--no-prove"])
        #expect(compared.code == 0, "\(compared.out)\(compared.err)")
    }

    @Test func promiseThatNoSituationConcernsIsNotToldAsProved() async throws {
        let folder = try Self.folder(#"{ "waits": "1s" }"#, strategy: #""network-only""#)
        let output = await Output(["prove", "--policies", folder.path])
        #expect(output.out.contains("  – waits 1s: not played\n"), "\(output.out)\(output.err)")
    }

    @Test(arguments: [2, 10]) func checkLeavesPoliciesWithManyTriesToProve(_ count: Int) async throws {
        let retries = Array(repeating: #"{ "use": "retry", "retries": 100, "backoff": "0s" }"#, count: count)
        let folder = try Self.folder(#"{ "waitsAtMost": "1m" }"#, around: retries.joined(separator: ", "))
        let output = await Output(["check", folder.path])
        #expect(
            output.err.hasSuffix("; not proved: the promises of prices (--prove proves them)\n"),
            "\(output.out)\(output.err)")
    }

    @Test func valueOfAnOriginThatLooksLikeATimeIsComparedAsText() async throws {
        func folder(_ value: String) throws -> Folder {
            let folder = try Folder()
            try folder.write(
                """
                { "resource": "prices", "origin": { "use": "constant", "value": "\(value)" },
                  "strategy": "network-only" }
                """, to: "prices.json")
            return folder
        }
        let (old, new) = (try folder("60s"), try folder("1m"))
        let output = await Output(["diff", old.path, new.path])
        #expect(output.out.contains(#"origin constant: value "60s" → "1m""#), "\(output.out)\(output.err)")
    }

    @Test func policyThatIsTooLargeToProveDoesNotKeepOthersFromBeingProved() async throws {
        let folder = try Self.folder(#"{ "waitsAtMost": "1m" }"#, around: Self.tooMany)
        try folder.write(
            ProveCommandTests.small.replacing(#""prices""#, with: #""stocks""#)
                .replacing("PROMISES", with: #"{ "callsPerLoad": 2 }"#), to: "stocks.json")
        let output = await Output(["prove", "--policies", folder.path])
        #expect(output.code == 1)
        #expect(output.out.hasPrefix("stocks: ") && output.out.contains("✓ callsPerLoad 2"), "\(output.out)")
        #expect(output.err.contains("prices.json: error: a proof would play too many situations"), "\(output.err)")
        let told = try Facts(await Output(["prove", "--policies", folder.path, "--json"]).out).items
        #expect(told.map { $0["resource"].value as? String } == ["stocks", "prices"])
        #expect(told.last?["proved"].isTrue == false)
        #expect(told.last?["problems"].items.count == 1)
    }

    @Test func callsAfterTheFirstHundredAreToldAsAGap() throws {
        let retries = Array(repeating: #"{ "use": "retry", "retries": 10, "backoff": "0s" }"#, count: 2)
        let folder = try Self.folder(#"{ "callsPerLoad": 200 }"#, around: retries.joined(separator: ", "))
        let policy = try SimulatedPolicy(of: "prices", in: folder.url)
        #expect(policy.gaps.contains("a load can make more than 100 calls, which are not all played"))
    }

    /// Three wrappers that make 1,331 calls for one load.
    private static let stacked = Array(repeating: #"{ "use": "retry", "retries": 10 }"#, count: 3)
        .joined(separator: ", ")

    @Test func stackedRetriesAreRefusedRatherThanProvedForMinutes() async throws {
        let folder = try Self.folder(#"{ "waitsAtMost": "1m" }"#, around: Self.stacked)
        let policy = try SimulatedPolicy(of: "prices", in: folder.url)
        #expect(PromiseProof.isTooLarge(policy))
        let output = await Output(["prove", "--policies", folder.path])
        #expect(output.code == 1)
        #expect(output.err.contains("make up to 1331 calls for one load, too many to play"), "\(output.err)")
    }

    @Test func stackedRetriesAreComparedByTheirSettingsAlone() async throws {
        let old = try Self.folder(#"{ "waitsAtMost": "1m" }"#, around: Self.stacked)
        let new = try Self.folder(
            #"{ "waitsAtMost": "1m" }"#, around: Self.stacked, age: #""fresh": "200ms", "onError": "1h""#)
        let output = await Output(["diff", old.path, new.path])
        #expect(output.out.contains("fresh 100ms → 200ms"), "\(output.out)")
        #expect(output.out.contains("no situations are compared: wrappers that repeat"), "\(output.out)")
        #expect(output.out.contains("so promises are not compared"), "\(output.out)")
    }

    @Test func twoStackedRetriesAreProved() throws {
        let retries = Array(repeating: #"{ "use": "retry", "retries": 10, "backoff": "0s" }"#, count: 2)
        let folder = try Self.folder(#"{ "callsPerLoad": 200 }"#, around: retries.joined(separator: ", "))
        let policy = try SimulatedPolicy(of: "prices", in: folder.url)
        #expect(!PromiseProof.isTooLarge(policy))
    }

    /// The advice must fit the reason for which no time is short enough, not another one.
    @Test(arguments: [
        (ProveCommandTests.small, "keep copies in a store outside the memory of the process"),
        (
            ProveCommandTests.small.replacing(
                #"{ "use": "network-first", "patience": "1s" }"#, with: #""network-only""#),
            "keep copies in a store, and permit them on errors"
        ),
    ])
    func adviceSaysWhyNoTimeWithoutNetworkIsShortEnough(_ policy: String, _ advice: String) async throws {
        let folder = try ProveCommandTests.folder(#"{ "offlineFor": "8h" }"#, policy: policy)
        let output = await Output(["prove", "--policies", folder.path])
        #expect(output.out.contains("\n      no time is short enough: \(advice)\n"), "\(output.out)\(output.err)")
    }

    @Test func offlineTimeWithoutEndIsPlayed() async throws {
        let store = #"{ "use": "file", "limit": "50ms" }"#
        let folder = try Self.folder(
            #"{ "offlineFor": "forever" }"#, age: #""fresh": "100ms", "onError": "forever""#, store: store)
        let output = await Output(["prove", "--policies", folder.path])
        #expect(output.out.contains("✓ offlineFor forever: proved for"), "\(output.out)\(output.err)")
        let other = try Self.folder(#"{ "offlineFor": "forever" }"#, store: store)
        let refuted = await Output(["prove", "--policies", other.path])
        // The copy is refused after an hour and 100 ms, and an origin that hangs is waited for two seconds.
        #expect(refuted.out.contains("it would hold with \"3598100ms\""), "\(refuted.out)\(refuted.err)")
    }

    @Test func promisedAgeNearTheLongestTimeIsProved() throws {
        let folder = try Self.folder(
            #"{ "neverOlderThan": "87596h" }"#, strategy: #""cache-first""#, age: #""fresh": "87594h""#)
        let proof = try PromiseProof(of: "prices", in: folder.url)
        #expect(proof.isProved && proof.gaps == ["times of 3649d or more are not played"], "\(proof)")
    }

    @Test func differencesOfPoliciesThatAreTooLargeToProveAreTold() async throws {
        let old = try Self.folder(#"{ "waitsAtMost": "1m" }"#, around: Self.tooMany)
        let new = try Self.folder(
            #"{ "waitsAtMost": "1m" }"#, around: Self.tooMany,
            strategy: #"{ "use": "stale-while-revalidate", "patience": "2s" }"#)
        let output = await Output(["diff", old.path, new.path])
        let isTold = ["patience 1s → 2s", "a proof would play too many situations, so promises are not compared"]
            .allSatisfy(output.out.contains)
        #expect(isTold, "\(output.out)\(output.err)")
    }

    @Test func loadThatNeverEndsIsToldAsSuch() async throws {
        let folder = try Self.folder(#"{ "waitsAtMost": "1m" }"#, around: "")
        let output = await Output(["prove", "--policies", folder.path])
        #expect(output.out.contains("\n      the load never ends: put a timeout around the origin"), "\(output.out)")
    }

    @Test func copiesWereThereBeforeEarlierLoads() throws {
        let store = #"{ "use": "tiered", "tiers": ["memory", \#(Self.file)] }"#
        let folder = try Self.folder(#"{ "waits": "1s" }"#, store: store)
        let space = SituationSpace(try SimulatedPolicy(of: "prices", in: folder.url))
        let earlier = space.all.filter { $0.copy != nil && !$0.earlier.isEmpty }
        for situation in earlier + (earlier.last.map(space.nearby) ?? []) {
            for age in [situation.copy?.age, situation.copy?.ageAbove].compactMap({ $0 }) {
                #expect(age > situation.lead, "\(situation.inWords)")
            }
        }
        #expect(!earlier.isEmpty)
    }
}
