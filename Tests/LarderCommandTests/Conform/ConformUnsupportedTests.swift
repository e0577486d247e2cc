import LarderFoundation
import Testing

@testable import ConformRun

/// Rows with unknown content never pass.
@Suite struct ConformUnsupportedTests {
    @Test(arguments: [
        EditedRow("parameter twist", (#""title""#, #""twist": 1, "title""#)),
        EditedRow(#"family "haste""#, (#""family": "cache-first""#, #""family": "haste""#)),
        EditedRow("family is missing", (#""family": "cache-first","#, "")),
        EditedRow(#"strategy.kind "cash-first""#, (#""kind": "cache-first""#, #""kind": "cash-first""#)),
        EditedRow("strategy.kind is missing", (#""kind": "cache-first", "#, "")),
        EditedRow("parameter strategy.twist", (#""ttl_ms": 1000 },"#, #""ttl_ms": 1000, "twist": null },"#)),
        EditedRow(
            "several lifetimes beside strategy.honour_http",
            (#""ttl_ms": 1000 },"#, #""ttl_ms": 2000, "honour_http": true },"#)),
        EditedRow(
            "strategy.breaker: no store has a breaker of its own",
            (#""ttl_ms": 1000 },"#, #""ttl_ms": 1000, "breaker": { "store": "memory", "open_ms": 9 } },"#)),
        EditedRow(
            "strategy.collapse_same_key of cache-first",
            (#""ttl_ms": 1000 },"#, #""ttl_ms": 1000, "collapse_same_key": true },"#)),
        EditedRow(
            #"steps[0] with strategy.kind "outbox""#, (#""kind": "cache-first""#, #""kind": "outbox""#),
            (#""op": "get""#, #""op": "get-local""#)),
        EditedRow(
            "strategy.origin_ttl is the number 1, not true or false",
            (#""ttl_ms": 1000 },"#, #""ttl_ms": 1000, "origin_ttl": 1 },"#)),
        EditedRow(
            "strategy.local_first of network-first",
            (#""kind": "cache-first", "ttl_ms": 1000 },"#, #""kind": "network-first", "local_first": true },"#)),
        EditedRow(
            "strategy.failure_statuses is 99, not from 100 to 599",
            (#""ttl_ms": 1000 },"#, #""failure_statuses": [99] },"#)),
        EditedRow("parameter strategy.stale_fallback.x", (#""ttl_ms": 1000 },"#, #""stale_fallback": { "x": 1 } },"#)),
        EditedRow(
            "strategy.stale_fallback is true, not an object", (#""ttl_ms": 1000 },"#, #""stale_fallback": true },"#)),
        EditedRow(#"validator "crc""#, (#""ttl_ms": 1000 },"#, #""validators": ["crc"] },"#)),
        EditedRow(#"strategy.eviction "mru""#, (#""ttl_ms": 1000 },"#, #""eviction": "mru" },"#)),
        EditedRow(
            "a refresh of cache-only, which never asks the origin",
            (#""kind": "cache-first", "ttl_ms": 1000 },"#, #""kind": "cache-only", "revalidate": "always" },"#)),
        EditedRow("strategy.ttl_ms is a string, not a whole number", (#""ttl_ms": 1000 },"#, #""ttl_ms": "1s" },"#)),
        EditedRow(
            "strategy.ttl_ms is the number 0.5, not a whole number", (#""ttl_ms": 1000 },"#, #""ttl_ms": 0.5 },"#)),
        EditedRow("strategy.timeout_ms is -1, not from 0", (#""ttl_ms": 1000 },"#, #""timeout_ms": -1 },"#)),
        EditedRow("no policy says this: ", (#""ttl_ms": 1000 },"#, #""hard_timeout_ms": 0 },"#)),
        EditedRow(
            "stores[0].max_bytes is -1, not from 0 to", (#""name": "memory""#, #""name": "memory", "max_bytes": -1"#)),
        EditedRow(
            "max_bytes beside payloads of 64000003 bytes in all",
            (#""name": "memory""#, #""name": "memory", "max_bytes": 9"#),
            (#""value": "old""#, #""value_is": "64000000 bytes""#)),
        EditedRow(
            #"stores[0].faults[0].error "eperm""#,
            (#""name": "memory""#, #""name": "memory", "faults": [{ "op": "read", "error": "eperm" }]"#)),
        EditedRow(
            "stores[0].faults[0] names neither error nor delay_ms",
            (#""name": "memory""#, #""name": "memory", "faults": [{ "op": "any", "nth": 1 }]"#)),
        EditedRow(
            "stores[0].faults[0].nth is 0, not from 1 to 1000",
            (#""name": "memory""#, #""name": "memory", "faults": [{ "op": "any", "error": "io", "nth": 0 }]"#)),
        EditedRow("two stores of one name", (#"{ "name": "memory" }"#, #"{ "name": "memory" }, { "name": "memory" }"#)),
        EditedRow(
            #"stores[0].faults[0].op "seek""#,
            (#""name": "memory""#, #""name": "memory", "faults": [{ "op": "seek", "error": "eio" }]"#)),
        EditedRow(
            "parameter stores[0].faults[0].at_call",
            (#""name": "memory""#, #""name": "memory", "faults": [{ "op": "read", "error": "eio", "at_call": 2 }]"#)),
        EditedRow(
            #"entries[0].value_is "many bytes", not such as "256 bytes, byte i has value i""#,
            (#""value": "old""#, #""value_is": "many bytes""#)),
        EditedRow("entries[0].value_is beside value", (#""value": "old""#, #""value": "old", "value_is": "9 bytes""#)),
        EditedRow(
            "entries[0].headers.A is the number 1, not a string",
            (#""age_ms": 1500"#, #""age_ms": 1500, "headers": { "A": 1 }"#)),
        EditedRow(#"entries[0] is in the store "disk""#, (#""store": "memory""#, #""store": "disk""#)),
        EditedRow("entries[0].value is missing", (#""value": "old", "#, "")),
        EditedRow("origin[0].value is missing", (#", "value": "new" }"#, " }")),
        EditedRow("origin[0] says neither status nor error", (#""status": 200, "#, "")),
        EditedRow(
            #"origin[0].requires.range "0-1": ranges are not supported yet"#,
            (#""delay_ms": 20"#, #""requires": { "range": "0-1" }"#)),
        EditedRow(#"op "pat""#, (#""op": "get""#, #""op": "pat""#)),
        EditedRow("steps[0].value is missing", (#""op": "get""#, #""op": "put""#)),
        EditedRow("steps[0].store is missing", (#""op": "get""#, #""op": "drop""#)),
        EditedRow(
            #"steps[0] is about the store "disk", which is not there"#,
            (#""op": "get""#, #""op": "sweep", "store": "disk""#)),
        EditedRow(
            #"steps[0].expect expects a value of the op "put""#, (#""op": "get""#, #""op": "put", "value": "x""#)),
        EditedRow(
            #"steps[0].expect expects a value of the op "replay""#, (#""op": "get""#, #""op": "replay""#)),
        EditedRow(
            "steps[0].request_headers.Range: ranges are not supported yet",
            (#""op": "get""#, #""op": "get", "request_headers": { "range": "bytes=0-1" }"#)),
        EditedRow(
            "steps[0].count is 99999999, not from 1 to 10000", (#""op": "get""#, #""op": "get", "count": 99999999"#)),
        EditedRow("steps[0].at_ms is 9223372036854775807, not", (#""at_ms": 0"#, #""at_ms": 99999999999999999999"#)),
        EditedRow("steps[0].cancel_at_ms before its at_ms", (#""at_ms": 0"#, #""at_ms": 50, "cancel_at_ms": 49"#)),
        EditedRow("a step after the end", (#""at_ms": 0"#, #""at_ms": 101"#)),
        EditedRow(
            #"steps[0] with strategy.kind "cache-first""#, (#""from": "origin""#, #""result": "pending""#)),
        EditedRow(#"steps[0].expect.from "thin air""#, (#""from": "origin""#, #""from": "thin air""#)),
        EditedRow(#"steps[0].expect.error "no-luck""#, (#""value": "new", "f"#, #""error": "no-luck", "f"#)),
        EditedRow("steps[0].expect.value is null", (#""value": "new", "f"#, #""value": null, "f"#)),
        EditedRow(
            "steps[0].expect.content_range: ranges are not supported yet",
            (#""from": "origin""#, #""content_range": "bytes 0-1/2""#)),
        EditedRow(
            #"steps[0] speaks of the store "disk", which is not there"#,
            (#""from": "origin""#, #""store_errors": { "disk": 1 }"#)),
        EditedRow(
            #"end.queues with strategy.kind "cache-first""#, (#""body_writes": 1"#, #""queues": { "q": [] }"#)),
        EditedRow("end.stored is a list, not an object", (#"{ "memory": { "k": "new" } }"#, "[]")),
        EditedRow(#"end speaks of the store "disk""#, (#"{ "memory": { "k": "new" } }"#, #"{ "disk": {} }"#)),
    ])
    func unsupported(_ row: EditedRow) async throws {
        let output = try await ConformRows.play(ConformRows.file(ConformRows.row(row.edits)))
        #expect(output.out.hasPrefix("A-1 unsupported \(row.verdict)"), "\(output.out)")
        #expect(output.code == 1 && output.err.isEmpty)
    }

    @Test func rowWithoutExpectationDoesNotPass() async throws {
        let row = #"{ "id": "A", "level": "must", "family": "race", "strategy": { "kind": "race" } }"#
        #expect(
            try await ConformRows.play(ConformRows.file(row)).out.hasPrefix("A unsupported the row expects nothing\n"))
    }

    @Test(arguments: [
        ("", "rows.json:1:1: error: the file is empty; expected a JSON object\n"),
        ("{", "rows.json:1:2: error: the file ends too early; expected a name in double quotes\n"),
        ("[1]", "rows.json:1:1: error: a list is not allowed here; expected a JSON object\n"),
        ("{}", #"rows.json:1:1: error: this is no file of scenarios, or of another format; expected "format": "#),
        (#"{ "format": "strategy-scenarios/2" }"#, "rows.json:1:13: error: this is no file of scenarios"),
        (#"{ "format": "strategy-scenarios/1" }"#, "rows.json:1:1: error: there are no scenarios"),
        (ConformRows.file(), "rows.json:1:50: error: there are no scenarios"),
        (ConformRows.file("7"), "rows.json:1:51: error: the number 7 is not allowed here; expected a row: an object\n"),
        (ConformRows.file("{}"), "rows.json:1:51: error: this row has no id"),
        (ConformRows.file(#"{ "id": "A\u001b[31m" }"#), "rows.json:1:59: error: this row has no id"),
        (ConformRows.file(#"{ "id": "A" }"#), #"rows.json:1:51: error: it is not clear what row "A" asks for"#),
        (ConformRows.file(ConformRows.row, ConformRows.row), #"error: two rows have the id "A-1""#),
        (ConformRows.file(ConformRows.row) + "x", "error: there is more after the end of the value"),
        (String(repeating: "[", count: 100_000), "rows.json:1:65: error: nested deeper than 64 levels\n"),
        (String(repeating: " ", count: 1_000_001), "rows.json: error: the file is larger than 1 MB\n"),
    ])
    func hostileFileIsError(_ text: String, _ message: String) async throws {
        let output = try await ConformRows.play(text)
        #expect(output.code == 1 && output.out.isEmpty)
        #expect(output.err.contains(message), "\(output.err)")
    }

    @Test func bytesThatAreNotTextAreError() async throws {
        let output = try await ConformRows.play(Data([0x7B, 0x22, 0xFF, 0xFE, 0x00]))
        #expect(output.code == 1 && output.out.isEmpty && output.err.hasPrefix("rows.json:1:"))
    }

    @Test func unknownKeysBesideRowsAreReported() async throws {
        let text = ConformRows.file(ConformRows.row).replacing(#""format""#, with: #""defaults": {}, "format""#)
        let output = try await ConformRows.play(text)
        #expect(output.code == 0)
        #expect(output.err == "rows.json: warning: unknown key \"defaults\" has no effect\n")
    }

    @Test func controlCharactersAreRemovedFromShownNames() async throws {
        let row = ConformRows.row([(#""title""#, #""\u001b[2J\u009b": 1, "title""#)])
        #expect(try await ConformRows.play(ConformRows.file(row)).out.hasPrefix("A-1 unsupported parameter ?[2J?\n"))
    }

    @Test(arguments: [
        ([String](), "ConformRun takes one FILE"),
        (["a", "b"], "ConformRun takes one FILE"),
        (["a", "--format", "xml"], "--format takes one of text, json"),
        (["a", "--loud"], "unknown option '--loud'"),
    ])
    func usageErrorIsExplained(_ arguments: [String], _ message: String) async {
        let output = await Output(.conform, arguments)
        #expect(output.code == 2 && output.out.isEmpty)
        #expect(output.err == "larder: \(message)\nlarder: usage: ConformRun FILE [OPTION …]\n")
    }

    @Test func missingFileIsError() async {
        let output = await Output(.conform, ["/nowhere/rows.json"])
        #expect(output.code == 1 && output.out.isEmpty)
        #expect(output.err.hasPrefix("/nowhere/rows.json: error: cannot open"))
    }
}
