import LarderFoundation
import Larder
import Testing

@testable import LarderCommand
@testable import LarderStories

@Suite struct ScenarioTests {
    /// A wrong expectation of each kind, with the drawing.
    static let wrongs = [
        (#""freshness": "fresh""#, "freshness fresh, not stale"), (#""value": [1, 2]"#, #"value [1,2], not "old""#),
        (#""source": "origin""#, "source origin, not memory"), (#""age": "4h""#, "age 4h, not 3h"),
        (#""age": "unknown""#, "age unknown, not 3h"), (#""fellBack": false"#, "fellBack false, not true"),
        (#""takes": "1s""#, "takes 1s, not 800ms"), (#""within": "799ms""#, "within 799ms, not 800ms"),
        (#""calls": 3"#, "calls 3, not 1"), (#""error": "timeout""#, "error timeout, not a value"),
        (#""status": 503"#, "error with status 503, not a value"),
        (#""freshness": "fresh", "calls": 0"#, "freshness fresh, not stale; calls 0, not 1"),
    ]

    @Test(arguments: wrongs) func wrongExpectationIsShownBesideDrawing(_ expect: String, _ told: String) async throws {
        let lines = try await Stories().drawn(
            """
            "cached": { "value": "old", "age": "3h" }, "origin": { "takes": "3s", "value": "new" },
            "asks": { "expect": { \(expect) } }
            """)
        let drawn = "feed  0s ask ──origin──✗ 800ms patience ──▶ cached in memory, 3h old, stale (age.onError 7d)"
        #expect(lines == ["\(drawn)   expected: \(told)"])
    }

    /// A wrong expectation of each kind about errors, with the drawing.
    @Test(arguments: [
        (#""error": "timeout""#, "error timeout, not failed"), (#""status": 500"#, "status 500, not 503"),
        (#""error": "failed", "status": 404"#, "status 404, not 503"),
        (#""value": "old", "calls": 1"#, "a value, not error failed; calls 1, not 3"),
        (#""takes": "0s""#, "takes 0s, not 1500ms"),
    ])
    func unexpectedErrorIsShownBesideDrawing(_ expect: String, _ told: String) async throws {
        let lines = try await Stories().drawn(
            #""origin": { "fails": 503 }, "asks": { "expect": { \#(expect) } }"#)
        let beside = expect.contains("takes") ? "a value, not error failed; \(told)" : told
        let drawn = "feed  0s ask ──origin──✗ 0s 503 ──origin──✗ 500ms 503 ──origin──✗ 1.5s 503 ──✗ error failed"
        #expect(lines == ["\(drawn)   expected: \(beside)"])
    }

    @Test(arguments: [
        (#""answered": "either", "callsAtMost": 1"#, true), (#""answered": "either", "callsAtMost": 0"#, false),
        (#""answered": "either", "within": "1h""#, false), (#""callsAtMost": 1"#, false),
    ])
    func loadWithoutAnAnswerMeetsOnlyExpectationsThatNeedNone(_ expect: String, _ isMet: Bool) async throws {
        let stories = try Stories()
        // Nothing ends the call.
        try stories.folder.edit("feed.json", #""use": "timeout", "after": "4s""#, #""use": "limit", "concurrent": 9"#)
        _ = try await stories.drawn(
            #""origin": { "hangs": true }, "asks": { "expect": { \#(expect) } }"#, passes: isMet)
    }

    @Test func reportHasExpectedText() async throws {
        let stories = try Stories()
        try stories.folder.write(
            """
            { "resource": "feed", "about": "A morning", "scenarios": [
              { "name": "At home", "origin": { "value": 1 }, "asks": { "expect": { "value": 1 } } },
              { "name": "On the train", "cached": { "value": 1, "age": "2h" },
                "origin": [{ "takes": "3s", "value": 2 }, { "from": "10m", "offline": true }],
                "asks": [{ "expect": { "freshness": "fresh" } }, { "at": "15m", "expect": { "value": 2 } }] } ] }
            """, to: "Scenarios/morning.json")
        let output = await stories.told()
        #expect(output.code == 1 && output.err.isEmpty)
        #expect(
            output.out == """
                Scenarios/morning.json: A morning
                  ✓ At home
                  ✗ On the train  [line 3]
                      feed   0s ask ──origin──✗ 800ms patience ──▶ cached in memory, 2h old, stale (age.onError 7d)   \
                expected: freshness fresh, not stale
                      feed  15m ask ──origin──✗ 0s offline ──origin──✗ 500ms offline ──✗ 800ms patience \
                ──▶ cached in memory, 14m57s old, stale (age.onError 7d)
                2 scenarios in 1 file: 1 passed, 1 failed

                """)
    }

    @Test func ageIsComparedWithWrittenPrecision() async throws {
        for (age, passes) in [("3h", true), ("180m", true), ("10800s", true), ("2h", false), ("10801s", false)] {
            _ = try await Stories().drawn(
                """
                "cached": { "value": 1, "age": "3h" }, "origin": { "hangs": true },
                "asks": { "expect": { "age": "\(age)" } }
                """, passes: passes)
        }
    }

    @Test func valuesAreComparedByMeaning() async throws {
        let lines = try await Stories().drawn(
            """
            "origin": { "value": { "b": [1.0, null], "a": "ä" } },
            "asks": { "expect": { "value": { "a": "\\u00e4", "b": [1, null] } } }
            """, passes: true)
        #expect(lines == ["feed  0s ask ──origin──▶ 0s fresh"])
    }

    @Test func copyAfterRestartIsNotInMemory() async throws {
        for (restarted, source) in [(true, "sqlite"), (false, "memory")] {
            _ = try await Stories().drawn(
                """
                "cached": { "value": 1, "age": "1d" }, "restarted": \(restarted),
                "asks": { "mode": "cachedOnly", "expect": { "source": "\(source)", "calls": 0 } }
                """, passes: true)
        }
    }

    @Test func loadsMeetTheStateOfTheNetworkAtTheirTimes() async throws {
        let lines = try await Stories().drawn(
            """
            "cached": { "value": "old", "age": "3h" }, "origin": { "value": "new" },
            "network": [{ "is": "offline" }, { "from": "10s", "is": "online" }],
            "asks": [{ "expect": { "value": "old", "calls": 0 } },
                     { "at": "10s", "expect": { "value": "new", "calls": 1 } }]
            """, passes: true)
        #expect(lines.count == 2, "\(lines)")
    }

    @Test func clockIsSetBackAfterEarlierLoadsOfTheSameMomentHaveBegun() async throws {
        _ = try await Stories().drawn(
            """
            "cached": { "value": "old", "age": "3h" }, "origin": { "offline": true },
            "asks": [{ "mode": "cachedOnly", "expect": { "age": "3h" } },
                     { "mode": "cachedOnly", "clockBack": "1h", "expect": { "age": "2h" } }]
            """, passes: true)
    }

    @Test func faultOfATierInMemoryIsThereAfterARestart() async throws {
        _ = try await Stories().drawn(
            """
            "cached": { "value": "old", "age": "3h" }, "origin": { "offline": true },
            "stores": [{ "tier": 1, "operations": "reads", "fails": true }],
            "asks": [{ "restarted": true, "expect": { "value": "old", "source": "sqlite" } }]
            """, passes: true)
    }

    @Test func jsonReportContainsEverything() async throws {
        let stories = try Stories()
        try stories.folder.write(
            """
            { "resource": "feed", "scenarios": [
              { "name": "a", "cached": { "value": 1, "age": "2h" }, "origin": { "takes": "3s", "value": 2 },
                "asks": { "at": "1s", "scope": "x", "expect": { "freshness": "stale" } } },
              { "name": "b", "origin": { "answers": 404 }, "asks": { "expect": { "error": "answer" } } } ] }
            """, to: "Scenarios/feed.json")
        try stories.folder.write("[]", to: "Scenarios/other.json")
        let output = await stories.told("--format", "json")
        #expect(output.code == 1)
        let report = try JSONDecoder().decode(Report.self, from: Data(output.out.utf8))
        #expect([report.files, report.scenarios, report.passed, report.failed] == [2, 2, 1, 1])
        #expect(report.problems.map(\.file) == ["Scenarios/other.json"])
        #expect(report.results.map(\.line) == [2, 4] && report.results.map(\.passed) == [false, true])
        let answer = try #require(report.results.first?.answers.first)
        #expect(answer.at_ms == 1_000 && answer.takes_ms == 3_000 && answer.calls == 1 && answer.source == "origin")
        #expect(
            answer.mismatches == [
                Report.Mismatch(key: "freshness", expected: "stale", actual: "fresh", line: 3, column: 53)
            ])
        #expect(report.results.first?.timeline.first?.hasPrefix("feed  1s ask as x ──origin──▶ 3s fresh") == true)
        #expect(report.results.last?.answers.first?.error == "answer")
        #expect(report.results.last?.answers.first?.status == 404)
    }

    private struct Report: Decodable {
        struct Problem: Decodable { var file: String }
        struct Mismatch: Decodable, Equatable {
            var key: String
            var expected: String
            var actual: String
            var line: Int
            var column: Int
        }
        struct Answer: Decodable {
            var at_ms: Int
            var takes_ms: Int
            var calls: Int
            var source: String?
            var error: String?
            var status: Int?
            var mismatches: [Mismatch]
        }
        struct Result: Decodable {
            var line: Int
            var passed: Bool
            var timeline: [String]
            var answers: [Answer]
        }
        var files: Int
        var scenarios: Int
        var passed: Int
        var failed: Int
        var problems: [Problem]
        var results: [Result]
    }

    @Test func everyKeyIsInTheReference() throws {
        let article = try String(
            contentsOf: projectFolder.appending(path: "Sources/Larder/Larder.docc/ScenarioReference.md"),
            encoding: .utf8)
        for key in ScenarioKey.all {
            let name = key.path.split(separator: ".").last.map(String.init) ?? ""
            let isThere = article.split(separator: "\n").contains { row in
                row.hasPrefix("| `\(name)` |") && row.hasSuffix(" | \(key.help) |")
                    && row.contains(", required |") == key.isRequired
            }
            #expect(isThere, "\(key.path): \(key.help)")
        }
    }
}
