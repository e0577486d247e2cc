import LarderSystem
import LarderFoundation
import Larder
@_spi(Demo) import LarderPlugins
import Testing

@testable import LarderCommand
import LarderReports

@Suite struct DemoTests {
    @Test func tableDependsOnSeedOnly() async throws {
        let policies = try Folder.withPolicies()
        let first = await Output(["demo", "--policies", policies.path])
        let out = policies.path + "/a/b"
        let second = await Output(["demo", "--policies", policies.path, "--seed", "1", "--out", out])
        let third = await Output(["demo", policies.path, "--seed=2"])
        #expect(first.code == 0 && first.err.isEmpty)
        #expect(first.out == second.out)
        let readme = try Self.text("README.md")
        let article = try Self.text("Sources/Larder/Larder.docc/GettingStarted.md")
        #expect(article.contains(first.out), "Getting started shows another table than the demo")
        let excerpt = try #require(readme.components(separatedBy: "$ swift run larder demo\n").dropFirst().first)
        for line in excerpt.components(separatedBy: "\n```")[0].split(separator: "\n") where line != "…" {
            #expect(first.out.contains(line + "\n"), "README.md shows a line that the demo does not print")
        }
        #expect(first.out != third.out)
        func file(_ name: String) -> String? {
            try? String(contentsOf: URL(filePath: out + "/" + name), encoding: .utf8)
        }
        let json = try String(contentsOf: URL(filePath: out + "/demo.json"), encoding: .utf8)
        #expect(json.contains("\"fallback_rate\"") && json.contains("\"seed\": 1"))
        let report = await Output(["report", out + "/metrics.json"])
        let beginning = report.out.split(separator: "\n", omittingEmptySubsequences: false).prefix(4)
        #expect(report.code == 0 && readme.contains(beginning.joined(separator: "\n")), "\(beginning)")
        #expect(await Output(["report", out + "/metrics.json", "--format", "prometheus"]).out == file("metrics.prom"))
        #expect(await Output(["report", out + "/metrics.json", "--format", "html"]).out == file("report.html"))
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: projectFolder.appending(path: path), encoding: .utf8)
    }

    @Test func readmeHasAtMostThousandWordsOfProse() throws {
        let parts = try Self.text("README.md").components(separatedBy: "```")
        let prose = parts.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined(separator: " ")
        #expect(prose.split(whereSeparator: \.isWhitespace).count <= 1_000)
    }

    @Test func readmeShowsActualErrorMessage() async throws {
        let readme = try Self.text("README.md")
        let policy = try #require(readme.components(separatedBy: "```json\n").dropFirst().first)
            .components(separatedBy: "```")[0]
        let folder = try Folder()
        try folder.write(policy, to: "prices.json")
        #expect(await Output(["check", "--strict", folder.path]).code == 0)
        try folder.edit("prices.json", #""patience""#, #""patiense""#)
        let output = await Output(["check", folder.path])
        #expect(readme.contains(output.out.replacing(folder.path, with: "Policies")))
    }

    @Test func ratesChangeAsThePhasesOfTheDayRequire() throws {
        let policies = try Folder.withPolicies()
        let rows = try DemoDay(seed: 1, policies: policies.url, registry: .standard).live { _, _ in }.rows
        func metrics(_ resource: String, _ phase: String) -> ResourceMetrics {
            rows.first { $0.resource == resource && $0.phase == phase }?.metrics ?? ResourceMetrics()
        }
        #expect(rows.count == 18)
        #expect(rows.allSatisfy { $0.metrics.loads > 0 })
        #expect(metrics("feed", "morning rush")[.fallbackRate] < 0.05)
        #expect(metrics("feed", "commute")[.fallbackRate] > 0.2 && metrics("feed", "commute")[.fallbackRate] < 0.5)
        #expect(metrics("feed", "commute")[.failures] == 0)
        #expect(metrics("feed", "slow hour")[.fallbackRate] > 0.5)
        #expect(metrics("feed", "outage")[.fallbackRate] == 1)
        #expect(metrics("feed", "offline")[.fallbackRate] == 1)
        #expect(metrics("feed", "recovery")[.fallbackRate] < 0.05)
        #expect(metrics("images", "morning rush")[.hitRate] < metrics("images", "recovery")[.hitRate])
        #expect(metrics("catalog", "morning rush")[.staleRate] > 0.3)
        #expect(metrics("catalog", "outage")[.fallbackRate] > metrics("catalog", "morning rush")[.fallbackRate])
        #expect(metrics("catalog", "offline")[.staleErrorRate] > 0.05)
        #expect(metrics("catalog", "recovery")[.staleErrorRate] == 0)
    }

    @Test func originCannotBeReachedWhileTheDeviceIsOffline() {
        let midnight = Timestamp(seconds: 1_767_571_200)
        let times = [
            ("09:05:59", 32_759, false), ("09:06", 32_760, true), ("09:08:59", 32_939, true), ("09:09", 32_940, false),
            ("13:00", 46_800, true), ("17:59:59", 64_799, true), ("18:00", 64_800, false), ("23:00", 82_800, false),
        ]
        for (name, second, isOffline) in times {
            #expect(DemoDay.weather(at: midnight + .seconds(second)).isOffline == isOffline, "\(name)")
        }
    }

    @Test func secondTableAndStoryTellTheTimesWithoutNetwork() throws {
        let policies = try Folder.withPolicies()
        let rows = try DemoDay(seed: 1, policies: policies.url, registry: .standard).live { _, _ in }.rows
        let table = DemoTable(rows: rows)
        for row in rows {
            let spells: [String: (UInt64, UInt64)] = ["commute": (4, 18), "offline": (1, 300)]
            let (count, minutes) = spells[row.phase] ?? (0, 0)
            #expect(row.metrics[.offlineSpells] == count && row.metrics[.offlineTime] == minutes * 60_000)
        }
        #expect(table.offlineLines.first?.hasSuffix("answered  live  fresh  stale  fallback  failed") == true)
        let words = table.offlineLines.dropFirst().map { $0.split(separator: " ").map(String.init) }
        #expect(
            words.map { $0.prefix(2) } == [
                ["catalog", "commute"], ["catalog", "offline"], ["feed", "commute"], ["feed", "offline"],
                ["images", "commute"], ["images", "offline"],
            ])
        let tunnels = try #require(words.first { $0.starts(with: ["feed", "commute"]) })
        let loads = tunnels[5]
        #expect(tunnels == ["feed", "commute", "18", "min", "4", loads, "100.0", "%", "0", "0", "0", loads, "0"])
        // Nobody waits without a network.
        let dark = try #require(rows.first { $0.resource == "feed" && $0.phase == "offline" }).metrics
        #expect(dark.load(percentile: 0.95).waited == "< 1 ms")
        #expect((table.lines + table.offlineLines).allSatisfy { $0.count <= 112 })
        let all = rows.map(\.metrics)
        func sum(_ counters: Counter...) -> UInt64 {
            counters.reduce(0) { sum, counter in all.reduce(sum) { $0 + $1[counter] } }
        }
        let copies = sum(.offlineFresh, .offlineStale, .offlineFallbacks)
        #expect(copies > 1_000 && sum(.offlineFailures) > 0)
        #expect(
            table.story[1]
                == "The device was offline for 5.3 h, 5 times: in the tunnels of the commute, and all afternoon. There were "
                + "\(copies + sum(.offlineLive, .offlineFailures)) loads in that time: \(copies) were answered with a copy, "
                + "\(sum(.offlineLive)) with live data, and \(sum(.offlineFailures)) failed.")
        let facts = try Facts(table.json(seed: 1).text())
        let row = try #require(
            facts["rows"].items.first { $0["resource"].string == "feed" && $0["phase"].string == "commute" })
        #expect(row["offline_spells"].int == 4 && row["offline_milliseconds"].int == 1_080_000)
        #expect(row["offline_fallbacks"].text == loads && row["offline_live"].int == 0)
    }

    @Test func nothingIsToldOfTheNetworkIfNoStrategyHeedsIt() throws {
        let policies = try Folder()
        try policies.write(try Self.text("Policies/feed.json"), to: "feed.json")
        try policies.edit("feed.json", #""patience": "800ms""#, #""patience": "800ms", "offline": "try""#)
        let rows = try DemoDay(seed: 1, policies: policies.url, registry: .standard).live { _, _ in }.rows
        let table = DemoTable(rows: rows)
        #expect(rows.count == 6 && table.offlineLines.isEmpty)
        #expect(table.story.count == 3 && !table.story.joined().contains("tunnels"))
    }

    @Test func figuresOfResourceStayTheSameWhenOtherPolicyIsAdded() throws {
        func feed(_ names: [String]) throws -> [String] {
            let folder = try Folder()
            for name in names { try folder.write(try Self.text("Policies/\(name).json"), to: name + ".json") }
            let rows = try DemoDay(seed: 1, policies: folder.url, registry: .standard).live { _, _ in }.rows
            return DemoTable(rows: rows.filter { $0.resource == "feed" }).lines
        }
        let alone = try feed(["feed"])
        #expect(alone.count > 5)
        #expect(try feed(["catalog", "feed"]) == alone)
    }

    @Test func editionMeetsAnOutageAndABadOneIsRefused() async throws {
        let folder = try Folder()
        let output = await Output(["demo", "--editions", "--out", folder.path])
        #expect(output.code == 0 && output.err.hasPrefix("written to"), "\(output.err)")
        let excerpt = try #require(
            Self.text("README.md").components(separatedBy: "$ swift run larder demo --editions\n").dropFirst().first)
        for line in excerpt.components(separatedBy: "\n```")[0].split(separator: "\n") where line != "…" {
            #expect(output.out.contains(line + "\n"), "README.md shows a line that the demo does not print: \(line)")
        }
        let report = await Output(["report", folder.path]).out.components(separatedBy: "\n\nprices: ")[0]
        let part = report.components(separatedBy: "\n\n").dropFirst().joined(separator: "\n\n")
        #expect(try Self.text("Sources/Larder/Larder.docc/ReadingMetrics.md").contains("\n\(part)\n"), "\(part)")
        let html = try folder.text(of: "report.html")
        #expect(html.contains("Editions of the channel shop") && html.contains("refused: reach 12"))
    }

    @Test(arguments: [2, 3] as [UInt64])
    func devicesFailLessUnderTheEditionAndKeepItAfterTheBadOne(_ seed: UInt64) throws {
        let account = try EditionDays(seed: seed, registry: .standard).live { _, _ in }
        let failed = account.rows.map { $0.metrics[.failedRate] }
        #expect(account.rows.map(\.phase).prefix(4) == ["Monday morning", "outage", "42 arrives", "outage with 42"])
        #expect(failed[1] > 0.3 && failed[2] < failed[1] && failed[3] == 0 && failed[6] == 0, "\(failed)")
        #expect(account.rows[3].metrics[.fallbackRate] == 1)
        #expect(account.refusals.count == 12 && Set(account.refusals).count == 1)
        #expect(account.refusals[0].hasSuffix("'origin' may not be changed [at $.origin]"))
        let facts = [
            "channel": "shop", "running": "42", "state": "confirmed", "revision": "2", "offered": "43", "arm": "trial",
            "fate": "refused", "why": "reach",
        ]
        #expect(account.dumps.map(\.supply) == Array(repeating: facts, count: 12))
        let json = try Facts(account.json(seed: Int(seed)).text())
        #expect(json["rows"].items.count == 7 && json["refusals"].items.count == 12)
        #expect(json["supply"].items.first?["why"].string == "reach")
    }

    @Test func daysOfEditionsTakeNoPolicies() async {
        for words in [["Policies"], ["--policies", "Policies"]] {
            let output = await Output(["demo", "--editions"] + words)
            #expect(output.code == 2 && output.err.contains("takes no PATH and no --policies"))
        }
    }

    @Test func unwritableFolderIsReportedBeforeDayBegins() async throws {
        let policies = try Folder.withPolicies()
        let output = await Output(["demo", "--policies", policies.path, "--out", policies.path + "/feed.json/out"])
        #expect(output.code == 1 && output.out.isEmpty)
        #expect(output.err.hasPrefix("larder: \(policies.path)/feed.json/out cannot be written: "))
    }

    @Test func policiesWithoutSampleOriginAreError() async throws {
        let folder = try Folder()
        try folder.write(
            #"{ "resource": "a", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only" }"#,
            to: "a.json")
        let output = await Output(["demo", "--policies", folder.path])
        #expect(output.code == 1)
        #expect(
            output.err
                == "larder: no policy has an origin that uses 'sample', so there is nothing to show; use 'larder simulate'\n"
        )
    }
}
