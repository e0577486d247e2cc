import LarderFoundation
import Larder
import Testing

@testable import ConformRun

@Suite struct ConformTests {
    @Test func fixturePasses() async {
        let output = await Output(.conform, [ConformRows.fixture])
        #expect(output.code == 0 && output.err.isEmpty)
        var lines = output.out.split(separator: "\n").map(String.init)
        #expect(lines.popLast() == "must: 35 pass, 0 fail, 3 unsupported; choice: 2 pass, 0 fail, 0 unsupported")
        #expect(lines.count == 40)
        let others = lines.filter { !$0.hasSuffix(" pass") }
        #expect(
            others == [
                "BR-01 unsupported steps[0].request_headers.Range: ranges are not supported yet",
                "BR-03 unsupported steps[0].request_headers.Range: ranges are not supported yet",
                "BR-05 unsupported steps[0].request_headers.Range: ranges are not supported yet",
            ])
    }

    @Test func jsonOfFixtureContainsSameResults() async throws {
        struct Report: Decodable {
            struct Row: Decodable {
                var id: String
                var level: String
                var family: String
                var result: String
                var reason: String?
            }
            var rows: [Row]
            var must: [String: Int]
            var choice: [String: Int]
        }
        let output = await Output(.conform, [ConformRows.fixture, "--format", "json"])
        #expect(output.code == 0)
        let report = try JSONDecoder().decode(Report.self, from: Data(output.out.utf8))
        #expect(report.must == ["pass": 35, "fail": 0, "unsupported": 3])
        #expect(report.choice == ["pass": 2, "fail": 0, "unsupported": 0])
        #expect(report.rows.count == 40 && report.rows.allSatisfy { ($0.reason == nil) == ($0.result == "pass") })
        #expect(report.rows.first { $0.id == "VY-01" }?.level == "choice")
        #expect(report.rows.first { $0.id == "VY-01" }?.family == "http")
    }

    /// A second run gives the same output, byte for byte.
    @Test func secondRunGivesSameOutput() async {
        let first = await Output(.conform, [ConformRows.fixture])
        #expect(await Output(.conform, [ConformRows.fixture]).out == first.out)
    }

    @Test(arguments: [
        EditedRow("pass"),
        EditedRow(#"fail step 1: value "new", not "newer""#, (#""value": "new", "f"#, #""value": "newer", "f"#)),
        EditedRow("fail step 1: fresh, not stale", (#""freshness": "fresh""#, #""freshness": "stale""#)),
        EditedRow("fail step 1: from origin, not cache", (#""from": "origin""#, #""from": "cache""#)),
        EditedRow("fail step 1: done after 20 ms, not 19 ms", (#""done_at_ms": 20"#, #""done_at_ms": 19"#)),
        EditedRow("fail step 1: 1 origin calls, not 2", (#""origin_calls": 1 } }"#, #""origin_calls": 2 } }"#)),
        EditedRow("fail end: 1 origin calls, not 0", (#""origin_calls": 1, "b"#, #""origin_calls": 0, "b"#)),
        EditedRow("fail end: 1 body writes, not 2", (#""body_writes": 1"#, #""body_writes": 2"#)),
        EditedRow(#"fail end: memory holds "new" under "k", not "old""#, (#""k": "new""#, #""k": "old""#)),
        EditedRow(
            #"fail end: memory holds nothing under "j", not "new"; end: memory holds "new" under "k", not nothing"#,
            (#""k": "new""#, #""j": "new""#)),
        EditedRow(
            #"fail step 1: value "new", not error "timeout""#,
            (#""value": "new", "freshness": "fresh", "from": "origin""#, #""error": "timeout""#)),
        EditedRow(#"fail step 1: status 200, not 404"#, (#""value": "new", "f"#, #""status": 404, "f"#)),
        EditedRow(
            #"fail step 1: error "no-response", not value "new"; end: 0 body writes, not 1"#
                + #"; end: memory holds "old" under "k", not "new""#,
            (#""status": 200, "value": "new""#, #""error": "connect""#)),
        EditedRow(
            #"fail step 1: error "no-response", not value "new"; step 1: done after 0 ms, not 20 ms"#
                + #"; 1 origin call, with answers for 0; end: 0 body writes, not 1"#
                + #"; end: memory holds "old" under "k", not "new""#,
            (#"{ "delay_ms": 20, "status": 200, "value": "new" }"#, "")),
        EditedRow("fail step 1: no answer by 20 ms", (#""delay_ms": 20"#, #""delay_ms": 101"#)),
        EditedRow(
            #"fail origin call 1: if_none_match nothing, not "a""#,
            (#""value": "new" }"#, #""value": "new", "requires": { "if_none_match": "a" } }"#)),
        EditedRow(
            #"fail origin call 1: if_none_match "a", not nothing"#,
            (#""ttl_ms": 1000 },"#, #""ttl_ms": 1000, "validators": ["etag"] },"#),
            (#""age_ms": 1500"#, #""age_ms": 1500, "etag": "a""#),
            (#""value": "new" }"#, #""value": "new", "requires": { "if_none_match": null } }"#)),
        EditedRow(
            #"fail step 1: header "A" nothing, not "b""#,
            (#""from": "origin""#, #""from": "origin", "headers": { "A": "b" }"#)),
        EditedRow("fail step 1: 3 bytes, not 4", (#""from": "origin""#, #""from": "origin", "length": 4"#)),
        EditedRow(
            "fail step 1: 0 errors of memory, not 1",
            (#""from": "origin""#, #""from": "origin", "store_errors": { "memory": 1 }"#)),
        EditedRow("fail end: 0 errors of memory, not 1", (#""body_writes": 1"#, #""store_errors": { "memory": 1 }"#)),
        EditedRow(
            #"fail step 1 caller 1: from origin, not cache"#, (#""from": "origin""#, #""from": "cache""#),
            (#""key": "k", "expect""#, #""key": "k", "count": 3, "expect""#)),
        EditedRow(
            #"fail step 1: error "cancelled", not "timeout"; end: 0 body writes, not 1"#
                + #"; end: memory holds "old" under "k", not "new""#,
            (#""key": "k", "expect""#, #""key": "k", "cancel_at_ms": 20, "expect""#),
            (#""delay_ms": 20"#, #""delay_ms": 99"#),
            (#""value": "new", "freshness": "fresh", "from": "origin""#, #""error": "timeout""#)),
    ])
    func wrongExpectationIsReported(_ row: EditedRow) async throws {
        let output = try await ConformRows.play(ConformRows.file(ConformRows.row(row.edits)))
        let line = output.out.split(separator: "\n").first.map(String.init)
        #expect(line?.hasPrefix("A-1 " + row.verdict) == true, "\(line ?? "")")
        #expect(output.code == (row.verdict == "pass" ? 0 : 1))
    }

    @Test func onlyDifferencesInRequiredRowsAreFailures() async throws {
        let wrong = ConformRows.row([(#""from": "origin""#, #""from": "cache""#)])
        let choice = wrong.replacing("A-1", with: "B-1").replacing("must", with: "choice")
        let output = try await ConformRows.play(ConformRows.file(ConformRows.row, choice))
        #expect(output.code == 0)
        #expect(
            output.out == """
                A-1 pass
                B-1 fail step 1: from origin, not cache
                must: 1 pass, 0 fail, 0 unsupported; choice: 0 pass, 1 fail, 0 unsupported

                """)
        #expect(try await ConformRows.play(ConformRows.file(wrong, choice)).code == 1)
    }

    @Test func unsupportedRowIsFailureExceptInPlannedFamilies() async throws {
        let strange = ConformRows.row([(#""title""#, #""twist": 1, "title""#)])
        #expect(try await ConformRows.play(ConformRows.file(strange)).code == 1)
        let later = strange.replacing(#""family": "cache-first""#, with: #""family": "ranges""#)
        let output = try await ConformRows.play(ConformRows.file(later))
        #expect(output.code == 0 && output.out.hasPrefix("A-1 unsupported parameter twist\n"))
    }
}
