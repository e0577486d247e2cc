import Foundation
import Larder
import LarderSimulation
import LarderStories
import Testing

/// Scenario files in the tests of an app.
@Suite struct ScenarioReportTests {
    private func report(expecting freshness: String) throws -> ScenarioReport {
        let folder = try TemporaryFolder()
        try folder.write(
            #"{ "resource": "feed", "origin": { "use": "sample", "payload": "feed" }, "strategy": "cache-first", "store": "memory" }"#,
            to: "feed.json")
        try folder.write(
            """
            { "resource": "feed",
              "scenarios": [{ "name": "an answer is live", "origin": { "value": 1 },
                              "asks": { "expect": { "freshness": "\(freshness)" } } }] }
            """, to: "Scenarios/feed.json")
        return try ScenarioReport(of: [folder.path + "/Scenarios"], policies: folder.url)
    }

    @Test func reportOfScenariosThatPassIsPassed() throws {
        let report = try report(expecting: "fresh")
        #expect(report.isPassed, "\(report)")
    }

    @Test func reportDrawsTheScenarioThatFails() throws {
        let report = try report(expecting: "stale")
        #expect(!report.isPassed)
        #expect("\(report)".contains("expected: freshness stale, not fresh"))
    }

    @Test func reportTellsTheProblemOfAFile() throws {
        let report = try report(expecting: "new")
        #expect(!report.isPassed)
        #expect("\(report)".contains("expected one of \"fresh\", \"stale\""), "\(report)")
    }
}
