import LarderFoundation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins
@testable import LarderCommand
@testable import LarderReports

/// The findings of a report in words, and its format of days and times.
@Suite struct FindingsTests {
    private func findings(_ revisions: RevisionDump...) throws -> [String] {
        var builder = ReportBuilder(now: Dumps.now)
        builder.add(Dumps.dump(revisions))
        return try #require(builder.report().report?.sections.first).findings
    }

    private static func quiet(_ minutes: Int64...) -> [FiveMinutes] {
        minutes.map { FiveMinutes(at: $0, [.loads: 100, .hits: 100, .originCalls: 10]) }
    }

    @Test func incidentIsReportedWithCauseAndEffect() throws {
        let bad = [
            FiveMinutes(
                at: 5, [.loads: 100, .fallbacks: 42, .originCalls: 50, .originErrors: 22], oldest: .seconds(10_800)),
            FiveMinutes(
                at: 15, [.loads: 100, .fallbacks: 42, .originCalls: 50, .originErrors: 35], oldest: .seconds(7_200)),
        ]
        let between = FiveMinutes(at: 10, [.loads: 100, .fallbacks: 9, .originCalls: 50, .originErrors: 3])
        let periods = [Self.quiet(0), bad, [between], Self.quiet(20)].joined().sorted { $0.start < $1.start }
        #expect(
            try findings(RevisionDump([.loads: 500, .fallbacks: 93], periods)) == [
                "Tuesday 2026-11-17 12:05–12:20: 93 of 300 loads (31 %) fell back; 60 of 150 calls (40 %) to the origin "
                    + "failed; users saw data up to 3 h old; nobody got an error"
            ])
    }

    @Test func failuresAreCountedAndWorstIncidentIsFirst() throws {
        let one = FiveMinutes(at: 0, [.loads: 100, .failures: 12])
        #expect(
            try findings(RevisionDump([.loads: 100, .failures: 12, .staleErrors: 1], [one])) == [
                "Tuesday 2026-11-17 12:00–12:05: 12 of 100 loads (12 %) failed",
                "1 load failed because the policy no longer allowed its copy",
            ])
        let many = (0..<5).map { FiveMinutes(at: $0 * 20, [.loads: 100, .fallbacks: 50 + UInt64($0)]) }
        let found = try findings(RevisionDump([.loads: 500, .fallbacks: 260], many))
        #expect(found.count == 4 && found[0].contains("13:20–13:25") && found[2].contains("12:40–12:45"))
        #expect(found[3] == "2 lesser incidents of that kind")
    }

    @Test func refusedLoadsOfAnIncidentAreToldOnce() throws {
        let bad = FiveMinutes(at: 0, [.loads: 100, .fallbacks: 60, .failures: 12, .staleErrors: 9])
        func findings(refused: UInt64) throws -> [String] {
            try self.findings(RevisionDump([.loads: 900, .fallbacks: 60, .staleErrors: refused], [bad]))
        }
        let incident =
            "Tuesday 2026-11-17 12:00–12:05: 60 of 100 loads (60 %) fell back; 12 loads got an error, 9 of them because the "
            + "policy no longer allowed their copies"
        #expect(try findings(refused: 9) == [incident])
        #expect(
            try findings(refused: 11) == [
                incident, "11 loads in all failed because the policy no longer allowed their copies",
            ])
    }

    @Test func p95OfAnsweredCallsIsNamedApartIfCallsFailed() throws {
        var revision = RevisionDump(
            [.loads: 100], live: Array(repeating: .milliseconds(100), count: 100),
            origin: Array(repeating: .seconds(9), count: 100))
        for _ in 0..<50 {
            revision.metrics.originLatency.record(.milliseconds(5))
            revision.metrics.originFailureLatency.record(.milliseconds(5))
        }
        #expect(
            try findings(revision) == [
                "users waited less than the origin took: load p95 100 ms, origin p95 of answered calls 9 s"
            ])
    }

    @Test func p95OfLoadsAndOfCallsHaveOneNameEachInAPage() async throws {
        let dump = projectFolder.appending(path: "Tests/LarderCommandTests/Fixtures/dump.json").path
        let page = await Output(["report", dump, "--format", "html"]).out
        #expect(page.contains(">load p95</th>") && page.contains(">origin p95</th>"))
        for name in ["p95 felt", "p95 of calls", "The origin’s calls", "origin’s p95"] { #expect(!page.contains(name)) }
    }

    @Test func noteSaysWhatFallingBackMeans() async throws {
        let words = "A load fell back if it got a copy, or the value of one of the policy's 'fallbacks', because "
        let dumps = try Dumps()
        try dumps.write("a.json", RevisionDump([.loads: 9, .fallbacks: 1]))
        for format in ["text", "html"] {
            let output = await dumps.report("--format", format).out
            #expect(output.contains(format == "html" ? words.replacing("'", with: "&#39;") : words), "\(format)")
        }
        try dumps.write("a.json", RevisionDump([.loads: 9]))
        #expect(await !dumps.report().out.contains(words))
    }

    @Test func oneOfAThingIsNoPlural() async throws {
        let dumps = try Dumps()
        try dumps.write(
            "a.json", store: StoreStatistics(entries: 1, bytes: 1),
            RevisionDump([.loads: 9, .originCalls: 1, .coalesced: 1]))
        #expect(
            await dumps.report().out.contains(
                "store: 1 entry, 1 byte, 0 evicted, 0 faults, 0 damaged; origin: 1 call, 0 failed, 0 unchanged, 1 load joined "
                    + "another's\n"))
    }

    @Test func reportAboutLessThanAMinuteShowsSeconds() async throws {
        let dumps = try Dumps()
        var dump = Dumps.dump([RevisionDump([.loads: 9])])
        dump.written = dump.started + .seconds(7)
        try dumps.write("a.json", dump)
        let times = "2026-11-17 12:00:00 UTC to 2026-11-17 12:00:07 UTC"
        #expect(await dumps.report().out.hasPrefix(times))
        #expect(await dumps.report("--format", "html").out.contains(times))
    }

    @Test func resourceThatOnlyPrefetchesSaysSoInTextAndPage() async throws {
        let dumps = try Dumps()
        try dumps.write("a.json", RevisionDump([.prefetched: 24, .prefetchedBytes: 2_400]))
        for format in ["text", "html"] {
            let output = await dumps.report("--format", format).out
            #expect(output.contains("24 copies were prefetched, and nobody has loaded one yet"), "\(output)")
            #expect(output.contains("wasted of used and wasted") && !output.contains("0.0 %"), "\(output)")
        }
    }

    @Test func outageAfterWhichCopiesWereTooOldIsNamedWithItsCause() throws {
        let outage = [0, 5].map {
            FiveMinutes(at: $0, [.loads: 60, .failures: 60, .staleErrors: 58, .originCalls: 60, .originErrors: 60])
        }
        let found = try findings(RevisionDump([.loads: 120, .failures: 120, .staleErrors: 116], outage))
        #expect(
            found.first
                == "Tuesday 2026-11-17 12:00–12:10: all 120 loads failed, 116 of them because the policy no longer allowed "
                + "their copies; all 120 calls to the origin failed")
        // A 404 is an answer, and no incident.
        let answers = FiveMinutes(at: 0, [.loads: 60, .failures: 60, .answers: 60])
        #expect(
            try findings(RevisionDump([.loads: 60, .failures: 60, .answers: 60], [answers])) == ["nothing stands out"])
    }

    @Test func failedCallsDoNotCountAsWhatTheCacheHid() throws {
        func revision(failing: Int) -> RevisionDump {
            var revision = RevisionDump(
                [.loads: 100], live: Array(repeating: .milliseconds(100), count: 100),
                origin: Array(repeating: .milliseconds(150), count: 100) + Array(repeating: .seconds(9), count: failing)
            )
            for _ in 0..<failing { revision.metrics.originFailureLatency.record(.seconds(9)) }
            return revision
        }
        #expect(try findings(revision(failing: 50)) == ["nothing stands out"])
        var slow = revision(failing: 50)
        slow.metrics.originFailureLatency = Sketch()
        #expect(
            try findings(slow) == ["users waited less than the origin took: load p95 100 ms, origin p95 9 s"])
    }

    @Test func risingAndFallingTrendsAreReported() throws {
        let worse = (0..<6).map { FiveMinutes(at: $0 * 5, [.loads: 100, .fallbacks: $0 < 4 ? 1 : 6]) }
        #expect(
            try findings(RevisionDump([.loads: 600, .fallbacks: 16], worse))
                == [
                    "getting worse: 1 % of loads fell back or failed in the first third of the time, 6 % in the last third"
                ])
        let better = (0..<6).map { FiveMinutes(at: $0 * 5, [.loads: 100, .failures: $0 < 2 ? 5 : 0]) }
        #expect(
            try findings(RevisionDump([.loads: 600, .failures: 10], better))
                == [
                    "getting better: 5 % of loads fell back or failed in the first third of the time, 0 % in the last third"
                ])
    }

    @Test func storesAndErrorsHiddenByCacheAreReported() throws {
        var revision = RevisionDump(
            [.loads: 2, .corrupt: 2], live: [.milliseconds(100)], origin: [.milliseconds(900), .milliseconds(900)])
        revision.metrics.faults = [
            StoreFaultKey(tier: "file\u{1B}", kind: .write): 1, StoreFaultKey(tier: "file\u{1B}", kind: .read): 3,
        ]
        #expect(
            try findings(revision) == [
                "users waited less than the origin took: load p95 100 ms, origin p95 897 ms",
                "store 'file\u{FFFD}' failed to read 3 times",
                "store 'file\u{FFFD}' failed to write 1 time", "2 damaged copies were removed",
            ])
        #expect(try findings(RevisionDump([.loads: 1])) == ["nothing stands out"])
        #expect(try findings(RevisionDump([:])) == ["no loads were counted"])
        #expect(
            try findings(RevisionDump([.prefetched: 24])) == [
                "24 copies were prefetched, and nobody has loaded one yet"
            ])
    }

    // MARK: Rates

    @Test func everyRateIsInEachFormatOfAReport() async throws {
        let dump = projectFolder.appending(path: "Tests/LarderCommandTests/Fixtures/dump.json").path
        for format in ["text", "json", "prometheus", "openmetrics", "html"] {
            let output = await Output(["report", dump, "--format", format])
            for rate in Rate.all {
                let name = format == "text" ? rate.name.replacing("_rate", with: "") : rate.name
                #expect(output.out.contains(name), "\(name) as \(format)")
            }
        }
        let read = try MetricsDump(reading: Array(Data(contentsOf: URL(filePath: dump))))
        for rate in Rate.all { #expect(read.json.text().contains("\"\(rate.name)\"")) }
    }

    // MARK: The text, whole

    @Test func reportOfFixedDumpHasFixedText() async throws {
        let fixtures = projectFolder.appending(path: "Tests/LarderCommandTests/Fixtures")
        let output = await Output(["report", fixtures.appending(path: "dump.json").path])
        let expected = try String(contentsOf: fixtures.appending(path: "report.txt"), encoding: .utf8)
        #expect(output.code == 0 && output.out == expected, "\(output.out)")
    }

    // MARK: Days and times

    @Test(arguments: [
        (0, "1970-01-01 00:00 UTC", "Thursday"), (-60, "1969-12-31 23:59 UTC", "Wednesday"),
        (951_782_400, "2000-02-29 00:00 UTC", "Tuesday"), (951_868_799, "2000-02-29 23:59 UTC", "Tuesday"),
        (951_868_800, "2000-03-01 00:00 UTC", "Wednesday"), (1_795_219_200, "2026-11-21 00:00 UTC", "Saturday"),
        (4_107_542_400, "2100-03-01 00:00 UTC", "Monday"), (1_704_067_199, "2023-12-31 23:59 UTC", "Sunday"),
    ])
    func daysAreThoseOfTheCalendar(seconds: Int64, spelled: String, weekday: String) {
        let moment = Timestamp(seconds: seconds)
        #expect(moment.spelled == spelled && moment.weekday == weekday)
        guard seconds >= 0 else { return }
        #expect(Timestamp(spelled: String(spelled.prefix(16)))?.spelled == spelled)
        #expect(
            Timestamp(spelled: moment.date + "T" + moment.time + ":59Z") == Timestamp(seconds: seconds / 60 * 60 + 59))
    }

    @Test(arguments: [
        "2026-02-29", "2100-02-29", "2026-13-01", "2026-00-01", "2026-01-32", "2026-1-1", "2026-01-01T",
        "2026-01-01T24:00",
        "2026-01-01T10:60", "2026-01-01 10:00:60", "2026-01-01T10:00+01:00", "٢٠٢٦-01-01", "1969-12-31", "",
    ])
    func invalidTimeIsNil(text: String) {
        #expect(Timestamp(spelled: text) == nil)
    }
}
