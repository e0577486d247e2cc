import Larder
import LarderFoundation
import LarderSimulation
import LarderSync
import LarderSystem
import Testing

@testable import LarderCommand
@testable import LarderReports

/// The changes that wait for a service, and what became of them, in reports about dumps of real pantries.
@Suite struct SyncReportTests {
    private struct Item: Codable, Sendable {
        var id: String?
        var name: String
    }

    private static let records =
        #"{ "resource": "collections", "origin": "scripted", "records": { "id": "/id", "push": "rest" } }"#

    /// Plays a device, and returns its dump.
    ///
    /// - Parameter seed: tells devices apart.
    static func device(
        seed: UInt64, _ play: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws -> MetricsDump {
        try SimulatedPantry.run(
            ["collections": records], registry: .standard.adding(.sync), seed: seed, leaving: .anything
        ) { simulated in
            try await play(simulated)
            let dump = await simulated.pantry.metrics.dump()
            await simulated.pantry.close()
            return dump
        }
    }

    /// A device whose second change is refused. Its third one waits for a network.
    private static func first() throws -> MetricsDump {
        try device(seed: 1) { simulated in
            simulated.origin.play(.value("", after: .milliseconds(700)), .failure(.status(422)))
            let items = simulated.pantry.records("collections", of: Item.self)
            for id in ["a", "b"] {
                try await items.create(Item(id: id, name: "x"))
                try await simulated.world.sleep(for: .seconds(60))
            }
            simulated.world.network = .offline
            try await items.create(Item(id: "c", name: "x"))
            try await items.update("c") { $0.name = "y" }
            try await simulated.world.sleep(for: .seconds(7_200))
        }
    }

    /// A device that was without a network for 20 hours.
    private static func second() throws -> MetricsDump {
        try device(seed: 2) { simulated in
            simulated.origin.play(.value(""), .value(""))
            let items = simulated.pantry.records("collections", of: Item.self)
            simulated.world.network = .offline
            try await items.create(Item(id: "d", name: "x"))
            try await simulated.world.sleep(for: .seconds(72_000))
            simulated.world.network = NetworkState(.online)
            try await simulated.world.sleep(for: .seconds(60))
            simulated.world.network = .offline
            try await items.create(Item(id: "e", name: "x"))
            try await simulated.world.sleep(for: .seconds(60))
        }
    }

    private static func report(_ dumps: MetricsDump...) throws -> Report {
        try Report(adding: dumps, now: dumps.map(\.written).max() ?? Dumps.noon)
    }

    private static func findings(_ dumps: MetricsDump...) throws -> [String] {
        var builder = ReportBuilder(now: dumps.map(\.written).max() ?? Dumps.noon)
        for dump in dumps { builder.add(dump) }
        return try #require(builder.report().report?.sections.first).findings
    }

    @Test func sentenceTellsWhatBecameOfTheChangesOfADevice() throws {
        let findings = try Self.findings(Self.first())
        #expect(
            findings == [
                "1 of 3 changes reached the service (p95 703 ms, worst 703 ms); 1 rejected; 1 waits for 2 h; 1 merged into earlier "
                    + "ones; nothing unaccounted"
            ])
    }

    @Test func changesOfDevicesAddUpAndTheirTimesAreMerged() throws {
        let report = try Self.report(Self.first(), Self.second())
        #expect(
            report.sections.first?.findings == [
                "2 of 5 changes reached the service (p95 20 h, worst 20 h); 1 rejected; 2 wait, the oldest for 2 h; 1 merged "
                    + "into earlier ones; nothing unaccounted"
            ])
        #expect(report.html.contains("2 of 5 changes reached the service (p95 20 h, worst 20 h)"))
        let sync = try Facts(report.json.text())["resources"].items[0]["sync"]
        let numbers = ["changes", "accepted", "rejected", "pending", "merged", "unaccounted"].map { sync[$0].int }
        #expect(numbers == [5, 2, 1, 2, 1, 0])
        #expect(sync["oldest_pending"].int == 7_200)
    }

    @Test func everyNumberOfTheSentencesIsInATable() throws {
        var dump = try Self.first()
        try Self.add(
            [
                .changesAccepted: 200, .changesRejected: 9, .changesExpired: 4, .changesOvertaken: 5,
                .changesDiscarded: 6,
                .changeConflicts: 71, .syncRuns: 40, .syncFailedRuns: 30,
            ], to: &dump)
        Self.set([.oldestChange: 200_000, .changesWaiting: 8, .changesUnaccounted: 3], of: &dump)
        let report = try Self.report(dump)
        #expect(report.sections.first?.findings.count == 6)
        let lines = report.text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasPrefix("collections: ") })
        let tables = Set(lines[start...].drop { !$0.isEmpty }.prefix { !$0.contains("plugins:") }.flatMap(Self.numbers))
        for finding in report.sections.first?.findings ?? [] {
            for number in Self.numbers(finding[...]) {
                #expect(tables.contains(number), "\(number) of: \(finding)")
            }
        }
    }

    private static func numbers(_ text: Substring) -> [String] {
        text.matches(of: /[0-9]+(\.[0-9]+)?/).map { String($0.output.0) }
    }

    // MARK: Findings

    private static func add(_ counts: [Counter: UInt64], to dump: inout MetricsDump) throws {
        let current = dump.resources[0].revisions.firstIndex(where: \.isCurrent)
        let place = try #require(current)
        for (counter, count) in counts { dump.resources[0].revisions[place].metrics[counter] = count }
    }

    private static func set(_ gauges: [Gauge: Double], of dump: inout MetricsDump) {
        for (gauge, number) in gauges { dump.resources[0].gauges[gauge] = number }
    }

    /// A dump about changes of which none stands out.
    private static func quiet() throws -> MetricsDump {
        try device(seed: 3) { simulated in
            simulated.origin.play(.value(""))
            try await simulated.pantry.records("collections", of: Item.self).create(Item(id: "a", name: "x"))
            try await simulated.world.sleep(for: .seconds(60))
        }
    }

    private static func expect(
        _ counts: [Counter: UInt64], _ gauges: [Gauge: Double] = [:], find sentence: String?,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        var dump = try quiet()
        try add(counts, to: &dump)
        set(gauges, of: &dump)
        let found = try findings(dump)
        #expect(found.contains { $0.hasPrefix("\(counts[.changesAccepted] ?? 1) of ") }, sourceLocation: location)
        let others = found.filter { !$0.contains(" reached the service") }
        #expect(others == (sentence.map { [$0] } ?? []), sourceLocation: location)
    }

    @Test func oldChangesAreTold() throws {
        try Self.expect([:], [.changesWaiting: 1, .oldestChange: 86_400], find: nil)
        try Self.expect(
            [:], [.changesWaiting: 1, .oldestChange: 200_000], find: "a change has waited for 2.3 d")
    }

    @Test func manyRejectionsAreTold() throws {
        try Self.expect([.changesAccepted: 99, .changesRejected: 1], find: nil)
        try Self.expect([.changesAccepted: 20, .changesRejected: 9], find: nil)
        try Self.expect(
            [.changesAccepted: 98, .changesRejected: 2],
            find: "2.0 % of the changes that have ended were rejected")
    }

    @Test func manyConflictsAreTold() throws {
        try Self.expect([.changesAccepted: 100, .changeConflicts: 10], find: nil)
        try Self.expect(
            [.changesAccepted: 100, .changeConflicts: 11], find: "many conflicts: 11, while 100 changes ended")
    }

    @Test func failingRunsAreTold() throws {
        try Self.expect([.syncRuns: 18, .syncFailedRuns: 2], find: nil)
        try Self.expect(
            [.syncRuns: 17, .syncFailedRuns: 3],
            find: "15.0 % of the runs that bring records and the service together failed")
    }

    @Test func unaccountedChangesAreAnAlarmInFront() throws {
        var dump = try Self.quiet()
        Self.set([.changesUnaccounted: 2], of: &dump)
        let findings = try Self.findings(dump)
        #expect(
            findings == [
                "2 changes are unaccounted for, which is a fault of Larder: please report it",
                "1 of 1 change reached the service (p95 < 1 ms, worst < 1 ms); 2 unaccounted",
            ])
    }

    @Test func timesBeyondTheSketchAreTold() throws {
        let dump = try Self.device(seed: 4) { simulated in
            simulated.world.network = .offline
            simulated.origin.play(.value(""))
            try await simulated.pantry.records("collections", of: Item.self).create(Item(id: "a", name: "x"))
            try await simulated.world.sleep(for: .seconds(5 * 86_400))
            simulated.world.network = NetworkState(.online)
            try await simulated.world.sleep(for: .seconds(60))
        }
        let findings = try Self.findings(dump)
        #expect(findings.first?.contains("worst 1.5 d or more)") == true, "\(findings)")
    }

    @Test func resourceWithoutChangesHasNoSentenceAboutThem() throws {
        let dump = try Self.device(seed: 5) { _ in }
        #expect(try Self.findings(dump) == ["no loads were counted"])
        let report = try Self.report(dump)
        #expect(!report.html.contains("Changes by their end"))
    }
}
