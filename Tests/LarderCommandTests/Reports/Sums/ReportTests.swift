import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins
@testable import LarderCommand

/// The sums of `larder report`, and its notes when dumps are missing.
@Suite struct ReportTests {
    // MARK: Adding up

    @Test func reportAddsUpProcesses() async throws {
        let dumps = try Dumps()
        try dumps.write(
            "a.json", host: "web-1", store: StoreStatistics(entries: 2, bytes: 30, evictions: 1),
            RevisionDump(
                [.loads: 10, .fallbacks: 1], live: [.milliseconds(10), .milliseconds(20)],
                [FiveMinutes(at: 0, [.loads: 10, .fallbacks: 1])]))
        try dumps.write(
            "b.json", instance: "b", host: "web-2", store: StoreStatistics(entries: 3, bytes: 50, evictions: 2),
            RevisionDump(
                [.loads: 30, .fallbacks: 5], live: [.milliseconds(800), .milliseconds(900)],
                [FiveMinutes(at: 0, [.loads: 10, .fallbacks: 3]), FiveMinutes(at: 5, [.loads: 20, .fallbacks: 2])]))
        let facts = try await dumps.facts()
        let feed = facts["resources"].items[0]
        #expect(facts["processes"].int == 2 && facts["dumps"].int == 2 && facts["hosts"].text == #"["web-1","web-2"]"#)
        #expect(feed["counters"]["loads"].int == 40 && feed["fallback_rate"].text == "0.15")
        #expect(feed["latency"]["live"]["count"].int == 4)
        #expect(try #require(feed["feed_load_p50"].value as? Double) < 0.021)
        #expect(try #require(feed["feed_load_p99"].value as? Double) > 0.89)
        #expect(feed["trend"].items.map(\.["loads"].int) == [20, 20])
        #expect(feed["trend"].items.map(\.["fallback_rate"].text) == ["0.2", "0.1"])
        #expect(feed["store"]["entries"].int == 5 && feed["store"]["bytes"].int == 80)
        #expect(feed["store"]["evictions"].int == 3)
        #expect(feed["revisions"].items.count == 1)
    }

    @Test func timeWithoutNetworkIsShownWithIncidentsAndTrend() async throws {
        let dumps = try Dumps()
        let periods = (0..<6).map { (number: Int64) in
            let isDark = number < 2
            return FiveMinutes(
                at: number * 5, [.loads: 10, .fallbacks: isDark ? 9 : 0, .offlineTime: isDark ? 120_000 : 0])
        }
        let counts: [Counter: UInt64] = [.loads: 60, .fallbacks: 18, .offlineSpells: 2, .offlineTime: 240_000]
        try dumps.write("a.json", RevisionDump(counts, periods))
        let text = await dumps.report().out
        #expect(text.contains("12:00–12:10: 18 of 20 loads (90 %) fell back; offline for 4 min; nobody got an error"))
        #expect(text.contains("  oldest served  offline\n") && text.contains("              –    4 min\n"))
        #expect(text.contains("  over time    loads  fell back or failed  offline\n"))
        #expect(text.contains("  first third     20            18 (90 %)    4 min\n"))
        #expect(text.contains("  last third      20              0 (0 %)        –\n"))
        let trend = try await dumps.facts()["resources"].items[0]["trend"].items
        #expect(trend.map(\.["offline"].int) == [120, 120, 0, 0, 0, 0])
        // The time of several processes is a sum, and can be longer than the incident.
        try dumps.write("b.json", instance: "b", RevisionDump(counts, periods))
        #expect(await dumps.report().out.contains("; offline for 8 min in all processes together; "))
    }

    @Test func countersAndLevelsOfUnknownPluginsAreReported() async throws {
        let naps = Counter("naps", "Calls that waited for a nap")
        let (napTime, napBytes) = (
            Counter("nap_milliseconds", "How long they were"), Counter("nap_bytes", "Their size")
        )
        let mood = Level("mood", "How it feels", values: ["calm", "angry"])
        let dumps = try Dumps()
        for (instance, value) in ["a": "angry", "b": "calm", "c": "calm"] {
            var dump = Dumps.dump(
                instance: instance, host: instance,
                [RevisionDump([.loads: 10, naps: 1_000, napTime: 40_000, napBytes: 2_000])])
            dump.resources[0].levels = [mood: value]
            try dumps.write(instance + ".json", dump)
        }
        let text = await dumps.report().out
        #expect(
            text.hasSuffix(
                "\n  plugins: nap bytes 6.0 KB, nap 2 min, naps 3\u{202F}000; mood: 2 calm, 1 angry\n"), "\(text)")
        let feed = try await dumps.facts()["resources"].items[0]
        #expect(feed["counters"]["naps"].int == 3_000)
        #expect(feed["levels"]["mood"]["calm"].int == 2 && feed["levels"]["mood"]["angry"].int == 1)
        let prometheus = await dumps.report("--format", "prometheus").out
        #expect(prometheus.contains("# HELP larder_naps_total Calls that waited for a nap\n"))
        #expect(prometheus.contains("\nlarder_mood_angry{resource=\"feed\"} 1\n"))
        let page = await dumps.report("--format", "html").out
        #expect(page.contains("calls that waited for a nap") && page.contains("how long they were"))
    }

    @Test func valuesOfLevelThatVersionsDeclareDifferentlyAreUnited() async throws {
        let dumps = try Dumps()
        for (instance, values) in [
            ("a", ["calm", "angry"]), ("b", ["calm", "cross", "angry"]), ("c", ["calm", "mad"]),
        ] {
            var dump = Dumps.dump(instance: instance, host: instance, [RevisionDump([.loads: 10])])
            dump.resources[0].levels = [
                Level("mood", "How it feels", values: values): instance == "a" ? "calm" : values[1]
            ]
            try dumps.write(instance + ".json", dump)
        }
        let text = await dumps.report().out
        #expect(text.hasSuffix("\n  plugins: mood: 1 calm, 1 cross, 1 mad\n"), "\(text)")
        let prometheus = await dumps.report("--format", "prometheus").out
        #expect(prometheus.contains("\nlarder_mood_mad{resource=\"feed\"} 1\n"))
        #expect(prometheus.contains("\nlarder_mood_cross{resource=\"feed\"} 0\n"))
    }

    @Test func unusedDumpsAreNoted() async throws {
        let dumps = try Dumps()
        for instance in ["a", "b"] {
            var dump = Dumps.dump(instance: instance, [RevisionDump([.loads: 10])])
            dump.unusable = [UnusablePart(resource: "feed", part: "file")]
            if instance == "b" { dump.unusable.append(UnusablePart(resource: nil, part: "log")) }
            if instance == "a" { dump.unusable.append(UnusablePart(resource: "feed", part: "clearing")) }
            dump.logLost = instance == "b" ? 7 : 0
            try dumps.write(instance + ".json", dump)
        }
        #expect(
            try await dumps.facts()["notes"].items.map(\.string) == [
                "In 1 process 'log' could not be written: the cache folder cannot be used.",
                "In 2 processes the store 'file' of 'feed' kept nothing: the cache folder cannot be used.",
                "In 1 process a clearing of 'feed' was not finished at the last dump.",
                "Lines that could not be written are missing in logs: 7.",
            ])
    }

    @Test func processCountsOnceAndEarlierDumpsShowCourse() async throws {
        let dumps = try Dumps()
        try dumps.write(
            "2.json", minutes: 30,
            RevisionDump([.loads: 10], [FiveMinutes(at: 0, [.loads: 6]), FiveMinutes(at: 5, [.loads: 4])]))
        // The metrics of the day before are no longer kept.
        try dumps.write(
            "1.json", minutes: 90,
            RevisionDump([.loads: 25], [FiveMinutes(at: 5, [.loads: 9]), FiveMinutes(at: 60, [.loads: 10])]))
        let facts = try await dumps.facts()
        let feed = facts["resources"].items[0]
        #expect(facts["processes"].int == 1 && facts["dumps"].int == 2)
        #expect(feed["counters"]["loads"].int == 25)
        #expect(feed["trend"].items.map(\.["loads"].int) == [6, 9, 10])
    }

    // MARK: Since

    private func twoDumps() throws -> Dumps {
        let dumps = try Dumps()
        try dumps.write(
            "1.json", minutes: 30, store: StoreStatistics(entries: 9, hits: 4, misses: 2, evictions: 1),
            RevisionDump("old", isCurrent: false, [.loads: 7]),
            RevisionDump([.loads: 10, .fallbacks: 9], live: [.seconds(5)], [FiveMinutes(at: 0, [.loads: 10])]))
        // The old revision is no longer listed separately.
        try dumps.write(
            "2.json", minutes: 90, store: StoreStatistics(entries: 8, hits: 14, misses: 3, evictions: 5),
            RevisionDump("", strategy: "", isCurrent: false, [.loads: 7]),
            RevisionDump(
                [.loads: 25, .fallbacks: 10], live: [.seconds(5), .milliseconds(10)],
                [FiveMinutes(at: 0, [.loads: 10]), FiveMinutes(at: 60, [.loads: 15, .fallbacks: 1])]))
        return dumps
    }

    @Test(arguments: ["1h", "2026-11-17T12:30"])
    func earlierCountsAreSubtracted(since: String) async throws {
        let facts = try await twoDumps().facts("--since", since)
        let feed = facts["resources"].items[0]
        #expect(feed["counters"]["loads"].int == 15 && feed["counters"]["fallbacks"].int == 1)
        #expect(feed["latency"]["live"]["count"].int == 1)
        #expect(try #require(feed["feed_load_p99"].value as? Double) < 0.011)
        #expect(feed["trend"].items.map(\.["loads"].int) == [15])
        #expect(feed["store"].text == #"{"bytes":0,"entries":8,"evictions":4,"hits":10,"misses":1}"#)
        #expect(facts["notes"].items.isEmpty && facts["from"].int == 1_794_918_600)
    }

    @Test func processWithoutEarlierDumpIsMarkedAsWhole() async throws {
        let facts = try await twoDumps().facts("--since", "2026-11-17T12:10")
        #expect(facts["resources"].items[0]["counters"]["loads"].int == 32)
        #expect(facts["resources"].items[0]["trend"].items.map(\.["loads"].int) == [15])
        #expect(facts["notes"].items.count == 1)
        #expect(facts["notes"].items[0].string?.hasPrefix("No dump was made at the time asked for") == true)
    }

    @Test func processThatEndedBeforeWindowIsLeftOut() async throws {
        let dumps = try twoDumps()
        try dumps.write("3.json", instance: "b", host: "gone", minutes: 5, RevisionDump([.loads: 99]))
        let facts = try await dumps.facts("--since", "1h")
        #expect(facts["processes"].int == 1 && facts["hosts"].items.isEmpty)
        #expect(facts["resources"].items[0]["counters"]["loads"].int == 15)
        let never = try await dumps.facts("--since", "2027-01-01")
        #expect(never["processes"].int == 0 && never["resources"].items.isEmpty)
        #expect(never["notes"].text == #"["No dump was made since the time asked for."]"#)
    }

    // MARK: What cannot be read

    @Test func invalidDumpIsNamedAndLeftOut() async throws {
        let dumps = try Dumps()
        try dumps.write("good.json", RevisionDump([.loads: 10]))
        try dumps.folder.write(#"{ "format": "larder-metrics/2", "process": "#, to: "damaged.json")
        try dumps.folder.write(#"{ "name": "package" }"#, to: "foreign\u{1B}[2J.json")
        try dumps.folder.write("not looked at", to: "notes.txt")
        let output = await dumps.report()
        #expect(output.code == 1)
        let lines = output.err.split(separator: "\n")
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("larder: \(dumps.folder.path)/damaged.json: not JSON: "))
        #expect(
            output.out.contains(
                "1 process, 1 dump\n1 file is left out: it is not a dump or cannot be read.\n"
                    + "1 JSON file that is no metrics dump was skipped.\n\nfeed: "))
        let facts = try await dumps.facts()
        #expect(facts["skipped"].items.count == 2 && facts["resources"].items.count == 1)
        // A file that is named itself is to be a dump.
        let foreign = await Output([
            "report", dumps.folder.path + "/good.json", dumps.folder.path + "/foreign\u{1B}[2J.json",
        ])
        #expect(foreign.code == 1 && foreign.err.hasSuffix("'format' is missing; left out\n"))
    }

    @Test func otherJSONFilesInAFolderAreNoFailure() async throws {
        let dumps = try Dumps()
        try dumps.folder.write(#"{ "name": "package" }"#, to: "package.json")
        try dumps.folder.write("[1, 2]", to: "list.json")
        let alone = await dumps.report()
        #expect(alone.code == 1)
        #expect(
            alone.err
                == "larder: 2 JSON files that are no metrics dumps were skipped\nlarder: there is no dump to report on\n"
        )
        try dumps.write("good.json", RevisionDump([.loads: 10]))
        let output = await dumps.report()
        #expect(output.code == 0 && output.err.isEmpty)
        #expect(output.out.contains("\n2 JSON files that are no metrics dumps were skipped.\n"))
        #expect(await dumps.report("--format", "html").out.contains("<li>2 JSON files that are no metrics dumps"))
    }

    @Test func reportWithoutDumpsIsError() async throws {
        let dumps = try Dumps()
        let output = await dumps.report()
        #expect(output.code == 1 && output.out.isEmpty && output.err == "larder: there is no dump to report on\n")
        let missing = await Output(["report", dumps.folder.path + "/none.json"])
        #expect(missing.code == 1 && missing.out.isEmpty && missing.err.contains("none.json"))
    }

    @Test(arguments: [
        (["report"], "report takes at least one DUMP"), (["report", ".", "--format", "pdf"], "prometheus"),
        (["report", ".", "--since", "yesterday"], "--since takes"),
        (["report", ".", "--since", "2026-02-30"], "--since"),
        (["report", ".", "--nonsense"], "--nonsense"),
    ])
    func usageErrorIsDistinguishedFromFailure(arguments: [String], words: String) async throws {
        let output = await Output(arguments)
        #expect(output.code == 2 && output.out.isEmpty && output.err.contains(words), "\(output.err)")
    }

    @Test func impossiblyLargeCountsDoNotTrap() async throws {
        let dumps = try Dumps()
        let most: UInt64 = 1_000_000_000_000_000
        let revisions = (0..<3).map { number in
            var revision = RevisionDump("\(number)", isCurrent: false, [.loads: most, .fallbacks: most])
            for outcome in Outcome.allCases {
                revision.metrics.latency[outcome] = Sketch()
                let share = most / UInt64(Outcome.allCases.count * Sketch.bucketCount)
                for bucket in 0..<Sketch.bucketCount { revision.metrics.latency[outcome]?.add(share, at: bucket) }
            }
            return revision
        }
        // The dump's time is before the start of its process.
        try dumps.write("a.json", Dumps.dump(minutes: -60, revisions))
        for format in ["text", "json", "html"] {
            #expect(await dumps.report("--format", format).code == 0)
        }
        #expect(try await dumps.facts()["resources"].items[0]["fallback_rate"].int == 1)
    }

    @Test func reportIsWrittenToGivenFile() async throws {
        let dumps = try Dumps()
        try dumps.write("a.json", RevisionDump([.loads: 10]))
        let file = dumps.folder.path + "/report.txt"
        let output = await dumps.report("--output", file)
        #expect(output.code == 0 && output.out.isEmpty && output.err.isEmpty)
        #expect(try dumps.folder.text(of: "report.txt") == (await dumps.report()).out)
        #expect(await dumps.report("--output", dumps.folder.path + "/none/report.txt").code == 1)
    }

    @Test(arguments: ["report", "advise"]) func inputIsNotOverwritten(_ command: String) async throws {
        let dumps = try Dumps()
        try dumps.write("a.json", RevisionDump([.loads: 10]))
        let dump = try dumps.folder.text(of: "a.json")
        let folder = dumps.folder.path
        for (input, output) in [(folder, folder + "/a.json"), (folder + "/a.json", folder + "/./a.json")] {
            let result = await Output([command, input, "--output", output])
            #expect(result.code == 2 && result.err.contains("would overwrite \(output)"), "\(result)")
        }
        #expect(try dumps.folder.text(of: "a.json") == dump)
        // A former report is replaced.
        for _ in 1...2 {
            #expect(await Output([command, folder + "/a.json", "--output", folder + "/report.txt"]).code == 0)
        }
    }

    @Test func policyIsNotOverwritten() async throws {
        let dumps = try Dumps()
        try dumps.write("a.json", RevisionDump([.loads: 10]))
        let policies = try Folder()
        try policies.write("{}", to: "feed.json")
        let file = policies.path + "/feed.json"
        let result = await Output(["advise", dumps.folder.path, "--output", file, "--policies", policies.path])
        #expect(result.code == 2 && result.err.contains("would overwrite \(file)"), "\(result)")
        #expect(try policies.text(of: "feed.json") == "{}")
    }

    @Test(arguments: [
        ([Counter.loads: 1, .failures: 2], "'failures' is larger than 'loads'"),
        ([.loads: 1, .refreshErrors: 1], "'refresh_errors' is larger than 'refreshes'"),
        ([.loads: 1], "there are more outcomes than 'loads'"),
    ]) func dumpWithImpossibleCountsIsLeftOut(_ counts: [Counter: UInt64], _ reason: String) async throws {
        let dumps = try Dumps()
        try dumps.write("a.json", RevisionDump([.loads: 10]))
        let live: [Duration] = counts.count == 1 ? [.seconds(1), .seconds(1)] : []
        try dumps.write("b.json", instance: "b", RevisionDump(counts, live: live))
        let output = await dumps.report()
        #expect(output.code == 1 && output.err.contains("b.json: \(reason); left out"), "\(output)")
    }
}
