import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderCommand

@Suite struct DiffCommandTests {
    static let small = ProveCommandTests.small.replacing(",\n  \"promises\": PROMISES", with: "")

    /// The output of a comparison of two texts.
    static func diff(_ old: String, _ new: String, _ options: String...) async throws -> Output {
        let folder = try Folder()
        try folder.write(old, to: "old.json")
        try folder.write(new, to: "new.json")
        return await Output(["diff", folder.path + "/old.json", folder.path + "/new.json"] + options)
    }

    /// The lines of a comparison in which one text of the small policy is replaced.
    private static func lines(_ old: String, _ new: String, in policy: String = small) async throws -> [String] {
        let changed = policy.replacing(old, with: new)
        #expect(changed != policy)
        let output = try await diff(policy, changed)
        #expect(output.code == 0, "\(output.err)")
        return output.out.split(separator: "\n").map(String.init)
    }

    @Test func longerPatienceChangesTheTimeAndTheValueOfSlowLoads() async throws {
        let lines = try await Self.lines(#""patience": "1s""#, #""patience": "1500ms""#)
        #expect(
            lines.dropLast() == [
                "prices", "  changed  strategy network-first: patience 1s → 1500ms",
                "  the origin answers after 1s to 1.5s, copy younger than 6h 5m: copy after 1s → the origin's answer",
                "  the origin answers after more than 1.5s or never, copy younger than 6h 5m: copy after 1s → after 1.5s",
            ], "\(lines)")
        #expect(lines.last?.contains(" situations differ") == true)
    }

    @Test func longerWindowOnErrorsIsToldOnceForEachKindOfOutage() async throws {
        let lines = try await Self.lines(#""onError": "6h""#, #""onError": "7h""#)
        #expect(lines.contains("  changed  validators age: onError 6h → 7h"))
        let usual = lines.filter { $0.contains(", copy 6h 5m to 7h 5m old: ") }
        #expect(
            usual.sorted() == [
                "  offline, copy 6h 5m to 7h 5m old: error (failed) after 500ms, 2 calls → copy at once, no call",
                "  the origin answers after 1s to 2s, copy 6h 5m to 7h 5m old: the origin's answer → copy after 1s",
                "  the origin answers after more than 2s or never, copy 6h 5m to 7h 5m old: error (timeout) after 4.5s → copy "
                    + "after 1s",
                "  the origin fails at once, copy 6h 5m to 7h 5m old: error 503 after 500ms → copy after 500ms",
            ], "\(lines)")
        #expect(lines.count <= 20)
    }

    @Test func moreRetriesChangeCallsInAnOutage() async throws {
        let lines = try await Self.lines(#""retries": 1"#, #""retries": 2"#)
        #expect(
            lines.contains {
                $0.hasPrefix("  the origin fails at once, no copy") && $0.hasSuffix(", 2 calls → after 1.5s, 3 calls")
            }, "\(lines)")
    }

    @Test func policyThatIsOnlyWrittenOtherwiseGivesOneSentence() async throws {
        let same = """
            {
              "about": "The same in other words",
              "resource": "prices",
              "validators": [{ "fresh": "300s", "use": "age", "onError": "360m", "jitter": "0%" }],
              "store": { "use": "memory" },
              "strategy": { "patience": "1000ms", "use": "network-first" },
              "around": [{ "use": "retry", "backoff": "500ms", "retries": 1 }, { "after": "2000ms", "use": "timeout" }],
              "origin": { "payload": "catalog", "use": "sample" }
            }
            """
        let output = try await Self.diff(Self.small, same)
        let sentence = "no difference: the policies have the same settings\n"
        #expect(output.code == 0 && output.out == sentence, "\(output.out)\(output.err)")
        #expect(try await Self.diff(Self.small, same, "--format", "markdown").out == sentence)
        let json = try await Self.diff(Self.small, same, "--json")
        #expect(try Facts(json.out)["policies"].items.isEmpty)
    }

    @Test func changeThatNobodyNoticesSaysSo() async throws {
        let lines = try await Self.lines(#""payload": "catalog""#, #""payload": "feed""#)
        #expect(lines.dropLast() == ["prices", "  changed  origin sample: payload catalog → feed (not played)"])
        #expect(lines.last?.hasPrefix("  0 of ") == true, "\(lines)")
    }

    @Test func storeInMemoryForgetsCopiesAtEachRestart() async throws {
        let filed = Self.small.replacing("\"memory\"", with: #"{ "use": "file", "limit": "1s" }"#)
        let lines = try await Self.lines(#"{ "use": "file", "limit": "1s" }"#, "\"memory\"", in: filed)
        #expect(lines.contains("  store 'file': the copies in 'entries' are lost"), "\(lines)")
        #expect(
            lines.contains(
                "  offline, copy younger than 6h 5m, after a restart: copy at once, no call → error (failed) after 500ms, "
                    + "2 calls"), "\(lines)")
    }

    @Test func smallerStoreEvictsAndShorterLifetimeForgets() async throws {
        let large = #"{ "use": "file", "capacity": "20MB", "forgetAfter": "7d" }"#
        let filed = Self.small.replacing("\"memory\"", with: large)
        let lines = try await Self.lines(
            large, #"{ "use": "file", "capacity": "5MB", "forgetAfter": "1d" }"#, in: filed)
        #expect(
            lines.contains("  store 'file': capacity falls from 20MB to 5MB: what does not fit is evicted"), "\(lines)")
        #expect(lines.contains("  store 'file': copies older than 1d are forgotten"), "\(lines)")
    }

    @Test func wrapperThatIsAddedIsTold() async throws {
        let breaker = #"{ "use": "breaker", "failures": 3, "rest": "20s" }, "#
        let lines = try await Self.lines(#"[{ "use": "retry""#, "[\(breaker){ \"use\": \"retry\"")
        #expect(lines.contains("  changed  around breaker: added"))
        #expect(lines.contains { $0.contains(", 10s after the last of 3 failed loads: ") }, "\(lines)")
    }

    @Test func changedOrderOfWrappersIsNoMatterOfLayout() async throws {
        let swapped = Self.small.replacing(
            #"[{ "use": "retry", "retries": 1, "backoff": "500ms" }, { "use": "timeout", "after": "2s" }]"#,
            with: #"[{ "use": "timeout", "after": "2s" }, { "use": "retry", "retries": 1, "backoff": "500ms" }]"#)
        #expect(swapped != Self.small)
        let output = try await Self.diff(Self.small, swapped)
        #expect(output.out.contains("  changed  order of around: retry, timeout → timeout, retry\n"), "\(output.out)")
        #expect(output.out.contains("error (timeout) after 4.5s, 2 calls → after 2s, 1 call\n"), "\(output.out)")
    }

    @Test func retryThatIsRemovedLosesTheSecondTry() async throws {
        let lines = try await Self.lines(#"{ "use": "retry", "retries": 1, "backoff": "500ms" }, "#, "")
        #expect(
            lines.contains(
                "  the origin fails once, no copy or copy of 6h 5m or older: the origin's answer after 500ms → error 503 at "
                    + "once"), "\(lines)")
    }

    @Test func jitterIsToldWithTheAgesThatItChanges() async throws {
        let lines = try await Self.lines(#""fresh": "5m""#, #""fresh": "5m", "jitter": "10%""#)
        #expect(
            lines.contains {
                $0.hasPrefix("  offline, copy 4m 30s to 5m old, with the largest jitter: fresh copy at once")
            }, "\(lines)")
    }

    @Test func originOnTheDeviceIsNotPlayedAsANetwork() async throws {
        let lines = try await Self.lines(
            #"{ "use": "sample", "payload": "catalog" }"#, #"{ "use": "constant", "value": [1] }"#)
        #expect(
            lines.contains {
                $0.hasPrefix("  offline, no copy or copy of 6h 5m or older: error (failed)")
                    && $0.hasSuffix("→ the origin's answer at once, no call")
            }, "\(lines)")
    }

    @Test func fallbackIsCalledSo() async throws {
        let lines = try await Self.lines(
            #""store": "memory""#, #""store": "memory", "fallbacks": [{ "use": "constant", "value": [1] }]"#)
        #expect(lines.contains("  changed  fallbacks constant: added"))
        #expect(
            lines.contains {
                $0.hasPrefix("  the origin fails at once, no copy") && $0.hasSuffix("→ fallback after 500ms")
            }, "\(lines)")
    }

    @Test func copiesThatNewValidatorsRefuseAreForgotten() async throws {
        let versioned = Self.small.replacing(
            #""onError": "6h" }]"#, with: #""onError": "6h" }, { "use": "entry-version", "version": 1 }]"#
        ).replacing("\"memory\"", with: #"{ "use": "file", "limit": "1s" }"#)
        let lines = try await Self.lines(#""version": 1"#, #""version": 2"#, in: versioned)
        #expect(lines.contains("  the new policy refuses the copies that the old one kept"), "\(lines)")
    }

    @Test func markdownIsATableWithQuotedText() async throws {
        let changed = Self.small.replacing(#""patience": "1s""#, with: #""patience": "1500ms""#)
        let output = try await Self.diff(Self.small, changed, "--format", "markdown")
        #expect(
            output.out.hasPrefix(
                """
                ### prices

                - changed: strategy network-first: patience 1s → 1500ms

                | situation | before | after |
                |---|---|---|
                | the origin answers after 1s to 1.5s, copy younger than 6h 5m | copy after 1s | the origin's answer |

                """), "\(output.out)")
    }

    @Test func jsonHasEachDifferenceOnce() async throws {
        let changed = Self.small.replacing(#""patience": "1s""#, with: #""patience": "1500ms""#)
        let output = try await Self.diff(Self.small, changed, "--json")
        let policy = try #require(try Facts(output.out)["policies"].items.first)
        #expect(policy["resource"].text == "\"prices\"")
        #expect(policy["differences"].items.map { $0["old"].text } == ["\"copy after 1s\"", "\"copy after 1s\""])
        #expect(policy["differences"].items.map { $0["new"].text } == ["\"the origin's answer\"", "\"after 1.5s\""])
    }

    @Test func foldersTellPoliciesThatAreAddedAndRemoved() async throws {
        let (old, new) = (try Folder(), try Folder())
        for name in ["prices", "gone"] { try old.write(Self.small.replacing("prices", with: name), to: name + ".json") }
        for name in ["prices", "fresh"] {
            try new.write(Self.small.replacing("prices", with: name), to: name + ".json")
        }
        let output = await Output(["diff", old.path, new.path])
        #expect(
            output.out
                == "fresh: new\ngone: removed; its copies are deleted after a week in which they are not used\n")
    }

    @Test func fileIsComparedWithThePolicyOfItsResourceInAFolder() async throws {
        let folder = try Folder()
        try folder.write(Self.small, to: "prices.json")
        try folder.write(Self.small.replacing("prices", with: "other"), to: "other.json")
        let changed = try Folder()
        try changed.write(Self.small.replacing("1s", with: "1500ms"), to: "prices.json")
        let output = await Output(["diff", changed.path + "/prices.json", folder.path])
        #expect(output.out.hasPrefix("prices\n"), "\(output.out)\(output.err)")
        let renamed = try Folder()
        try renamed.write(Self.small.replacing("prices", with: "costs"), to: "costs.json")
        let single = try Folder()
        try single.write(Self.small, to: "prices.json")
        let both = await Output(["diff", single.path, renamed.path])
        #expect(both.out.hasPrefix("costs: new\nprices: removed; "), "\(both.out)")
        let files = await Output(["diff", single.path + "/prices.json", renamed.path + "/costs.json"])
        #expect(files.out.hasPrefix("costs\n  changed  resource: prices → costs\n"), "\(files.out)")
        try changed.write(Self.small.replacing("prices", with: "strange"), to: "strange.json")
        let strange = await Output(["diff", changed.path + "/strange.json", folder.path])
        #expect(strange.code == 1)
        #expect(strange.err == "larder: there is no other policy for strange; there are: other, prices\n")
    }

    @Test func wrongOperandsAreErrors() async throws {
        #expect(await Output(["diff"]).code == 2)
        let broken = try await Self.diff(Self.small, Self.small.replacing("patience", with: "patiense"))
        #expect(broken.code == 1 && broken.err.contains("did you mean 'patience'?"), "\(broken.err)")
    }

    @Test(arguments: ["text", "markdown", "json"]) func secretsInPoliciesAreNotPrinted(_ format: String) async throws {
        func policy(_ secret: String) -> String {
            """
            { "resource": "prices", "strategy": "network-only",
              "origin": { "use": "http", "url": "https://a.example/x?sig=\(secret)", "fields": { "X-Token": "\(secret)" } } }
            """
        }
        let output = try await Self.diff(policy("s3cret"), policy("s3cret2"), "--format", format, "--no-prove")
        #expect(output.code == 0 && !"\(output)".contains("s3cret"), "\(output)")
        #expect(output.out.contains("url ") && output.out.contains("•••"), "\(output)")
    }
}
