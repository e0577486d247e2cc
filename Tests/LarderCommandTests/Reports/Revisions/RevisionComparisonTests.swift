import LarderFoundation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderCommand
@testable import LarderReports

/// Comparisons of two revisions of a policy, over the installations of a fleet.
@Suite struct RevisionComparisonTests {
    private static let old = JSON.object([
        .init("strategy", .object([.init("use", .string("network-first")), .init("patience", .string("800ms"))])),
        .init("around", .list([.string("breaker")])),
    ])
    private static let new = JSON.object([
        .init("strategy", .object([.init("use", .string("network-first")), .init("patience", .string("3s"))])),
        .init("around", .list([.string("breaker")])),
    ])

    /// Counts of five minutes with so many loads, failed loads and seconds of waiting.
    private static func period(at minute: Int64, loads: UInt64, failures: UInt64 = 0, waited: Double) -> FiveMinutes {
        var period = FiveMinutes(at: minute, [.loads: loads, .failures: failures])
        period.waited = .microseconds(Int64(waited * 1e6))
        return period
    }

    private static func dump(_ number: Int, _ periods: [(name: String, policy: JSON, periods: [FiveMinutes])])
        -> MetricsDump
    {
        Dumps.dump(
            instance: "run-\(number)",
            periods.map { name, policy, periods in
                var metrics = ResourceMetrics()
                for period in periods {
                    metrics[.loads] = metrics[.loads].plus(period[.loads])
                    metrics[.failures] = metrics[.failures].plus(period[.failures])
                }
                return RevisionDump(
                    name: name, strategy: "network-first", isCurrent: false,
                    metrics: metrics, policy: policy, periods: periods)
            })
    }

    private static func section(_ dumps: [MetricsDump]) throws -> Report.Section {
        var builder = ReportBuilder(now: Dumps.noon + .seconds(86_400))
        for dump in dumps { builder.add(dump) }
        return try #require(builder.report().report?.sections.first)
    }

    /// A fleet in which some installations have the old revision and some the new one, each with loads in ten periods.
    private static func fleet(
        _ count: Int, from old: JSON = old, to new: JSON = new,
        wait: (_ isNew: Bool, _ device: Int, _ minute: Int64) -> Double
    ) throws -> Report.Section {
        try section(
            (0..<count).map { device in
                let isNew = device % 2 == 1
                let periods = (0..<10).map { number in
                    let minute = Int64(number) * 5
                    return period(at: minute, loads: 10, waited: wait(isNew, device, minute) * 10)
                }
                return dump(device, [(isNew ? "bbb" : "aaa", isNew ? new : old, periods)])
            })
    }

    @Test func slowerRevisionIsNamedFirstWithItsLine() throws {
        let section = try Self.fleet(60) { isNew, device, _ in (isNew ? 0.9 : 0.3) + Double(device % 7) * 0.01 }
        #expect(
            section.findings.first
                == "with bbb (strategy.patience 800ms → 3s) the mean wait is 929 ms instead of 329 ms with aaa")
        let comparison = try #require(section.comparisons.first)
        #expect(comparison.periods == 10 && comparison.oldLoads == 3_000 && comparison.newLoads == 3_000)
        #expect(comparison.changes == [RevisionChange(path: "strategy.patience", old: "800ms", new: "3s")])
        let interval = try #require(comparison.lines.first?.difference.interval)
        #expect(interval.contains(0.6) && interval.upperBound - interval.lowerBound < 0.1)
    }

    /// Each installation has its own network, so the loads of one installation say little about a revision.
    @Test func differenceBetweenInstallationsIsNoDifferenceBetweenRevisions() throws {
        var dice = SeededDice(7)
        for _ in 0..<100 {
            let networks = (0..<60).map { _ in dice.next() * 2 }
            let section = try Self.fleet(60) { _, device, _ in 0.2 + networks[device] }
            #expect(section.findings == ["nothing stands out"])
        }
    }

    /// During the first half of the time the origin is slow, and most installations have the old revision.
    @Test func badTimeOfOneRevisionIsNotItsFault() throws {
        let section = try Self.section(
            (0..<60).map { device in
                let switches = device < 6 ? 1 : 4
                func periods(_ range: Range<Int>) -> [FiveMinutes] {
                    range.map { number in
                        let slow = number < 5 ? 3.0 : 0.3
                        return Self.period(
                            at: Int64(number) * 5, loads: 10, waited: 10 * (slow + Double(device % 5) * 0.01))
                    }
                }
                return Self.dump(
                    device,
                    [("aaa", Self.old, periods(0..<switches)), ("bbb", Self.new, periods(switches..<10))])
            })
        #expect(section.findings == ["nothing stands out"])
        let wait = try #require(section.comparisons.first?.lines.first)
        #expect(abs(wait.difference.value) < 0.05 && !wait.difference.isCertain)
    }

    /// Dumps of older versions do not tell how long callers waited.
    @Test func waitsAreNotComparedIfADumpDoesNotTellThem() throws {
        let section = try Self.section(
            (0..<60).map { device in
                let isNew = device % 2 == 1
                let periods = (0..<10).map { number in
                    var period = Self.period(at: Int64(number) * 5, loads: 10, waited: 9)
                    if !isNew { period.waited = nil }
                    return period
                }
                return Self.dump(device, [(isNew ? "bbb" : "aaa", isNew ? Self.new : Self.old, periods)])
            })
        #expect(section.findings == ["nothing stands out"])
        #expect(section.comparisons.first?.lines.map(\.figure).contains(.wait) == false)
    }

    /// A dump may contain any counts.
    @Test func hugeCountsEndNoReport() throws {
        let periods = (0..<20_000).map { number in
            Self.period(
                at: -Int64(number) * 5, loads: 1_000_000_000_000_000, failures: 1_000_000_000_000_000, waited: 1e10)
        }.map { period in
            var period = period
            period[.staleErrors] = 1_000_000_000_000_000
            return period
        }
        let section = try Self.section([Self.dump(1, [("aaa", Self.old, periods), ("bbb", Self.new, periods)])])
        #expect(section.comparisons.count == 1 && section.findings.first?.contains("loads failed") == true)
    }

    @Test func fewLoadsAreNotCompared() throws {
        let section = try Self.section([
            Self.dump(
                1,
                [
                    ("aaa", Self.old, [Self.period(at: 0, loads: 20, waited: 2)]),
                    ("bbb", Self.new, [Self.period(at: 5, loads: 20, waited: 90)]),
                ])
        ])
        #expect(section.findings == ["nothing stands out"])
        #expect(section.comparisons.first?.basis == "too few loads to compare: 20 and 20 loads")
    }

    @Test func revisionWithoutLoadsComesAfterTheOneThatItReplaced() throws {
        var dump = Self.dump(
            1, [("aaa", Self.old, [Self.period(at: 0, loads: 9, waited: 1)]), ("bbb", Self.new, [])])
        dump.resources[0].revisions[1].isCurrent = true
        let comparison = try #require(Self.section([dump]).comparisons.first)
        #expect(comparison.title == "aaa → bbb" && comparison.changedLines == ["strategy.patience 800ms → 3s"])
    }

    @Test func revisionWithoutLoadsInALaterProcessComesAfterTheEarlierOne() throws {
        var later = Self.dump(1, [("bbb", Self.new, [])])
        later.resources[0].revisions[0].isCurrent = true
        (later.started, later.written) = (Dumps.noon + .seconds(3_600), Dumps.noon + .seconds(7_200))
        let earlier = Self.dump(2, [("aaa", Self.old, [Self.period(at: 0, loads: 9, waited: 1)])])
        #expect(try Self.section([later, earlier]).comparisons.map(\.title) == ["aaa → bbb"])
    }

    @Test func oneProcessThatSwitchedIsComparedOverItsTime() throws {
        let (before, after) = (0..<20, 20..<40)
        func periods(_ range: Range<Int>, _ wait: Double) -> [FiveMinutes] {
            range.map { Self.period(at: Int64($0) * 5, loads: 30, waited: 30 * (wait + Double($0 % 4) * 0.01)) }
        }
        let section = try Self.section([
            Self.dump(1, [("aaa", Self.old, periods(before, 0.2)), ("bbb", Self.new, periods(after, 0.8))])
        ])
        #expect(
            section.findings == [
                "since bbb (strategy.patience 800ms → 3s) the mean wait is 815 ms instead of 215 ms; "
                    + "the two were not in use at the same time"
            ])
    }

    @Test func revisionsThatDifferInHiddenTextSaySo() throws {
        let section = try Self.fleet(60, from: Self.old, to: Self.old) { isNew, device, _ in
            (isNew ? 0.9 : 0.3) + Double(device % 7) * 0.01
        }
        let finding = try #require(section.findings.first)
        #expect(finding.hasPrefix("with bbb (a setting whose value dumps hide or leave out changed) the mean wait is"))
        #expect(section.comparisons.first?.changedLines == ["a setting whose value dumps hide or leave out changed"])
    }

    @Test func hiddenChangeNamesOnlyTheSettingThatChanged() {
        let old: JSON = ["origin": ["use": "http", "url": "…a1", "fields": "…b2", "sign": "…c3"]]
        let new: JSON = ["origin": ["use": "http", "url": "…0f", "fields": "…b2", "accept": "…d4"]]
        let changes = RevisionChange.changes(from: old, to: new)
        #expect(
            changes.map(\.line) == [
                "origin.url changed; its value is hidden", "origin.accept … added", "origin.sign … removed",
            ])
        #expect(changes.map(\.shownNew) == ["…", "…", nil])
    }

    @Test func changesNameEveryLineThatDiffers() {
        let old = JSON.object([
            .init("strategy", .string("cache-first")),
            .init("around", .list([.object([.init("use", .string("retry")), .init("retries", .int(2))])])),
            .init("store", .object([.init("use", .string("memory")), .init("capacity", .string("5MB"))])),
        ])
        let new = JSON.object([
            .init("strategy", .object([.init("use", .string("network-first"))])),
            .init("around", .list([.object([.init("use", .string("retry")), .init("retries", .int(3))])])),
            .init("store", .object([.init("use", .string("memory"))])),
        ])
        #expect(
            RevisionChange.changes(from: old, to: new).map(\.line) == [
                "strategy cache-first → network-first", "around[0].retries 2 → 3", "store.capacity 5MB removed",
            ])
        #expect(RevisionChange.changes(from: old, to: old).isEmpty)
    }
}

/// Chance that follows from a seed.
private struct SeededDice {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    /// A number from 0 to 1.
    mutating func next() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(state >> 11) / Double(1 << 53)
    }
}
