import LarderFoundation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderCommand
@testable import LarderReports

/// The part of a report about the editions that installations run.
@Suite struct EditionReportTests {
    /// A dump of an installation with loads in ten periods.
    private static func dump(
        _ number: Int, _ facts: [String: String], loads: UInt64 = 10, failures: UInt64 = 0, instance: String? = nil
    ) -> MetricsDump {
        dump(
            number, facts, instance: instance,
            revisions: [revision(facts["running"] ?? "own", loads: loads, failures: failures)])
    }

    private static func dump(
        _ number: Int, _ facts: [String: String], instance: String? = nil, revisions: [RevisionDump]
    ) -> MetricsDump {
        var dump = Dumps.dump(instance: instance ?? "run-\(number)", revisions)
        dump.installation = "device-\(number)"
        dump.supply = facts
        return dump
    }

    private static func revision(
        _ name: String, isCurrent: Bool = true, loads: UInt64 = 10, failures: UInt64 = 0, supplied: [String] = []
    ) -> RevisionDump {
        let periods = (0..<10).map { place in
            var period = FiveMinutes(at: Int64(place) * 5, [.loads: loads, .failures: failures])
            period.waited = .seconds(1)
            return period
        }
        var revision = RevisionDump(
            name, isCurrent: isCurrent, [.loads: loads * 10, .failures: failures * 10], live: [.milliseconds(200)],
            periods)
        revision.supplied = supplied
        return revision
    }

    private static func report(_ dumps: [MetricsDump]) throws -> Report {
        var builder = ReportBuilder(now: Dumps.now)
        for dump in dumps { builder.add(dump) }
        return try #require(builder.report().report)
    }

    private static func facts(
        _ running: String, _ state: String, offered: String = "42", arm: String = "trial",
        _ more: [String: String] = [:]
    ) -> [String: String] {
        ["channel": "shop", "running": running, "state": state, "offered": offered, "arm": arm, "revision": "107"]
            .merging(more) { $1 }
    }

    @Test func installationsAreCountedByTheirPoliciesAndFates() throws {
        let report = try Self.report([
            Self.dump(1, Self.facts("42", "trial")), Self.dump(2, Self.facts("42", "confirmed")),
            Self.dump(
                3, Self.facts("own", "own", arm: "control", ["revision": "105", "channel_failure": "unreachable"])),
            Self.dump(4, Self.facts("own", "own", ["fate": "refused", "why": "reach"])),
            Self.dump(5, Self.facts("41", "confirmed", offered: "sha256:449f9b82be47", ["fate": "unfetched"])),
        ])
        let channel = try #require(report.channels.first)
        #expect(channel.heading == "Editions of the channel shop")
        #expect(
            channel.facts
                == "5 installations; newest revision 107 on 4; oldest revision 105 on 1; channel not used: unreachable 1"
        )
        #expect(
            channel.rows == [
                ["edition 42", "trial 3, control 1", "refused: reach 1", "2", "1", "1", "4"],
                ["edition 41", "–", "–", "1", "0", "1", "0"],
                ["sha256:449f9b82be47", "trial 1", "unfetched 1", "0", "0", "0", "1"],
                ["own policies", "–", "–", "2", "–", "–", "–"],
            ])
        #expect(report.text.contains("\n\nEditions of the channel shop: 5 installations; newest revision"))
        #expect(
            report.text.contains("\n  edition 42           trial 3, control 1  refused: reach 1       2         1  "))
        let facts = try Facts(report.json.text())["channels"].items[0]
        #expect(facts["channel"].string == "shop" && facts["oldest"]["revision"].int == 105)
        #expect(facts["editions"].items.map { $0["edition"].string } == ["42", "41", "sha256:449f9b82be47", "own"])
        #expect(facts["editions"].items[0]["fates"]["refused: reach"].int == 1)
    }

    @Test func editionThatFailsLessIsBetterThanNone() throws {
        let report = try Self.report(
            (0..<60).map { number in
                let isNew = number % 2 == 1
                return Self.dump(
                    number, Self.facts(isNew ? "42" : "own", isNew ? "confirmed" : "own"),
                    failures: isNew ? UInt64(number % 3 == 0 ? 1 : 0) : 5)
            })
        let editions = try #require(report.channels.first?.editions)
        #expect(editions.map(\.comparisons.count) == [1, 0])
        #expect(
            editions[0].comparisons[0].row == [
                "feed", "better: failed", "3\u{202F}000", "3\u{202F}000", "3.3 %", "50.0 %", "0.0 %", "0.0 %", "200 ms",
                "200 ms",
            ])
        let facts = try Facts(report.json.text())["channels"].items[0]["editions"].items[0]["resources"].items[0]
        #expect(facts["without"]["failed_rate"].text == "0.5" && facts["with"]["loads"].int == 3_000)
        #expect(report.html.contains("<caption>Loads under edition 42, and without it</caption>"))
        #expect(report.html.contains("<p class=\"well\">The columns &#39;without&#39; are"))
        #expect(report.text.contains("\n  edition 42:\n  resource  difference      loads  loads without  failed"))
    }

    @Test func fewInstallationsTellNoDifference() throws {
        let report = try Self.report([
            Self.dump(1, Self.facts("42", "trial"), loads: 1, failures: 0),
            Self.dump(2, Self.facts("own", "own"), loads: 1, failures: 1),
        ])
        let row = try #require(report.channels.first?.editions.first?.comparisons.first?.row)
        #expect(
            row == [
                "feed", "too little data", "10", "10", "0.0 %", "100.0 %", "0.0 %", "0.0 %", "200 ms", "200 ms",
            ])
    }

    /// Dumps of installations of which every other one has left edition 42, whose revision is b.
    private static func halted(supplied: Bool) -> [MetricsDump] {
        (0..<60).map { number in
            let own = revision("a", supplied: supplied ? ["own"] : [])
            let left = revision("b", isCurrent: false, failures: 5, supplied: supplied ? ["42"] : [])
            return dump(number, facts("own", "own"), revisions: number % 2 == 1 ? [own, left] : [own])
        }
    }

    private static func compared(_ dumps: [MetricsDump]) throws -> [String: [[String]]] {
        let editions = try #require(report(dumps).channels.first).editions
        return Dictionary(
            uniqueKeysWithValues: editions.map { ($0.name, $0.comparisons.map { Array($0.row.prefix(4)) }) })
    }

    private static let harm = ["feed", "worse: failed", "3\u{202F}000", "6\u{202F}000"]

    @Test func haltedEditionIsComparedIfDumpsTellItsRevisions() throws {
        #expect(try Self.compared(Self.halted(supplied: true)) == ["42": [Self.harm], "own": []])
    }

    @Test func haltedEditionIsComparedIfAnotherDeviceStillRunsIt() throws {
        let last = Self.dump(60, Self.facts("42", "trial"), revisions: [Self.revision("b", loads: 0)])
        #expect(try Self.compared(Self.halted(supplied: false) + [last]) == ["42": [Self.harm], "own": []])
        let unknown = try Self.compared(Self.halted(supplied: false))
        #expect(unknown == ["42": [], "own": []], "no dump tells the edition of b")
    }

    @Test func haltedEditionIsComparedIfAnEarlierDumpOfAProcessTellsIt() throws {
        var dumps = Self.halted(supplied: false)
        var earlier = Self.dump(1, Self.facts("42", "trial"), revisions: [Self.revision("b", loads: 1)])
        earlier.written = dumps[1].written - .seconds(600)
        dumps[1].number = 1
        #expect(try Self.compared(dumps + [earlier]) == ["42": [Self.harm], "own": []])
    }

    @Test func loadsBeforeTheEditionCameAreNotCountedToIt() throws {
        let dumps = (0..<60).map { number in
            Self.dump(
                number, Self.facts("42", "trial"),
                revisions: [
                    Self.revision("a", isCurrent: false, supplied: ["own"]),
                    Self.revision("b", loads: 1, supplied: ["42"]),
                ])
        }
        #expect(try Self.compared(dumps)["42"]?.first?.suffix(2) == ["600", "6\u{202F}000"])
    }

    @Test(arguments: [true, false])
    func resourceThatTheEditionDoesNotChangeIsNotCompared(_ isTold: Bool) throws {
        let dumps = (0..<60).map { number in
            let running = number % 2 == 1 ? "42" : "own"
            let unchanged = Self.revision(
                "a", failures: number % 2 == 1 ? 5 : 0, supplied: isTold ? ["own", running] : [])
            return Self.dump(number, Self.facts(running, running == "own" ? "own" : "trial"), revisions: [unchanged])
        }
        #expect(try Self.compared(dumps) == ["42": [], "own": []])
        let older = Self.dump(61, Self.facts("own", "own"), revisions: [Self.revision("c", supplied: ["own"])])
        #expect(try Self.compared(dumps + [older]) == ["42": [], "own": []], "the app's own policy was another once")
        let other = Self.dump(60, Self.facts("41", "confirmed"), loads: 100)
        let compared = try Self.compared(dumps + [other])
        #expect(compared["42"]?.map { $0.suffix(2) } == [["6\u{202F}000", "1\u{202F}000"]], "41 has another policy")
    }

    @Test func revisionThatTookEffectWhileTheDumpWasMadeBelongsToNoEdition() throws {
        let dump = Self.dump(
            1, Self.facts("42", "trial"),
            revisions: [Self.revision("a", isCurrent: false, supplied: ["own"]), Self.revision("b")])
        #expect(try Self.compared([dump]) == ["42": [], "own": []])
    }

    @Test func editionsThatFollowedEachOtherAreSaidToBeOfOtherTimes() throws {
        let dumps = (0..<60).map { number in
            var later = Self.revision("b", failures: 5, supplied: ["42"])
            later.periods = later.periods.map { period in
                var period = period
                period.start = period.start + .seconds(86_400)
                return period
            }
            return Self.dump(
                number, Self.facts("42", "trial"),
                revisions: [Self.revision("a", isCurrent: false, supplied: ["own"]), later])
        }
        #expect(try Self.compared(dumps)["42"]?.first?[1] == "worse: failed; not in use at the same time")
    }

    @Test func dumpsWithAnyRevisionsEndNoReport() throws {
        let dumps = (0..<4).map { dump in
            Self.dump(
                dump, Self.facts("42", "trial"),
                revisions: (0..<3_000).map { number in
                    var revision = RevisionDump("\(dump)-\(number)", [.loads: 1])
                    revision.supplied = number == 0 ? ["42"] : ["own"]
                    if number >= 2_900 { revision.supplied = (0..<16).map { "\(1_000 + dump * 7 + number * 16 + $0)" } }
                    return revision
                })
        }
        let channel = try #require(Self.report(dumps).channels.first)
        #expect(channel.editions.count == 33 && channel.installations == 4)
        #expect(channel.editions.count(where: { !$0.comparisons.isEmpty }) <= 8)
        let edition = try #require(channel.editions.first { $0.name == "42" })
        #expect(edition.comparisons[0].row[2...3] == ["4", "9\u{202F}996"], "10,000 policies are kept")
    }

    @Test func installationCountsOnceAsItsLastProcessSays() throws {
        var earlier = Self.dump(1, Self.facts("41", "confirmed"), instance: "a")
        earlier.written = Dumps.noon + .seconds(600)
        var later = Self.dump(1, Self.facts("42", "trial"), instance: "b")
        (later.started, later.written) = (Dumps.noon + .seconds(700), Dumps.noon + .seconds(9_000))
        var beside = later
        beside.instance = "c"
        let channel = try #require(Self.report([earlier, later, beside]).channels.first)
        #expect(channel.rows.map { [$0[0], $0[3]] } == [["edition 42", "1"], ["edition 41", "0"]])
    }

    @Test func nothingIsToldOfEditionsIfNoDumpHasThem() throws {
        var foreign = Self.dump(1, [:])
        foreign.supply = ["weather": "fine"]
        let report = try Self.report([foreign])
        #expect(report.channels.isEmpty)
        for text in [report.text, report.html, report.json.text()] {
            #expect(!text.contains("Editions") && !text.contains("channels"))
        }
    }

    @Test func namesOfEditionsAreNeverMarkup() throws {
        let hostile = "</td><script>alert(1)</script>\"'\u{1B}\u{202E}\n"
        let words = ["channel", "running", "state", "offered", "arm", "fate", "why", "channel_failure"]
        let facts = Dictionary(uniqueKeysWithValues: words.map { ($0, hostile) })
        let report = try Self.report([Self.dump(1, facts), Self.dump(2, facts.merging(["running": "42"]) { $1 })])
        #expect(report.html.contains("&lt;/td&gt;&lt;script&gt;alert(1)") && !report.html.contains("<script"))
        #expect(!report.html.contains("\u{1B}") && !report.text.contains("\u{1B}") && !report.text.contains("\u{202E}"))
    }

    @Test func dumpsWithAnyFactsEndNoReport() throws {
        let long = String(repeating: "9", count: 256)
        let dumps = (0..<200).map { number in
            Self.dump(
                number,
                [
                    "channel": "c\(number % 40)", "running": "\(number)", "state": long,
                    "revision": number == 0 ? long : "-1",
                    "offered": "x\(number)\(long)", "arm": "arm\(number)", "fate": "fate\(number)", "why": long,
                    "channel_failure": "failure\(number)",
                ])
        }
        let report = try Self.report(dumps + (200..<260).map { Self.dump($0, Self.facts("\($0)", "trial")) })
        #expect(report.channels.count == 17 && report.channels.map(\.installations).reduce(0, +) == 260)
        for channel in report.channels {
            #expect(channel.editions.count(where: { !$0.comparisons.isEmpty }) <= 8)
            #expect(channel.editions.count <= 33 && channel.failures.count <= 21)
            #expect(channel.editions.map(\.installations).reduce(0, +) == channel.installations)
            #expect(channel.rows.joined().allSatisfy { $0.count < 2_000 })
        }
        #expect(report.channels.allSatisfy { $0.name == "other" || $0.oldest == nil })
    }

    @Test(arguments: [
        #"{ "running": 42, "channel": "shop" }"#, #"{ "running": null }"#, #"{ "running": ["42"] }"#, "[]", "7",
        #""own""#,
    ])
    func factsOfWrongTypesAreIgnored(_ supply: String) throws {
        let text = Self.dump(1, ["running": "X"]).json.text()
        let start = try #require(text.firstRange(of: #""supply": {"#))
        let end = try #require(text[start.upperBound...].firstIndex(of: "}"))
        let changed = text[..<start.lowerBound] + #""supply": "# + supply + text[text.index(after: end)...]
        let dump = try MetricsDump(reading: Array(changed.utf8))
        #expect(dump.supply["running"] == nil)
        #expect(try Self.report([dump]).channels.isEmpty)
    }
}
