import LarderFoundation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins
@testable import LarderCommand
@testable import LarderReports

/// Tests of the HTML report: names and files cannot inject markup, and the drawings show the counted values.
@Suite struct ReportHTMLTests {
    private func page(_ dump: MetricsDump, skipping file: String? = nil) throws -> String {
        var builder = ReportBuilder(now: Dumps.now)
        builder.add(dump)
        if let file { builder.skip(file, "no dump of Larder") }
        return try #require(builder.report().report).html
    }

    @Test func refreshesOnAScheduleHaveATableIfThereAreAny() throws {
        let counts: [Counter: UInt64] = [
            .loads: 9, .scheduledDue: 1_200, .scheduledRun: 900, .scheduledMissed: 300, .scheduledFailed: 7,
        ]
        let page = try page(Dumps.dump([RevisionDump(counts)]))
        let table = try #require(page.components(separatedBy: "<caption>Refreshes that were due").dropFirst().first)
            .components(separatedBy: "</table>")[0]
        for cell in ["1\u{202F}200", "900", "300", "7", "25.0 %"] { #expect(table.contains(">\(cell)<"), "\(table)") }
        #expect(!(try self.page(Dumps.dump([RevisionDump([.loads: 9])])).contains("Refreshes on a schedule")))
    }

    // MARK: Names

    private static let hostile =
        "</title></style><script>alert(1)</script>\"'&<img src=x onerror=y>\u{0}\u{1B}\u{202E}\n"

    @Test func escapedTextIsInertBetweenTagsAndInQuotes() {
        #expect("a<b>&\"'c".inert == "a&lt;b&gt;&amp;&quot;&#39;c")
        #expect(
            "\u{0}\u{9}\n\u{7F}\u{85}\u{2028}\u{202E}\u{FEFF}é😀".inert == String(repeating: "\u{FFFD}", count: 8) + "é😀"
        )
        #expect(("<b title=\"\("\" x=\"<i>")\">" as Markup).html == "<b title=\"&quot; x=&quot;&lt;i&gt;\">")
        #expect(Self.hostile.inert.allSatisfy { !"<>\"'\n".contains($0) })
    }

    @Test func namesAreNeverMarkup() throws {
        var metrics = ResourceMetrics()
        metrics[.loads] = 60
        metrics.faults[StoreFaultKey(tier: Self.hostile, kind: .read)] = 2
        metrics.latency[.live, default: Sketch()].record(.seconds(1))
        metrics.ages[.stale, default: Sketch(.age)].record(.seconds(100))
        let revisions = ["", Self.hostile].map { name in
            RevisionDump(
                name: name + "1", strategy: name + "s", isCurrent: true, metrics: metrics,
                periods: [FiveMinutes(at: name.isEmpty ? 0 : 30, [.loads: 60, .fallbacks: 30])])
        }
        let dump = Dumps.dump(resource: Self.hostile, host: Self.hostile, revisions)
        let page = try page(dump, skipping: Self.hostile)
        #expect(page.components(separatedBy: Self.hostile.printable.inert).count > 10)
        // The page has the same tags as a page with harmless names.
        var harmless = dump
        harmless.resources[0].name = "x"
        harmless.host = "x"
        harmless.resources[0].revisions = revisions.map { revision in
            var revision = revision
            revision.name = revision.name.count > 1 ? "x1" : "1"
            revision.strategy = revision.name
            revision.metrics.faults = [StoreFaultKey(tier: "x", kind: .read): 2]
            return revision
        }
        #expect(Self.tags(page) == Self.tags(try self.page(harmless, skipping: "x")))
    }

    /// Returns the names of all tags in order.
    private static func tags(_ page: String) -> [Substring] {
        page.split(separator: "<").dropFirst().map { $0.prefix { !" >\n".contains($0) } }
    }

    @Test func pageRefersToNoOtherFile() throws {
        let page = try page(
            Dumps.dump([RevisionDump([.loads: 1], live: [.seconds(1)], [FiveMinutes(at: 0, [.loads: 1])])]))
        for word in [
            "<script", "http://", "https://", "url(", "@import", "<link", "<img", " src=", "javascript:", " onload",
        ] {
            #expect(!page.contains(word), "\(word)")
        }
        #expect(page.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
        #expect(page.contains("default-src 'none'"))
        #expect(page.contains("<a href=\"#resource-1\">feed</a>") && page.contains("<section id=\"resource-1\""))
    }

    @Test func headingsAndTablesAreInOrder() async throws {
        let page = await Output([
            "report", projectFolder.path + "/Tests/LarderCommandTests/Fixtures/dump.json", "--format", "html",
        ]).out
        let levels = Self.tags(page).compactMap { $0.count == 2 && $0.first == "h" ? Int($0.dropFirst()) : nil }
        #expect(levels.first == 1 && levels.filter { $0 == 1 }.count == 1)
        #expect(zip(levels, levels.dropFirst()).allSatisfy { $1 <= $0 + 1 })
        let tags = Self.tags(page)
        #expect(tags.filter { $0 == "table" }.count == tags.filter { $0 == "caption" }.count)
        #expect(page.components(separatedBy: "<th ").dropFirst().allSatisfy { $0.hasPrefix("scope=\"") })
        #expect(!page.contains("<th>"))
        // Every chart has a name, a description and its values.
        let charts = page.components(separatedBy: "<svg role=\"img\"").dropFirst()
        #expect(charts.count == 5)
        for chart in charts {
            #expect(chart.contains("<title id=") && chart.contains("<desc id=") && chart.contains("<details>"))
        }
        // Every opened tag is closed.
        for tag in [
            "section", "div", "table", "tr", "td", "svg", "g", "details", "figure", "ul", "li", "dl", "main", "nav",
        ] {
            #expect(tags.filter { $0 == tag }.count == tags.filter { $0 == "/" + tag }.count, "\(tag)")
        }
    }

    // MARK: What is drawn

    /// Returns the text after a series' name, up to the end of its group.
    private func series(_ name: String, in page: String) throws -> String {
        let rest = try #require(page.components(separatedBy: "data-series=\"\(name)\"").dropFirst().first)
        return try #require(rest.components(separatedBy: "</g>").first)
    }

    @Test func linesFollowFromTheCounts() throws {
        let periods = [
            FiveMinutes(at: 0, [.loads: 10, .fallbacks: 1, .originCalls: 4, .originErrors: 2]),
            FiveMinutes(at: 5, [.loads: 10, .fallbacks: 4]),
            FiveMinutes(at: 15, [.loads: 4, .fallbacks: 1, .failures: 1]),
        ]
        let page = try page(Dumps.dump([RevisionDump([.loads: 24, .fallbacks: 6], periods)]))
        // Twenty minutes are 1,000 wide, half of all loads are 240 high. Points are in the middle of their minutes.
        #expect(page.contains("data-from=\"1794916800\" data-to=\"1794918000\" data-top=\"0.5\""))
        let fallback = try series("fallback_rate", in: page)
        #expect(fallback.contains("data-points=\"1794916950,0.1 1794917250,0.4 1794917850,0.25\""))
        #expect(
            fallback.contains("points=\"125,192 375,48\"") && fallback.contains("line dot\" points=\"875,120 875,120\"")
        )
        #expect(try series("failed_rate", in: page).contains("points=\"125,240 375,240\""))
        // A minute without calls has neither failures nor successes.
        #expect(try series("origin_error_rate", in: page).contains("data-points=\"1794916950,0.5\""))
        #expect(page.contains(">2026-11-17 12:05</a></th><td>10</td><td>40.0 %</td>"))
    }

    // MARK: Times without a network

    /// Returns the drawing and the words of each band of the strip below the chart of rates.
    private func bands(in page: String) -> [(title: String, drawing: String)] {
        page.components(separatedBy: "class=\"spell\"").dropFirst().map { rest in
            let band = rest.components(separatedBy: "</g>")[0]
            let title = band.components(separatedBy: "<title>").last?.components(separatedBy: "</title>")[0]
            return (title ?? "", band.components(separatedBy: "</title>").last ?? "")
        }
    }

    private static let tunnels = [
        FiveMinutes(at: 0, [.loads: 10, .offlineTime: 150_000]),
        FiveMinutes(at: 5, [.loads: 10, .offlineTime: 300_000]),
        FiveMinutes(at: 10, [.loads: 10]), FiveMinutes(at: 15, [.loads: 10, .offlineTime: 1_000]),
    ]

    @Test func timesWithoutNetworkAreBandsInProportion() throws {
        let counts: [Counter: UInt64] = [
            .loads: 40, .offlineSpells: 2, .offlineTime: 451_000, .offlineFresh: 19, .offlineFailures: 1,
        ]
        let page = try page(Dumps.dump([RevisionDump(counts, Self.tunnels)]))
        let bands = bands(in: page)
        #expect(
            bands.map(\.title) == [
                "Tuesday 2026-11-17 12:00–12:10: offline for 7.5 min, 75 % of the time",
                "Tuesday 2026-11-17 12:15–12:20: offline for 1 s, &lt; 1 % of the time",
            ])
        // Twenty minutes are 1,000 wide, all of a step 16 high. Even a second can be seen.
        #expect(bands[0].drawing.contains("<rect x=\"0\" y=\"0\" width=\"500\" height=\"16\"/>"))
        #expect(bands[0].drawing.contains("d=\"M0 16V8H250V0H500V16Z\""))
        #expect(bands[1].drawing.contains("<rect x=\"750\" y=\"0\" width=\"250\" height=\"16\"/>"))
        #expect(bands[1].drawing.contains("d=\"M750 16V13H1000V16Z\""))
        #expect(page.contains("</svg>offline, share of the time <small>7.5 min, 2 times</small></li>"))
        #expect(page.contains("<svg class=\"strip\" role=\"group\" aria-label=\"Times without a network\""))
        #expect(page.contains("; offline: 7.5 min, 2 times.</desc>"))
        #expect(page.contains(">2026-11-17 12:05</a></th><td>10</td>") && page.contains("<td>5 min</td></tr>"))
        #expect(page.contains("<h3>Without a network</h3>"))
    }

    @Test func shareOfTimeWithoutNetworkIsThatOfAllProcesses() throws {
        var builder = ReportBuilder(now: Dumps.now)
        let always = [0, 5, 15].map { FiveMinutes(at: $0, [.loads: 10]) }
        builder.add(Dumps.dump(instance: "a", [RevisionDump([.loads: 40, .offlineSpells: 2], Self.tunnels)]))
        builder.add(Dumps.dump(instance: "b", [RevisionDump([.loads: 30], always)]))
        let page = try #require(builder.report().report).html
        let bands = bands(in: page)
        #expect(
            bands.first?.title
                == "Tuesday 2026-11-17 12:00–12:10: 2 processes were offline for 38 % of the time, 7.5 min in all")
        #expect(bands.count == 2 && bands[0].drawing.contains("d=\"M0 16V12H250V8H500V16Z\""))
    }

    @Test func longTimesWithoutNetworkAreDrawnInLongerSteps() throws {
        // Fifteen minutes a step: offline for five of them.
        let periods = (0..<999).map {
            FiveMinutes(at: $0 * 5, [.loads: 10, .offlineTime: $0 % 3 == 1 && $0 < 60 ? 300_000 : 0])
        }
        let page = try page(Dumps.dump([RevisionDump([.loads: 9_990, .offlineSpells: 20], periods)]))
        #expect(bands(in: page).map(\.title) == ["Tuesday 2026-11-17 12:00–17:00: offline for 1.7 h, 33 % of the time"])
    }

    @Test func chartOfDeviceThatWasNeverOfflineHasNoStrip() throws {
        let page = try page(Dumps.dump([RevisionDump([.loads: 10], [FiveMinutes(at: 0, [.loads: 10])])]))
        #expect(bands(in: page).isEmpty && !page.contains("class=\"strip") && !page.contains("offline, share"))
        #expect(!page.contains("offline</th>") && !page.contains("Without a network") && !page.contains("; offline:"))
    }

    @Test func findingLinksToItsIncidentAndEachTimeHasAnID() throws {
        let periods = [
            FiveMinutes(at: 0, [.loads: 100, .fallbacks: 1]), FiveMinutes(at: 5, [.loads: 100, .fallbacks: 50]),
            FiveMinutes(at: 10, [.loads: 100, .fallbacks: 60]),
        ]
        let page = try page(Dumps.dump(resource: "feed_1", [RevisionDump([.loads: 300, .fallbacks: 111], periods)]))
        let id = "feed_5f1@2026-11-17T12:05/2026-11-17T12:15"
        #expect(
            page.contains(
                "<li><a href=\"#\(id)\">Tuesday 2026-11-17 12:05–12:15</a>: 110 of 200 loads (55\u{A0}%) fell back;"))
        #expect(page.contains("<tr id=\"\(id)\"><th scope=\"row\">Tuesday 2026-11-17 12:05–12:15</th>"))
        #expect(page.contains("<rect class=\"band band-1\" x=\"333.33\" y=\"0\" width=\"666.67\""))
        for minute in ["00", "05", "10"] { #expect(page.contains("<tr id=\"feed_5f1@2026-11-17T12:\(minute)\">")) }
        // Each id occurs once, and each link has a target.
        func values(_ name: String) -> [String] {
            page.components(separatedBy: " \(name)=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
        }
        let ids = values("id")
        #expect(Set(ids).count == ids.count)
        for link in values("href") { #expect(link.hasPrefix("#") && ids.contains(String(link.dropFirst())), "\(link)") }
    }

    @Test func longTimesAreDrawnInLongerSteps() throws {
        let periods = (0..<1_000).map { FiveMinutes(at: $0 * 5, [.loads: 10, .fallbacks: UInt64($0 % 3)]) }
        let page = try page(Dumps.dump([RevisionDump([.loads: 10_000], periods)]))
        let points = try series("fallback_rate", in: page).components(separatedBy: "data-points=\"")[1]
            .components(separatedBy: "\"")[0].split(separator: " ")
        #expect(points.count == 334 && points[0] == "1794917250,0.1")
        #expect(page.contains("for each 15 min"))
    }

    @Test func columnsFollowFromTheSketches() throws {
        var revision = RevisionDump(
            [.loads: 5], live: [.zero, .zero, .milliseconds(30), .milliseconds(30), .milliseconds(31)])
        revision.metrics.ages[.stale] = Sketch(.age)
        revision.metrics.ages[.stale]?.record(.seconds(3_000))
        let page = try page(Dumps.dump([revision]))
        let live = try series("latency_live", in: page)
        // From 0.1 ms to 1 s in forty columns of 25: the first, and the one from 25 ms to 32 ms.
        #expect(live.contains("<rect x=\"0\" y=\"40\" width=\"25\" height=\"48\"/>"))
        #expect(live.contains("<rect x=\"600\" y=\"16\" width=\"25\" height=\"72\"/>"))
        #expect(live.components(separatedBy: "<rect").count == 3)
        #expect(page.contains("data-low=\"0.0001\" data-high=\"1.0\""))
        #expect(try series("age_stale", in: page).contains("data-points=\"2511.886"))
    }

    @Test(arguments: [(0.0, 0.1, 2), (0.004, 0.004, 2), (0.31, 0.4, 4), (0.5, 0.5, 5), (0.96, 1, 5), (1, 1, 5)])
    func sharesHaveRoundScales(most: Double, top: Double, steps: Int) {
        let scale = ShareScale(upTo: most)
        #expect(abs(scale.top - top) < 1e-9 && scale.ticks.count == steps + 1, "\(scale)")
        #expect(scale.top >= most && scale.ticks.last?.place == 1)
    }

    @Test func timesHaveRoundTicks() {
        let day = TimeScale(Dumps.noon...(Dumps.noon + .seconds(86_400)))
        #expect(
            day.ticks.map(\.label) == [
                "12:00", "15:00", "18:00", "21:00", "Wed 18 Nov", "03:00", "06:00", "09:00", "12:00",
            ])
        let short = TimeScale(Dumps.noon...(Dumps.noon + .seconds(300)))
        #expect(short.ticks.map(\.label) == ["12:00", "12:05"])
        let all = TimeScale(Timestamp(nanoseconds: .min)...Timestamp(nanoseconds: .max))
        #expect(all.ticks.count >= 2)
    }
}
