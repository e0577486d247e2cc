import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderCommand
@testable import LarderStories

/// Kinds of situations without which a broken promise would look proved.
@Suite struct ProofSituationTests {
    private static func proof(
        _ promises: String, strategy: String = #""cache-first""#, validators: String, store: String = #""memory""#
    ) throws -> PromiseProof {
        let folder = try ProveCommandTests.folder(
            promises,
            policy: """
                { "resource": "prices", "origin": { "use": "sample", "payload": "catalog" },
                  "around": [{ "use": "timeout", "after": "2s" }], "strategy": \(strategy),
                  "validators": [\(validators)], "store": \(store), "promises": PROMISES }
                """)
        return try PromiseProof(of: "prices", in: folder.url)
    }

    @Test func copyIsOldestRightBeforeItIsRefreshedAhead() throws {
        let proof = try Self.proof(
            #"{ "freshWithin": "1m" }"#, strategy: #"{ "use": "cache-first", "refreshAhead": "80%" }"#,
            validators: #"{ "use": "age", "fresh": "10m" }"#)
        #expect(proof.verdicts.first?.refutation?.needed == .time(.seconds(480)), "\(proof)")
    }

    @Test func endOfOfflineTimeIsFoundThoughTheBorderIsNoWholeMillisecond() throws {
        let proof = try Self.proof(
            #"{ "offlineFor": "2h" }"#,
            validators: #"{ "use": "age", "fresh": "1000001ms", "onError": "1h", "jitter": "33%" }"#,
            store: #"{ "use": "file", "limit": "1s" }"#)
        // A call that hangs takes two seconds, and then the copy is shown.
        #expect(proof.verdicts.first?.refutation?.needed == .time(.milliseconds(4_268_001)), "\(proof)")
    }

    @Test func copiesOfAnyAgeBreakEveryLimit() throws {
        let proof = try Self.proof(
            #"{ "neverOlderThan": "365d" }"#, validators: #"{ "use": "entry-version", "version": 1 }"#)
        #expect(proof.verdicts.first?.refutation?.needed == nil && !proof.isProved, "\(proof)")
        #expect("\(proof)".contains("copies of any age are shown"), "\(proof)")
    }

    @Test func copyBelowAnEmptyTierIsReadSlowly() throws {
        let proof = try Self.proof(
            #"{ "waits": "0s" }"#, strategy: #""cache-only""#, validators: #"{ "use": "age", "fresh": "1h" }"#,
            store: #"{ "use": "tiered", "tiers": ["memory", { "use": "file", "limit": "500ms" }] }"#)
        #expect(proof.verdicts.first?.refutation?.needed == .time(.milliseconds(499)), "\(proof)")
    }

    @Test func copyInAWindowShorterThanASecondIsWaitedFor() throws {
        let proof = try Self.proof(
            #"{ "waits": "0s" }"#, validators: #"{ "use": "age", "fresh": "0s", "onError": "800ms" }"#,
            store: #"{ "use": "file", "limit": "100ms" }"#)
        #expect(proof.verdicts.first?.situations ?? 0 > 0 && !proof.isProved, "\(proof)")
    }

    @Test func clockThatIsSetBackRefutesOfflineTimeOfRefreshes() throws {
        let proof = try Self.proof(
            #"{ "offlineFor": "30m" }"#, strategy: #""stale-while-revalidate""#,
            validators: #"{ "use": "age", "fresh": "1h", "whileRevalidating": "1h" }"#,
            store: #"{ "use": "file", "limit": "1s" }"#)
        let situation = try #require(proof.verdicts.first?.refutation?.story)
        #expect(situation.load.clockBack > .zero && situation.load.mode == .refresh, "\(proof)")
    }

    @Test func answerThatIsSavedSlowlyIsNotNewInScenariosEither() async throws {
        let folder = try ProveCommandTests.folder(
            #"{ "neverOlderThan": "100ms" }"#,
            policy: ProveCommandTests.small.replacing("\"memory\"", with: #"{ "use": "file", "limit": "400ms" }"#)
                .replacing(#""fresh": "5m", "onError": "6h""#, with: #""fresh": "0s""#))
        let out = folder.path + "/Refuted"
        #expect(await Output(["prove", "--policies", folder.path, "--out", out]).code == 1)
        let played = await Output(["test", "--policies", folder.path, out])
        #expect(played.out.hasSuffix("1 scenario in 1 file: 0 passed, 1 failed\n"), "\(played.out)")
    }

    @Test func checkTellsWhichPromisesAreNotCompletelyProved() async throws {
        let policy = ProveCommandTests.small.replacing(
            #""around": ["#, with: #""around": [{ "use": "limit", "concurrent": 2 }, "#)
        let folder = try ProveCommandTests.folder(#"{ "callsPerLoad": 2 }"#, policy: policy)
        let output = await Output(["check", folder.path])
        #expect(output.code == 0 && output.err.contains("; not completely proved, as 'larder prove' tells: prices"))
        let complete = try ProveCommandTests.folder(#"{ "callsPerLoad": 2 }"#)
        #expect(await !Output(["check", complete.path]).err.contains("not completely proved"))
    }

    @Test func loadThatMayStillReadASlowStoreIsNotSaidToBeAnswered() {
        let answered = Story().with {
            ($0.earlier, $0.earlierOrigin) = ([.init(before: .seconds(3))], [.init(.value)])
        }
        let copy = "the origin answers at once while there is no copy"
        #expect(answered.inWords == copy + ", a load that began 3s earlier was answered")
        let slow = answered.with {
            $0.stores = [.init(.reads, .takes(.seconds(1)), tier: 1), .init(.reads, .takes(.seconds(2)), tier: 2)]
        }
        #expect(slow.inWords.hasSuffix(", a load began 3s earlier"), "\(slow.inWords)")
    }
}
