import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderCommand
@testable import LarderReports

/// Each kind of sentence in "What stands out": a dump that must produce it, and one very like it that must not.
@Suite struct SentenceTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        /// A part of the sentence.
        var words: String
        /// A part of every sentence of this kind; nil if ``words`` are.
        var anyWords: String?
        var present: [RevisionDump]
        var absent: [RevisionDump]

        var testDescription: String { words }
    }

    private static func section(_ revisions: [RevisionDump]) throws -> Report.Section {
        var builder = ReportBuilder(now: Dumps.now)
        builder.add(Dumps.dump(revisions))
        return try #require(builder.report().report?.sections.first)
    }

    @Test(arguments: incidents + totals + trends + revisions)
    func sentenceIsSaidOnlyWhereItIsTrue(kind: Kind) throws {
        let (present, absent) = (try Self.section(kind.present).findings, try Self.section(kind.absent).findings)
        #expect(present.contains { $0.contains(kind.words) }, "\(present)")
        #expect(!absent.contains { $0.contains(kind.anyWords ?? kind.words) }, "\(absent)")
    }

    @Test(arguments: incidents + totals + trends + revisions)
    func everyNumberOfASentenceIsInATable(kind: Kind) async throws {
        for revisions in [kind.present, kind.absent] {
            let dumps = try Dumps()
            try dumps.write("a.json", Dumps.dump(revisions))
            let lines = await dumps.report().out.split(separator: "\n", omittingEmptySubsequences: false)
            let findings = try Self.section(revisions).findings
            // The sentences come first, and tables after an empty line.
            let start = try #require(lines.firstIndex { $0.hasPrefix("feed: ") })
            let tables = lines[start...].drop { !$0.isEmpty }
            let known = Set(tables.flatMap(Self.numbers))
            for finding in findings {
                for number in Self.numbers(in: finding[...]) {
                    #expect(known.contains(number), "\(number) of: \(finding)\n\(tables.joined(separator: "\n"))")
                }
            }
        }
    }

    /// The words with digits, without the punctuation around them.
    private static func numbers(in text: Substring) -> [String] {
        text.split { !($0.isLetter || $0.isNumber || ".:-–".contains($0)) }
            .map { word in
                var word = word.drop { !($0.isLetter || $0.isNumber) }
                while let last = word.last, !(last.isLetter || last.isNumber) { word.removeLast() }
                return String(word)
            }.filter { $0.contains(where: \.isNumber) }
    }

    // MARK: Incidents

    private static func period(_ counts: [Counter: UInt64], oldest: Duration? = nil) -> [RevisionDump] {
        let most: [Counter: UInt64] = [.loads: 100, .originCalls: 50]
        let counts = most.merging(counts) { $1 }
        return [RevisionDump(counts, [FiveMinutes(at: 0, counts, oldest: oldest)])]
    }

    private static func incidents(_ count: Int) -> [RevisionDump] {
        let periods = (0..<count).map { FiveMinutes(at: Int64($0) * 20, [.loads: 100, .fallbacks: 30 + UInt64($0)]) }
        return [RevisionDump([.loads: 100 * UInt64(count), .fallbacks: 33], periods)]
    }

    static let incidents = [
        Kind(
            words: "12:00–12:05: 10 of 100 loads (10 %) fell back", anyWords: "fell back",
            present: period([.fallbacks: 10]),
            absent: period([.fallbacks: 9])),
        Kind(
            words: "5 of 7 loads (71 %) fell back", anyWords: "fell back", present: period([.loads: 7, .fallbacks: 5]),
            absent: period([.loads: 7, .fallbacks: 4])),
        Kind(
            words: "12 of 100 loads (12 %) failed", present: period([.failures: 12]),
            absent: period([.failures: 12, .answers: 12])),
        Kind(
            words: "all 100 loads failed", present: period([.failures: 100]),
            absent: period([.failures: 99])),
        Kind(
            words: "16 of 100 loads (16 %) failed, 8 of them because the policy no longer allowed their copies",
            anyWords: "because", present: period([.failures: 16, .staleErrors: 8]),
            absent: period([.failures: 16])),
        Kind(
            words: "22 of 50 calls (44 %) to the origin failed", present: period([.fallbacks: 42, .originErrors: 22]),
            absent: period([.fallbacks: 42])),
        Kind(
            words: "no call to the origin failed: it was slow, or rested", present: period([.fallbacks: 42]),
            absent: period([.fallbacks: 42, .offlineTime: 240_000])),
        Kind(
            words: "users saw data up to 3 h old", present: period([.fallbacks: 42], oldest: .seconds(10_800)),
            absent: period([.fallbacks: 42])),
        Kind(
            words: "fell back; offline for 4 min; nobody", anyWords: "offline",
            present: period([.fallbacks: 42, .offlineTime: 240_000]), absent: period([.fallbacks: 42])),
        Kind(
            words: "nobody got an error", present: period([.fallbacks: 42]),
            absent: period([.fallbacks: 42, .failures: 1])),
        Kind(
            words: "1 load got an error", present: period([.fallbacks: 42, .failures: 1]),
            absent: period([.fallbacks: 42, .failures: 1, .answers: 1])),
        Kind(words: "1 lesser incident of that kind", present: incidents(4), absent: incidents(3)),
    ]

    // MARK: Totals

    private static func waits(_ live: Int, _ origin: Int) -> [RevisionDump] {
        [
            RevisionDump(
                [.loads: 20], live: Array(repeating: .milliseconds(live), count: 20),
                origin: Array(repeating: .milliseconds(origin), count: 20))
        ]
    }

    private static func failing(_ count: UInt64) -> [RevisionDump] {
        var revision = RevisionDump([.loads: 9])
        revision.metrics.faults = [
            StoreFaultKey(tier: "file", kind: .write): count, StoreFaultKey(tier: "file", kind: .read): 2,
        ]
        return [revision]
    }

    static let totals = [
        Kind(
            words: "3 loads failed because the policy no longer allowed their copies",
            present: [RevisionDump([.loads: 100, .staleErrors: 3])],
            absent: [RevisionDump([.loads: 100, .failures: 3])]),
        Kind(
            words: "offline 14 min, 3 times: 96.0 % of loads were answered",
            present: [
                RevisionDump([
                    .loads: 50, .offlineSpells: 3, .offlineTime: 840_000, .offlineFallbacks: 20, .offlineFresh: 4,
                    .offlineFailures: 1,
                ])
            ],
            absent: [RevisionDump([.loads: 50])]),
        Kind(
            words: "offline 5 s, 1 time, without loads",
            present: [RevisionDump([.loads: 50, .offlineSpells: 1, .offlineTime: 5_000])],
            absent: [RevisionDump([.loads: 50, .offlineSpells: 1, .offlineTime: 5_000, .offlineLive: 1])]),
        Kind(
            words: "84.0 % of prefetched bytes were never used", anyWords: "prefetched",
            present: [
                RevisionDump([
                    .loads: 9, .prefetched: 70, .prefetchedBytes: 1_200, .prefetchedUsed: 20, .prefetchedUsedBytes: 160,
                    .prefetchedWasted: 30, .prefetchedWastedBytes: 840,
                ])
            ],
            absent: [
                RevisionDump([
                    .loads: 9, .prefetched: 70, .prefetchedBytes: 1_200, .prefetchedUsed: 20, .prefetchedUsedBytes: 160,
                    .prefetchedWasted: 29, .prefetchedWastedBytes: 840,
                ])
            ]),
        Kind(
            words: "50.0 % of prefetched bytes were never used", anyWords: "prefetched",
            present: [
                RevisionDump([
                    .loads: 9, .prefetchedUsed: 25, .prefetchedUsedBytes: 500, .prefetchedWasted: 25,
                    .prefetchedWastedBytes: 500,
                ])
            ],
            absent: [
                RevisionDump([
                    .loads: 9, .prefetchedUsed: 25, .prefetchedUsedBytes: 501, .prefetchedWasted: 25,
                    .prefetchedWastedBytes: 500,
                ])
            ]),
        Kind(
            words: "33.3 % of scheduled refreshes were missed, and 2 failed", anyWords: "scheduled refresh",
            present: [
                RevisionDump([
                    .loads: 50, .scheduledDue: 30, .scheduledRun: 20, .scheduledMissed: 10, .scheduledFailed: 2,
                ])
            ],
            absent: [RevisionDump([.loads: 50, .scheduledDue: 30, .scheduledRun: 30])]),
        Kind(
            words: "2 scheduled refreshes failed", anyWords: "scheduled refresh",
            present: [RevisionDump([.loads: 50, .scheduledDue: 30, .scheduledRun: 30, .scheduledFailed: 2])],
            absent: [RevisionDump([.loads: 50])]),
        Kind(
            words: "10.0 % of background refreshes failed", anyWords: "of background refreshes failed",
            present: [RevisionDump([.loads: 9, .refreshes: 50, .refreshErrors: 5])],
            absent: [RevisionDump([.loads: 9, .refreshes: 49, .refreshErrors: 5])]),
        Kind(
            words: "of background refreshes failed",
            present: [RevisionDump([.loads: 9, .refreshes: 50, .refreshErrors: 5])],
            absent: [RevisionDump([.loads: 9, .refreshes: 50, .refreshErrors: 4])]),
        Kind(
            words: "users waited less than the origin took: load p95 100 ms, origin p95 897 ms",
            present: waits(100, 900), absent: waits(500, 900)),
        Kind(words: "store 'file' failed to write 4 times", present: failing(4), absent: failing(0)),
        Kind(words: "failed to write 1 time", present: failing(1), absent: failing(0)),
        Kind(
            words: "2 damaged copies were removed", present: [RevisionDump([.loads: 9, .corrupt: 2])],
            absent: [RevisionDump([.loads: 9])]),
        Kind(
            words: "no loads were counted", present: [RevisionDump([:])], absent: [RevisionDump([.loads: 1])]),
        Kind(
            words: "nothing stands out", present: [RevisionDump([.loads: 1])],
            absent: [RevisionDump([.loads: 1, .corrupt: 1])]),
    ]

    // MARK: Trends

    private static func course(_ troubled: [UInt64]) -> [RevisionDump] {
        let periods = troubled.enumerated().map { FiveMinutes(at: Int64($0) * 5, [.loads: 100, .fallbacks: $1]) }
        return [RevisionDump([.loads: 600, .fallbacks: troubled.reduce(0, +)], periods)]
    }

    static let trends = [
        Kind(
            words:
                "getting worse: 1 % of loads fell back or failed in the first third of the time, 6 % in the last third",
            present: course([1, 1, 1, 1, 6, 6]), absent: course([5, 5, 1, 1, 7, 7])),
        Kind(
            words: "getting worse", present: course([1, 1, 1, 1, 6, 6]), absent: course([1, 1, 1, 1, 12, 0])),
        Kind(
            words:
                "getting better: 5 % of loads fell back or failed in the first third of the time, 0 % in the last third",
            anyWords: "getting better",
            present: course([5, 5, 0, 0, 0, 0]), absent: course([1, 1, 0, 0, 0, 0])),
    ]

    // MARK: Changes of the policy

    /// Two revisions, an hour each, at the same time or one after the other.
    private static func change(
        failing: UInt64, at minute: Int64 = 0, periods count: Int64 = 12, patience: String = "3s", lines: Int = 1
    ) -> [RevisionDump] {
        func revision(_ name: String, _ failures: UInt64, from start: Int64, _ patience: String) -> RevisionDump {
            let periods = (0..<count).map { number in
                // No two periods are alike.
                FiveMinutes(
                    at: start + number * 5,
                    [.loads: 200 + UInt64(number % 3), .failures: failures + UInt64(number % 2)])
            }
            let extra = (1..<max(lines, 1)).map { JSON.Member("part\($0)", .string(name)) }
            let policy: JSON = ["strategy": .object([.init("patience", .string(patience))] + extra)]
            var revision = RevisionDump(
                name, isCurrent: name == "two",
                [.loads: periods.reduce(0) { $0 + $1[.loads] }, .failures: periods.reduce(0) { $0 + $1[.failures] }],
                periods)
            revision.policy = policy
            return revision
        }
        return [revision("one", 2, from: 0, "800ms"), revision("two", failing, from: minute, patience)]
    }

    static let revisions = [
        Kind(
            words: "with two (strategy.patience 800ms → 3s) 15.2 % of loads fail instead of 1.2 % with one",
            present: change(failing: 30), absent: change(failing: 3)),
        Kind(
            words:
                "since two (strategy.patience 800ms → 3s) 15.2 % of loads fail instead of 1.2 %; the two were not in use at "
                + "the same time", present: change(failing: 30, at: 120), absent: change(failing: 3, at: 120)),
        Kind(
            words: "there is too little data to tell whether that is chance",
            present: change(failing: 30, at: 120, periods: 2), absent: change(failing: 30, at: 120)),
        Kind(
            words: "(strategy.patience 800ms → 3s, strategy.part1 one → two and more)",
            present: change(failing: 30, lines: 3), absent: change(failing: 30, lines: 2)),
    ]
}
