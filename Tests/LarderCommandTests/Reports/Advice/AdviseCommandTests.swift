import LarderFoundation
import Larder
import LarderSystem
@testable import LarderCore
import LarderSimulation
import Testing

@testable import LarderCommand
@testable import LarderReports

/// Tests of `larder advise`, and of `larder simulate --advice`.
@Suite struct AdviseCommandTests {
    private static let base = """
        { "validators": [{ "use": "age", "fresh": "1m", "onError": "10m" }], "store": { "use": "memory", "capacity": "20MB" } }
        """
    private static let catalog = """
        { "resource": "catalog", "extends": "_base.json", "origin": { "use": "sample", "payload": "catalog" },
          "strategy": { "use": "network-first", "patience": "300ms" } }
        """

    /// A folder with a policy, and a dump of a process that used it.
    private struct Place {
        let folder: Folder

        init(
            _ counts: (inout WhatIfCounts) -> Void, staleErrors: UInt64 = 0,
            policy text: String = AdviseCommandTests.catalog, others: [Counter: UInt64] = [:]
        ) throws {
            folder = try Folder()
            try folder.write(AdviseCommandTests.base, to: "_base.json")
            try folder.write(text, to: "catalog.json")
            let reader = PolicyReader(registry: .standard, folder: folder.path, environment: [:])
            let policy = try AdvisedPolicy(reader, file: "catalog.json").policy
            var metrics = ResourceMetrics()
            metrics[.loads] = max(1_000, staleErrors)
            metrics[.staleErrors] = staleErrors
            metrics[.failures] = staleErrors
            for (counter, count) in others { metrics[counter] = count }
            counts(&metrics.alternatives)
            var catalog = ResourceDump("catalog")
            catalog.revisions = [
                RevisionDump(
                    name: policy.revision, strategy: "network-first", isCurrent: true, metrics: metrics,
                    policy: AdvisedPolicy.json(policy))
            ]
            let dump = MetricsDump(
                host: nil, process: "shop", instance: "a", started: Dumps.noon, written: Dumps.noon + .seconds(3_600),
                resources: [catalog])
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: "dumps"), withIntermediateDirectories: true)
            try folder.write(dump.json.text(), to: "dumps/metrics.json")
        }

        /// 400 loads failed, and 300 of them would have been answered with a window of less than two hours.
        static func ofFailedLoads(promising promises: String? = nil, sections: String = "") throws -> Place {
            let section = promises.map { #"\#(sections), "promises": \#($0) }"# }
            return try Place(
                { counts in
                    for _ in 0..<300 { counts.refusedForAge.record(.seconds(7_000)) }
                    for _ in 0..<100 { counts.refusedForAge.record(.seconds(400 * 86_400)) }
                }, staleErrors: 400,
                policy: section.map { AdviseCommandTests.catalog.dropLast() + $0 } ?? AdviseCommandTests.catalog)
        }

        /// 84 % of the bytes that were prefetched were wasted. The policy prefetches a list, or only the app prefetches.
        static func ofPrefetches(isListed: Bool, wasted: UInt64 = 840) throws -> Place {
            let list = #", "prefetch": { "requests": [{ "page": 1 }, { "page": 2 }] } }"#
            let catalog = AdviseCommandTests.catalog
            return try Place(
                { _ in }, policy: isListed ? catalog.dropLast() + list : catalog,
                others: [
                    .prefetched: 70, .prefetchedBytes: 1_200, .prefetchedUsed: 20, .prefetchedUsedBytes: 160,
                    .prefetchedWasted: 30, .prefetchedWastedBytes: wasted,
                ])
        }

        func advise(_ options: String...) async -> Output {
            await Output(["advise", folder.path + "/dumps", "--policies", folder.path] + options)
        }

        func simulate(_ advice: String, _ origin: String) async throws -> Output {
            try folder.write(advice, to: "advice.out")
            return await Output([
                "simulate", "--policy", folder.path + "/catalog.json", "--traffic", "rate=1,keys=10,for=3h", "--origin",
                origin, "--advice", folder.path + "/advice.out",
            ])
        }
    }

    @Test func adviceHasSettingWithPlaceAndNumbers() async throws {
        let output = await (try Place.ofFailedLoads()).advise()
        #expect(output.code == 0 && output.err.isEmpty)
        let lines = output.out.split(separator: "\n").map(String.init)
        #expect(
            lines.first
                == "catalog: with onError 2h instead of 10m, a copy would have answered 300 of the 400 loads that failed "
                + "although there was one")
        #expect(lines.dropFirst().first == #"  validators[0] (age): "onError": "2h""#)
    }

    @Test func adviceThatWouldBreakAPromiseIsNotProposed() async throws {
        let place = try Place.ofFailedLoads(promising: #"{ "neverOlderThan": "30m", "callsPerLoad": 1 }"#)
        let output = await place.advise()
        let lines = output.out.split(separator: "\n").map(String.init)
        #expect(lines.count == 2 && lines[0].contains("with onError 2h instead of 10m"), "\(output.out)\(output.err)")
        #expect(lines.last == "  not proposed: it would break neverOlderThan 30m")
        let json = await place.advise("--json")
        #expect(json.out.contains(#""advice": []"#) && json.out.contains("it would break neverOlderThan 30m"))
    }

    @Test func adviceThatKeepsPromisesIsProposed() async throws {
        let kept = await (try Place.ofFailedLoads(promising: #"{ "neverOlderThan": "1d" }"#)).advise()
        #expect(kept.out.contains(#""onError": "2h""#) && !kept.out.contains("not proposed"))
        // A promise that is broken without the advice, too, says nothing against it.
        let broken = await (try Place.ofFailedLoads(promising: #"{ "neverOlderThan": "1m" }"#)).advise()
        #expect(broken.out.contains(#""onError": "2h""#) && !broken.out.contains("not proposed"))
    }

    @Test func adviceWhoseProofIsNotCompleteSaysThatPromisesMayBreak() async throws {
        // The server may say that copies are fresh for longer than is played.
        let place = try Place.ofFailedLoads(
            promising: #"{ "neverOlderThan": "1d" }"#,
            sections: #", "validators": [{ "use": "http", "fresh": "1m", "onError": "10m" }]"#)
        let output = await place.advise()
        let reason =
            "validator 'http' follows the origin; it is played with answers that state no lifetime, 1m or 1d, and with "
            + "no other rules"
        #expect(
            output.out.contains("\n  may break promises: not completely proved, because \(reason)\n"),
            "\(output.out)\(output.err)")
        #expect(output.out.contains(#""onError": "2h""#))
        let json = await place.advise("--json")
        #expect(json.out.contains("notProved") && json.out.contains(reason), "\(json.out)")
        let complete = await (try Place.ofFailedLoads(promising: #"{ "neverOlderThan": "1d" }"#)).advise()
        #expect(!complete.out.contains("may break promises"))
    }

    @Test func listWhoseCopiesAreNotUsedIsAdvisedAgainst() async throws {
        let output = await (try Place.ofPrefetches(isListed: true)).advise()
        let lines = output.out.split(separator: "\n").map(String.init)
        #expect(
            lines == [
                "catalog: 84.0 % of prefetched bytes were never used: 30 copies with 840 bytes were removed or replaced "
                    + "first, and 20 copies with 160 bytes were used; a shorter list would waste less, and none would waste "
                    + "nothing. Copies that still wait are not counted",
                #"  without "prefetch""#, #"  patch: [{"op":"remove","path":"/prefetch"}]"#,
            ])
        let useful = await (try Place.ofPrefetches(isListed: true, wasted: 150)).advise()
        #expect(useful.out.contains("no advice") && !useful.out.contains("prefetch"))
    }

    @Test func wasteOfAppThatPrefetchesIsNamed() async throws {
        let output = await (try Place.ofPrefetches(isListed: false)).advise()
        #expect(
            output.out.contains("; 84.0 % of prefetched bytes were never used: the app may prefetch less\n"))
    }

    @Test func patchWritesInheritedListAsWhole() async throws {
        let place = try Place.ofFailedLoads()
        let output = await place.advise()
        let patch =
            #"[{"op":"add","path":"/validators","value":[{"use":"age","fresh":"1m","onError":"2h"}]}]"#
        #expect(output.out.contains("patch: " + patch))
    }

    @Test func patchChangesSettingOfOwnFileAlone() async throws {
        let place = try Place { counts in
            for _ in 0..<200 { counts.answeredLate.record(.milliseconds(350)) }
        }
        let output = await place.advise()
        #expect(output.out.contains(#"[{"op":"replace","path":"/strategy/patience","value":"400ms"}]"#))
    }

    @Test func simulationConfirmsAdviceThatHelps() async throws {
        let place = try Place.ofFailedLoads()
        let advice = await place.advise("--json")
        let output = try await place.simulate(advice.out, "down=20m-2h")
        #expect(output.code == 0)
        #expect(output.out.contains(#"catalog: validators[0].onError "2h": confirmed"#))
    }

    @Test func simulationRefutesAdviceThatDoesNotHelp() async throws {
        let place = try Place.ofFailedLoads()
        let advice = await place.advise("--json").out.replacing(#""to": "2h""#, with: #""to": "11m""#)
        let output = try await place.simulate(advice, "down=20m-2h")
        #expect(output.code == 1)
        #expect(output.out.contains("refuted"))
    }

    @Test func simulationWithoutSuchLoadsTestsNothing() async throws {
        let place = try Place.ofFailedLoads()
        let output = try await place.simulate(await place.advise("--json").out, "latency=80ms")
        #expect(output.code == 0)
        #expect(output.out.contains("not tested"))
    }

    @Test func adviceForAnotherPolicyDoesNotPreventTheSimulation() async throws {
        let place = try Place.ofFailedLoads()
        let advice = await place.advise("--json").out.replacing("/validators/0/onError", with: "/validators/7/onError")
        let output = try await place.simulate(advice, "latency=80ms")
        #expect(output.code == 1)
        #expect(output.err.contains("is not checked: "))
        #expect(output.err.contains("the policy has no place validators[7].onError"))
        #expect(output.out.contains("fallback_rate"))
    }

    @Test(arguments: [
        "{}", "[]", "{", #"{"format":"larder-advice/1"}"#, #"{"format":"larder-advice/1","advice":[{}]}"#,
        #"{"format":"larder-advice/1","advice":[{"resource":"catalog","effect":"fallbacks","figure":0,"saved":[1,1],"changes":[{"path":"/a"}]}]}"#,
        #"{"format":"larder-advice/1","advice":[{"resource":"catalog","effect":"fallbacks","figure":9,"saved":[2,1],"changes":[{"path":"/a"}]}]}"#,
        #"{"format":"larder-advice/1","advice":[{"resource":"catalog","effect":"fallbacks","figure":9,"saved":[1,2],"changes":[{"path":"a"}]}]}"#,
        #"{"format":"larder-advice/1","advice":[{"resource":"catalog","effect":"fallbacks","figure":9,"saved":[1,2],"changes":[{"path":"/a/b/0","to":1}]}]}"#,
    ])
    func unreadableAdviceIsAnError(_ text: String) async throws {
        let place = try Place.ofFailedLoads()
        let output = try await place.simulate(text, "latency=80ms")
        #expect(output.code != 0)
        #expect(output.err.contains("advice.out") || output.err.contains("the policy has no place"))
    }

    @Test func policyOfAnotherRevisionIsTold() async throws {
        let place = try Place.ofFailedLoads()
        try place.folder.edit("_base.json", "10m", "20m")
        #expect(await place.advise().err.contains("is not the policy that the advice is about"))
    }

    @Test func missingPolicyGetsAdviceWithoutPatch() async throws {
        let place = try Place.ofFailedLoads()
        try FileManager.default.removeItem(at: place.folder.url.appending(path: "catalog.json"))
        let output = await place.advise()
        #expect(output.code == 0)
        #expect(output.out.contains(#""onError": "2h""#) && !output.out.contains("patch"))
        #expect(output.err.contains("there is no sound policy 'catalog'"))
    }

    @Test func resourceWithoutAdviceSaysWhy() async throws {
        let output = await (try Place { _ in }).advise()
        #expect(
            output.out == "catalog: no advice; no other value of a setting would have helped enough loads\n")
    }

    @Test func reportShowsAdviceInEachFormat() async throws {
        let place = try Place.ofFailedLoads()
        for format in ["text", "json", "html"] {
            let output = await Output(["report", place.folder.path + "/dumps", "--format", format])
            #expect(output.out.contains("a copy would have answered 300 of the 400 loads"), "\(format)")
        }
    }

    @Test func reportLeavesProposalsToAdvise() async throws {
        // The promise forbids the change, so that 'advise' does not propose it.
        let place = try Place.ofFailedLoads(promising: #"{ "neverOlderThan": "30m" }"#)
        #expect(await place.advise().out.contains("not proposed: it would break neverOlderThan 30m"))
        for format in ["text", "html"] {
            let output = await Output(["report", place.folder.path + "/dumps", "--format", format]).out
            #expect(!output.contains("onError&quot;:") && !output.contains("\"onError\":"))
            #expect(output.contains("larder advise"), "\(output)")
        }
    }

    @Test func longerPatienceTellsItsPrice() async throws {
        let output = await
            (try Place { counts in
                for _ in 0..<200 { counts.answeredLate.record(.milliseconds(350)) }
            }).advise()
        #expect(
            output.out.hasPrefix(
                "catalog: 200 loads got a copy because the origin was slower than 300ms; with patience 400ms, 200 of them would "
                    + "have got a live answer; the price: each would have waited up to 100 ms longer\n"
            ),
            "\(output.out)")
    }

    @Test func shorterPatienceTellsItsPrice() throws {
        var metrics = ResourceMetrics()
        metrics.latency[.live, default: Sketch()].record(.milliseconds(20), times: 500)
        for _ in 0..<100 { metrics.alternatives.failedLate.record(.seconds(30)) }
        let setting = AdvisedSetting(
            topic: .patience, path: PolicyPath([.member("strategy"), .member("patience")]), plugin: "network-first",
            value: "8s", isNested: false)
        let advice = AdviceBasis("feed", metrics: metrics, settings: [setting]).shorterPatience
        #expect(
            advice?.sentence.hasSuffix(
                " less; the price: 1 of 100 loads that got a live answer would have got a copy") == true,
            "\(advice?.sentence ?? "none")")
    }

    // MARK: Patches

    /// Returns the patch that changes one setting of a policy, or removes it.
    private static func patch(
        _ policy: String, base: String = "{}", _ pointer: String, to value: JSON?
    ) throws -> String? {
        let folder = try Folder()
        try folder.write(base, to: "_base.json")
        try folder.write(
            #"{ "resource": "news", "extends": "_base.json", "origin": { "use": "constant", "value": 1 }, \#(policy) }"#,
            to: "news.json")
        let reader = PolicyReader(registry: .standard, folder: folder.path, environment: [:])
        let path = try #require(PolicyPath(pointer: pointer))
        return try AdvisedPolicy(reader, file: "news.json").patch([
            .init(path: path, plugin: "age", old: nil, new: value)
        ])?.text(indented: false)
    }

    @Test func patchReplacesBareNameInList() throws {
        let patch = try Self.patch(
            #""strategy": "cache-first", "store": "memory", "validators": ["age", "checksum"]"#,
            "/validators/0/onError",
            to: "2h")
        #expect(patch == #"[{"op":"replace","path":"/validators/0","value":{"use":"age","onError":"2h"}}]"#)
    }

    @Test func patchRemovesOwnSetting() throws {
        let patch = try Self.patch(
            #""strategy": { "use": "cache-first", "refreshAhead": 0.5 }, "store": "memory""#, "/strategy/refreshAhead",
            to: nil)
        #expect(patch == #"[{"op":"remove","path":"/strategy/refreshAhead"}]"#)
    }

    @Test func patchOverridesInheritedSettingThatIsNotWanted() throws {
        let patch = try Self.patch(
            #""store": "memory""#, base: #"{ "strategy": { "use": "cache-first", "refreshAhead": 0.5 } }"#,
            "/strategy/refreshAhead", to: nil)
        #expect(
            patch == #"[{"op":"add","path":"/strategy","value":{"use":"cache-first","refreshAhead":null}}]"#)
    }

    // MARK: Hostile dumps

    @Test func countsOfAnySizeAreReported() async throws {
        let most: UInt64 = 1_000_000_000_000_000
        let place = try Place(
            { counts in
                for limit in [1, 1_000, 100_000_000, Int64.max / 2] {
                    counts.refusedForAge.record(limit, times: most)
                    counts.answeredLate.record(limit, times: most)
                    counts.givenUpLate.record(limit, times: most)
                    counts.unchanged.record(limit, times: most)
                    counts.askedWhileFresh.record(limit, times: most)
                    counts.evictedTooSoon.record(limit, times: most)
                }
                (counts.usedRefreshes, counts.unusedRefreshes, counts.shownWhileSlow) = (most, most, most)
            }, staleErrors: most)
        var text = try place.folder.text(of: "dumps/metrics.json")
        for value in ["\"forever\"", "\"0s\"", "-1e300", "null"] {
            text = text.replacing(#""fresh": "1m""#, with: #""fresh": \#(value)"#)
            try place.folder.write(
                text.replacing(
                    #""use": "network-first","#, with: #""use": "cache-first", "refreshAhead": -1e-9,"#),
                to: "dumps/metrics.json")
            #expect(await place.advise().code == 0)
        }
    }

    @Test func adviceOfAnySizeIsReadOrRefused() async throws {
        let place = try Place.ofFailedLoads()
        for figure in ["1e308", "1e-300", "400"] {
            for saved in ["[1e300,1e308]", "[0,1e20]"] {
                let advice = await place.advise("--json").out.replacing(
                    #""figure": 400"#, with: #""figure": \#(figure)"#
                )
                .replacing(#""saved": [300, 300]"#, with: #""saved": \#(saved)"#)
                #expect(advice.contains(saved))
                #expect(try await place.simulate(advice, "latency=80ms").code <= 1)
            }
        }
    }
}
