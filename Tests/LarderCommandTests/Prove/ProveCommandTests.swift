import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderCommand
@testable import LarderStories

@Suite struct ProveCommandTests {
    /// A folder with one policy, whose promises are `promises`.
    static func folder(_ promises: String, policy: String = small) throws -> Folder {
        let folder = try Folder()
        try folder.write(policy.replacing("PROMISES", with: promises), to: "prices.json")
        return folder
    }

    static let small = """
        { "resource": "prices", "origin": { "use": "sample", "payload": "catalog" },
          "around": [{ "use": "retry", "retries": 1, "backoff": "500ms" }, { "use": "timeout", "after": "2s" }],
          "strategy": { "use": "network-first", "patience": "1s" },
          "validators": [{ "use": "age", "fresh": "5m", "onError": "6h" }],
          "store": "memory",
          "promises": PROMISES }
        """

    @Test func sixHoursAreRefutedByACopyOfSixHoursAndFiveMinutes() async throws {
        let folder = try Self.folder(#"{ "neverOlderThan": "6h" }"#)
        let output = await Output(["prove", "--policies", folder.path])
        #expect(output.code == 1)
        #expect(
            output.out.contains(
                "\n  ✗ neverOlderThan 6h: refuted: the origin fails while the copy is 6h 4m 59s old: the copy is shown "
                    + "after 500ms, 6h 4m 59.5s old\n      it would hold with \"365m\" (6h 5m)\n"), "\(output.out)")
    }

    @Test func promisesThatHoldAreProvedWithTheirNumberOfSituations() async throws {
        let folder = try Self.folder(#"{ "neverOlderThan": "365m", "waits": "1s", "callsPerLoad": 2 }"#)
        let output = await Output(["prove", folder.path + "/prices.json"])
        #expect(output.code == 0, "\(output.out)\(output.err)")
        let lines = output.out.split(separator: "\n")
        #expect(lines.count == 4 && lines[0].hasPrefix("prices: "))
        for (line, name) in zip(lines.dropFirst(), ["neverOlderThan 6h 5m", "waits 1s", "callsPerLoad 2"]) {
            #expect(line.hasPrefix("  ✓ \(name): proved for ") && line.hasSuffix(" situations"), "\(line)")
        }
    }

    @Test func refutationsFailAsScenariosAndPassWhenThePromiseIsLoosened() async throws {
        let folder = try Self.folder(
            #"{ "neverOlderThan": "1h", "waits": "900ms", "waitsAtMost": "4s", "callsPerLoad": 1, "freshWithin": "1m" }"#,
            policy: Self.small.replacing("network-first", with: "cache-first"))
        let out = folder.path + "/Refuted"
        let output = await Output(["prove", "--policies", folder.path, "--out", out, "--json"])
        #expect(output.code == 1)
        let told = try Facts(output.out).items[0]
        #expect(told["proved"].isTrue == false && told["complete"].isTrue == true)
        let refuted = told["promises"].items.filter { $0["proved"].isTrue == false }
        #expect(refuted.count == 5)
        let played = await Output(["test", "--policies", folder.path, out])
        #expect(played.code == 1)
        #expect(played.out.hasSuffix("5 scenarios in 1 file: 0 passed, 5 failed\n"), "\(played.out)")

        let proof = try PromiseProof(of: "prices", in: folder.url)
        let loosened = proof.verdicts.compactMap { verdict in
            verdict.refutation?.needed.flatMap { proof.scenario(of: verdict, promising: $0) }
        }
        #expect(loosened.count == 5)
        let file: JSON = ["resource": "prices", "scenarios": .list(loosened)]
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "Loosened"), withIntermediateDirectories: true)
        try folder.write(file.text(), to: "Loosened/prices.json")
        let passed = await Output(["test", "--policies", folder.path, folder.path + "/Loosened"])
        #expect(passed.code == 0, "\(passed.out)")
    }

    @Test func checkReportsABrokenPromiseWhereItIsWritten() async throws {
        let folder = try Self.folder(#"{ "callsPerLoad": 1 }"#)
        let output = await Output(["check", folder.path])
        #expect(output.code == 1)
        #expect(
            output.out.contains(
                "prices.json:6:33: error: this promise is broken: callsPerLoad 1: refuted: the origin fails while there is "
                    + "no copy: the load causes 2 calls; it would hold with 2 [at $.promises.callsPerLoad]"),
            "\(output.out)")
        #expect(await Output(["check", folder.path, "--no-prove"]).code == 0)
    }

    @Test func contradictoryAndEmptyPromisesAreErrors() async throws {
        let conflicting = try Self.folder(#"{ "neverOlderThan": "1h", "offlineFor": "2h" }"#)
        let both = await Output(["check", conflicting.path, "--no-prove"])
        #expect(both.out.contains("without network only copies can be shown"), "\(both.out)")
        let without = try Self.folder("{}")
        let empty = await Output(["check", without.path, "--no-prove"])
        #expect(empty.out.contains("there is no promise; expected at least one promise"), "\(empty.out)")
    }

    @Test func restartRefutesOfflineTimeOfAStoreInMemory() throws {
        let folder = try Self.folder(#"{ "offlineFor": "1h" }"#)
        let proof = try PromiseProof(of: "prices", in: folder.url)
        #expect(proof.verdicts.first?.refutation?.story.load.isRestarted == true)
        let kept = try Self.folder(
            #"{ "offlineFor": "364m" }"#,
            policy: Self.small.replacing("\"memory\"", with: #"{ "use": "file", "limit": "1s" }"#))
        #expect(try PromiseProof(of: "prices", in: kept.url).isProved)
    }

    @Test func policyWithoutPromisesIsSaidToHaveNone() async throws {
        let policy = Self.small.replacing(",\n  \"promises\": PROMISES", with: "")
        let folder = try Self.folder("", policy: policy)
        let output = await Output(["prove", folder.path + "/prices.json"])
        #expect(output.code == 0 && output.out == "prices: no promises\n", "\(output.out)\(output.err)")
        #expect(await Output(["prove", "--policies", folder.path]).out.isEmpty)
    }

    @Test func situationIsPlayedAsTheUserSeesIt() throws {
        let folder = try Self.folder(#"{ "waits": "1s" }"#)
        let player = try StoryPlayer(of: "prices", in: folder.url)
        let hanging = Story().with { $0.origin = [.init(.hangs)] }
        let alone = try player.play(hanging)
        #expect(alone.ending == .error(code: "timeout", status: nil) && alone.waited == .milliseconds(4_500))
        #expect(alone.calls == 2)
        let withCopy = try player.play(hanging.with { $0.copy = .init(age: .seconds(3_600)) })
        #expect(withCopy.age == .seconds(3_601) && withCopy.waited == .seconds(1) && !withCopy.isLive)
        let live = try player.play(Story().with { $0.origin = [.init(.value, after: .milliseconds(300))] })
        #expect(live.age == .zero && live.isLive && live.refreshedAfter == .milliseconds(300))
        let restarted = Story().with { situation in
            situation.earlier = [.init(before: .seconds(60))]
            situation.earlierOrigin = [.init(.value)]
            situation.origin = [.init(.unreachable)]
        }
        #expect(try player.play(restarted).age == .seconds(60) + .milliseconds(500))
        #expect(try !player.play(restarted.with { $0.load.isRestarted = true }).isAnswered)
    }
}
