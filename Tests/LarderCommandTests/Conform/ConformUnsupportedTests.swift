import FoundationEssentials
import Testing

/// What is not understood is never passed over.
@Suite struct ConformUnsupportedTests {
    @Test(arguments: [
        EditedRow("parameter twist", (#""title""#, #""twist": 1, "title""#)),
        EditedRow(#"family "haste""#, (#""family": "cache-first""#, #""family": "haste""#)),
        EditedRow("family is missing", (#""family": "cache-first","#, "")),
        EditedRow(#"strategy.kind "cash-first""#, (#""kind": "cache-first""#, #""kind": "cash-first""#)),
        EditedRow("strategy.kind is missing", (#""kind": "cache-first", "#, "")),
        EditedRow("parameter strategy.twist", (#""ttl_ms": 1000 },"#, #""ttl_ms": 1000, "twist": null },"#)),
        EditedRow("parameter strategy.shared", (#""ttl_ms": 1000 },"#, #""ttl_ms": 1000, "shared": true },"#)),
        EditedRow("parameter strategy.origin_ttl", (#""ttl_ms": 1000 },"#, #""ttl_ms": 1000, "origin_ttl": true },"#)),
        EditedRow("parameter strategy.stale_fallback.x", (#""ttl_ms": 1000 },"#, #""stale_fallback": { "x": 1 } },"#)),
        EditedRow(
            "strategy.stale_fallback is true, not an object", (#""ttl_ms": 1000 },"#, #""stale_fallback": true },"#)),
        EditedRow(#"validator "crc""#, (#""ttl_ms": 1000 },"#, #""validators": ["crc"] },"#)),
        EditedRow(#"eviction "mru""#, (#""ttl_ms": 1000 },"#, #""eviction": "mru" },"#)),
        EditedRow("strategy.swr_ms of cache-first", (#""ttl_ms": 1000 },"#, #""swr_ms": 1000 },"#)),
        EditedRow(#"revalidate "always" of cache-first"#, (#""ttl_ms": 1000 },"#, #""revalidate": "always" },"#)),
        EditedRow("strategy.ttl_ms is a string, not a whole number", (#""ttl_ms": 1000 },"#, #""ttl_ms": "1s" },"#)),
        EditedRow(
            "strategy.ttl_ms is the number 0.5, not a whole number", (#""ttl_ms": 1000 },"#, #""ttl_ms": 0.5 },"#)),
        EditedRow("strategy.timeout_ms is -1, not from 0", (#""ttl_ms": 1000 },"#, #""timeout_ms": -1 },"#)),
        EditedRow("no policy says this: ", (#""ttl_ms": 1000 },"#, #""hard_timeout_ms": 0 },"#)),
        EditedRow("parameter stores[0].max_bytes", (#""name": "memory""#, #""name": "memory", "max_bytes": 9"#)),
        EditedRow("two stores of one name", (#"{ "name": "memory" }"#, #"{ "name": "memory" }, { "name": "memory" }"#)),
        EditedRow(
            #"stores[0].faults[0].op "seek""#,
            (#""name": "memory""#, #""name": "memory", "faults": [{ "op": "seek", "error": "eio" }]"#)),
        EditedRow(
            "parameter stores[0].faults[0].at_call",
            (#""name": "memory""#, #""name": "memory", "faults": [{ "op": "read", "error": "eio", "at_call": 2 }]"#)),
        EditedRow("parameter entries[0].headers", (#""age_ms": 1500"#, #""age_ms": 1500, "headers": {}"#)),
        EditedRow("entries[0].ttl_ms that is not the strategy's", (#""ttl_ms": 1000 }]"#, #""ttl_ms": 2000 }]"#)),
        EditedRow(#"entries[0] is in the store "disk""#, (#""store": "memory""#, #""store": "disk""#)),
        EditedRow("entries[0].value is missing", (#""value": "old", "#, "")),
        EditedRow("origin[0].status 206", (#""status": 200"#, #""status": 206"#)),
        EditedRow("origin[0] says neither status nor error", (#""status": 200, "#, "")),
        EditedRow("parameter origin[0].requires.range", (#""delay_ms": 20"#, #""requires": { "range": "0-1" }"#)),
        EditedRow(#"op "put""#, (#""op": "get""#, #""op": "put""#)),
        EditedRow("parameter steps[0].request_headers", (#""op": "get""#, #""op": "get", "request_headers": {}"#)),
        EditedRow(
            "steps[0].count is 99999999, not from 1 to 10000", (#""op": "get""#, #""op": "get", "count": 99999999"#)),
        EditedRow("steps[0].at_ms is 9223372036854775807, not", (#""at_ms": 0"#, #""at_ms": 99999999999999999999"#)),
        EditedRow("steps[0].cancel_at_ms before its at_ms", (#""at_ms": 0"#, #""at_ms": 50, "cancel_at_ms": 49"#)),
        EditedRow("a step after the end", (#""at_ms": 0"#, #""at_ms": 101"#)),
        EditedRow("parameter steps[0].expect.result", (#""from": "origin""#, #""result": "pending""#)),
        EditedRow(#"steps[0].expect.from "thin air""#, (#""from": "origin""#, #""from": "thin air""#)),
        EditedRow(#"steps[0].expect.error "no-luck""#, (#""value": "new", "f"#, #""error": "no-luck", "f"#)),
        EditedRow("steps[0].expect.value is null", (#""value": "new", "f"#, #""value": null, "f"#)),
        EditedRow("an answer of 404 reaches the caller as an error", (#""from": "origin""#, #""status": 404"#)),
        EditedRow("parameter end.queues", (#""body_writes": 1"#, #""queues": {}"#)),
        EditedRow("end.stored is a list, not an object", (#"{ "memory": { "k": "new" } }"#, "[]")),
        EditedRow(#"end speaks of the store "disk""#, (#"{ "memory": { "k": "new" } }"#, #"{ "disk": {} }"#)),
    ])
    func unsupported(_ row: EditedRow) async throws {
        let output = try await ConformRows.play(ConformRows.file(ConformRows.row(row.edits)))
        #expect(output.out.hasPrefix("A-1 unsupported \(row.verdict)"), "\(output.out)")
        #expect(output.code == 1 && output.err.isEmpty)
    }

    @Test func aRowThatExpectsNothingIsNoPass() async throws {
        let row = #"{ "id": "A", "level": "must", "family": "race", "strategy": { "kind": "race" } }"#
        #expect(
            try await ConformRows.play(ConformRows.file(row)).out.hasPrefix("A unsupported the row expects nothing\n"))
    }

    @Test(arguments: [
        ("", "rows.json:1:1: error: the file is empty; expected a JSON object\n"),
        ("{", "rows.json:1:2: error: the file ends too early; expected a name in double quotes\n"),
        ("[1]", "rows.json:1:1: error: a list cannot stand here; expected a JSON object\n"),
        ("{}", #"rows.json:1:1: error: this is no file of scenarios, or of another format; expected "format": "#),
        (#"{ "format": "strategy-scenarios/2" }"#, "rows.json:1:13: error: this is no file of scenarios"),
        (#"{ "format": "strategy-scenarios/1" }"#, "rows.json:1:1: error: there are no scenarios"),
        (ConformRows.file(), "rows.json:1:50: error: there are no scenarios"),
        (ConformRows.file("7"), "rows.json:1:51: error: the number 7 cannot stand here; expected a row: an object\n"),
        (ConformRows.file("{}"), "rows.json:1:51: error: this row has no id"),
        (ConformRows.file(#"{ "id": "A\u001b[31m" }"#), "rows.json:1:59: error: this row has no id"),
        (ConformRows.file(#"{ "id": "A" }"#), #"rows.json:1:51: error: it is not clear what row "A" asks for"#),
        (ConformRows.file(ConformRows.row, ConformRows.row), #"error: two rows have the id "A-1""#),
        (ConformRows.file(ConformRows.row) + "x", "error: there is more after the end of the value"),
        (String(repeating: "[", count: 100_000), "rows.json:1:65: error: nested deeper than 64 levels\n"),
        (String(repeating: " ", count: 1_000_001), "rows.json: error: the file is larger than 1 MB\n"),
    ])
    func aHostileFileIsAnError(_ text: String, _ message: String) async throws {
        let output = try await ConformRows.play(text)
        #expect(output.code == 1 && output.out.isEmpty)
        #expect(output.err.contains(message), "\(output.err)")
    }

    @Test func bytesThatAreNoTextAreAnError() async throws {
        let output = try await ConformRows.play(Data([0x7B, 0x22, 0xFF, 0xFE, 0x00]))
        #expect(output.code == 1 && output.out.isEmpty && output.err.hasPrefix("rows.json:1:"))
    }

    @Test func whatStandsBesideTheRowsIsNotPassedOverInSilence() async throws {
        let text = ConformRows.file(ConformRows.row).replacing(#""format""#, with: #""defaults": {}, "format""#)
        let output = try await ConformRows.play(text)
        #expect(output.code == 0)
        #expect(output.err == "rows.json: warning: \"defaults\" is not known and not heeded\n")
    }

    @Test func namesAreShownWithoutWhatATerminalMightObey() async throws {
        let row = ConformRows.row([(#""title""#, #""\u001b[2J\u009b": 1, "title""#)])
        #expect(try await ConformRows.play(ConformRows.file(row)).out.hasPrefix("A-1 unsupported parameter ?[2J?\n"))
    }

    @Test(arguments: [
        (["conform"], "which file of scenarios?"),
        (["conform", "a", "b"], "which file of scenarios?"),
        (["conform", "a", "--format", "xml"], "--format takes one of text, json"),
        (["conform", "a", "--loud"], "unknown option '--loud'"),
    ])
    func aWrongCallIsExplained(_ arguments: [String], _ message: String) async {
        let output = await Output(arguments)
        #expect(output.code == 2 && output.out.isEmpty && output.err.hasPrefix("larder: \(message)\n"))
    }

    @Test func aFileThatIsNotThereIsAnError() async {
        let output = await Output(["conform", "/nowhere/rows.json"])
        #expect(output.code == 1 && output.out.isEmpty)
        #expect(output.err.hasPrefix("/nowhere/rows.json: error: cannot open"))
    }
}
