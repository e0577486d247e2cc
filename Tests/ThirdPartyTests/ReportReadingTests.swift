import Larder
import LarderFoundation
import LarderReports
import LarderSimulation
import Testing

/// Reports that an app or a server makes by itself.
@Suite struct ReportReadingTests {
    private struct Day {
        var threeDaysBefore: Timestamp
        var dump: MetricsDump
        var now: Timestamp
    }

    /// The dump of a pantry after one load.
    private static func day() throws -> Day {
        let feed = #"{ "resource": "feed", "origin": "scripted", "strategy": "network-only" }"#
        return try SimulatedWorld().run { world in
            let start = world.now
            try await world.sleep(for: .seconds(3 * 86_400))
            let simulated = try await SimulatedPantry(["feed": feed], in: world)
            simulated.origin.play(.value("1"))
            _ = try await simulated.resource.load()
            return Day(
                threeDaysBefore: start, dump: await simulated.pantry.metrics.dump(), now: world.now)
        }
    }

    @Test func dumpInMemoryIsReported() throws {
        let day = try Self.day()
        let report = try Report(adding: [day.dump], now: day.now)
        #expect(report.sections.map(\.name) == ["feed"] && report.sections[0].total.loads == 1)
        #expect(report.sections[0].findings == ["nothing stands out"])
        #expect(report.text.contains("feed: nothing stands out") && report.html.hasPrefix("<!DOCTYPE html>"))
        #expect(report.json.text().contains(#""format": "larder-report/1""#))
        #expect(report.dump.openMetrics.contains("larder_loads_total"))
    }

    @Test func dumpWithWrongClockIsNoReport() throws {
        let day = try Self.day()
        let failed = #expect(throws: Report.NoDumps.self) {
            try Report(adding: [day.dump], now: day.threeDaysBefore)
        }
        let error = try #require(failed)
        #expect(error.description.hasPrefix("there is no dump to report on; its clock was ahead"))
    }

    @Test func fileThatIsNoDumpIsLeftOut() throws {
        let day = try Self.day()
        let folder = FileManager.default.temporaryDirectory.appending(path: "reports-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(day.dump.json.text().utf8).write(to: folder.appending(path: "a.json"))
        try Data("{".utf8).write(to: folder.appending(path: "b.json"))
        let report = try Report(reading: [folder.path], now: day.now)
        #expect(report.sections.map(\.total.loads) == [1])
        #expect(report.skipped.map(\.file) == [folder.path + "/b.json"] && report.skipped.allSatisfy { !$0.isForeign })
        let failed = #expect(throws: Report.NoDumps.self) { try Report(reading: [folder.path + "/b.json"]) }
        let error = try #require(failed)
        #expect(error.skipped.count == 1 && error.description.contains("b.json"))
    }
}
