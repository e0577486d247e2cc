import LarderFoundation
import Testing

/// A row in a short form. Each of these rows passes, and none of them is from the fixture.
struct BriefRow: Sendable, CustomTestStringConvertible {
    var title: String
    var strategy: String
    var stores = #"{ "name": "memory" }"#
    var entries = ""
    var origin = ""
    var steps: [String]
    var end = "{}"

    var testDescription: String { title }

    var text: String {
        """
        { "id": "A", "level": "must", "family": "cache-first", "strategy": { \(strategy) },
          "stores": [\(stores)], "entries": [\(entries)], "origin": [\(origin)],
          "steps": [\(steps.joined(separator: ", "))], "end": \(end) }
        """
    }

    /// Returns a copy of `k` in memory.
    static func old(_ age: String, _ more: String = "", store: String = "memory", value: String = "old") -> String {
        #"{ "store": "\#(store)", "key": "k", "value": "\#(value)", "age_ms": \#(age)\#(more) }"#
    }

    static func new(_ delay: Int = 20, _ value: String = "new") -> String {
        #"{ "delay_ms": \#(delay), "status": 200, "value": "\#(value)" }"#
    }

    static let down = #"{ "delay_ms": 5, "error": "connect" }"#

    static func get(_ at: Int, _ expect: String, more: String = "", key: String = "k") -> String {
        #"{ "at_ms": \#(at), "op": "get", "key": "\#(key)"\#(more), "expect": { \#(expect) } }"#
    }

    static func sees(_ value: String, _ freshness: String, from: String, at: Int, calls: Int) -> String {
        """
        "value": "\(value)", "freshness": "\(freshness)", "from": "\(from)", "done_at_ms": \(at), "origin_calls": \(calls)
        """
    }

    static func fails(_ error: String, at: Int, calls: Int) -> String {
        #""error": "\#(error)", "done_at_ms": \#(at), "origin_calls": \#(calls)"#
    }
}

/// Rows that the fixture does not contain but that are supported.
@Suite struct ConformMappingTests {
    typealias B = BriefRow

    @Test(arguments: [
        BriefRow(
            title: "a fresh copy is refreshed behind the caller where that is always done",
            strategy: #""kind": "stale-while-revalidate", "ttl_ms": 60000, "revalidate": "always""#,
            entries: B.old("1000"), origin: B.new(),
            steps: [
                B.get(0, B.sees("old", "fresh", from: "cache", at: 0, calls: 1))
            ], end: #"{ "at_ms": 50, "body_writes": 1, "stored": { "memory": { "k": "new" } } }"#),
        BriefRow(
            title: "beyond the window the caller waits",
            strategy: #""kind": "stale-while-revalidate", "ttl_ms": 1000, "swr_ms": 500"#,
            entries: B.old("1500"), origin: B.new(),
            steps: [B.get(0, B.sees("new", "fresh", from: "origin", at: 20, calls: 1))]),
        BriefRow(
            title: "in a race a fresh copy wins and the call is saved", strategy: #""kind": "race", "ttl_ms": 1000"#,
            entries: B.old("999"), origin: B.new(30),
            steps: [B.get(0, B.sees("old", "fresh", from: "cache", at: 0, calls: 1))],
            end: #"{ "at_ms": 99, "body_writes": 1 }"#),
        BriefRow(
            title: "cache-only shows a stale copy that may be shown",
            strategy: #""kind": "cache-only", "ttl_ms": 1000, "stale_fallback": { "max_age_ms": 3000 }"#,
            entries: B.old("2500"),
            steps: [
                B.get(0, B.sees("old", "stale", from: "cache", at: 0, calls: 0)),
                B.get(500, B.fails("not-stored", at: 500, calls: 0)),
            ]),
        BriefRow(
            title: "network-only stores nothing", strategy: #""kind": "network-only", "timeout_ms": 50"#,
            origin: B.new() + "," + B.new(60),
            steps: [
                B.get(0, B.sees("new", "fresh", from: "origin", at: 20, calls: 1)),
                B.get(100, B.fails("timeout", at: 150, calls: 2)),
            ], end: #"{ "at_ms": 200, "body_writes": 0, "stored": { "memory": {} } }"#),
        BriefRow(
            title: "a jitter lengthens a lifetime by less than itself",
            strategy: #""kind": "cache-first", "ttl_ms": 1000, "ttl_jitter_ms": 500"#,
            origin: B.new(0) + "," + B.new(0),
            steps: [
                B.get(0, B.sees("new", "fresh", from: "origin", at: 0, calls: 1)),
                B.get(1000, B.sees("new", "fresh", from: "cache", at: 1000, calls: 1)),
                B.get(1500, B.sees("new", "fresh", from: "origin", at: 1500, calls: 2)),
            ]),
        BriefRow(
            title: "an origin that failed is left alone for a while",
            strategy:
                #""kind": "cache-first", "ttl_ms": 1000, "stale_fallback": { "max_age_ms": 60000, "throttle_ms": 1000 }"#,
            entries: B.old("2000"), origin: B.down + "," + B.new(),
            steps: [
                B.get(0, B.sees("old", "stale", from: "cache", at: 5, calls: 1)),
                B.get(1004, B.sees("old", "stale", from: "cache", at: 1004, calls: 1)),
                B.get(1005, B.sees("new", "fresh", from: "origin", at: 1025, calls: 2)),
            ]),
        BriefRow(
            title: "the network first, and then a copy that is not too old",
            strategy: #""kind": "network-first", "ttl_ms": 1000, "stale_fallback": { "max_age_ms": 2000 }"#,
            entries: B.old("1500"), origin: B.down + "," + B.down,
            steps: [
                B.get(0, B.sees("old", "stale", from: "cache", at: 5, calls: 1)),
                B.get(500, #""error": "connect", "done_at_ms": 505"#),
            ]),
        BriefRow(
            title: "a hard timeout lets the copy stand in",
            strategy: #""kind": "cache-first", "ttl_ms": 1000, "stale_fallback": { "hard_timeout_ms": 50 }"#,
            entries: B.old("9999"), origin: B.new(100),
            steps: [B.get(0, B.sees("old", "stale", from: "cache", at: 50, calls: 1))],
            end: #"{ "at_ms": 200, "body_writes": 0 }"#),
        BriefRow(
            title: "a status that is a failure", strategy: #""kind": "cache-first", "ttl_ms": 1000"#,
            origin: #"{ "status": 503 }, { "status": 403 }"#,
            steps: [
                B.get(0, #""error": "no-response", "status": 503"#), B.get(1, #""status": 403, "origin_calls": 2"#),
            ]),
        BriefRow(
            title: "asking since when it was modified",
            strategy: #""kind": "cache-first", "ttl_ms": 1000, "validators": ["last-modified"]"#,
            entries: B.old("1000", #", "last_modified": "Mon", "etag": "x""#),
            origin: #"{ "status": 304, "requires": { "if_modified_since": "Mon", "if_none_match": null } }"#,
            steps: [B.get(0, B.sees("old", "fresh", from: "revalidated", at: 0, calls: 1))],
            end: #"{ "at_ms": 1, "body_writes": 0 }"#),
        BriefRow(
            title: "every caller goes away", strategy: #""kind": "cache-first", "ttl_ms": 1000"#, origin: B.new(100),
            steps: [B.get(0, B.fails("cancelled", at: 50, calls: 1), more: #", "count": 3, "cancel_at_ms": 50"#)],
            end: #"{ "at_ms": 200, "body_writes": 0, "stored": { "memory": {} } }"#),
        BriefRow(
            title: "a negative lifetime is none", strategy: #""kind": "cache-first", "ttl_ms": -5"#,
            origin: B.new(0) + "," + B.new(0),
            steps: [B.get(0, #""from": "origin""#), B.get(1, #""from": "origin", "origin_calls": 2"#)]),
        BriefRow(
            title: "an entry from the future is stale", strategy: #""kind": "cache-first", "ttl_ms": 1000"#,
            entries: B.old("-1"), origin: B.new(),
            steps: [B.get(0, B.sees("new", "fresh", from: "origin", at: 20, calls: 1))]),
        BriefRow(
            title: "the largest numbers there are",
            strategy: """
                "kind": "stale-while-revalidate", "ttl_ms": 1000, "swr_ms": 9223372036854775807, "hard_timeout_ms": 99999999999999999999,
                "tier_timeout_ms": 9223372036854775807, "stale_fallback": { "max_age_ms": 9223372036854775807 }
                """, entries: B.old("9223372036854775807", #", "ttl_ms": 1000"#), origin: B.new(1_000_000_000_000),
            steps: [B.get(0, B.sees("old", "stale", from: "cache", at: 0, calls: 1))],
            end: #"{ "at_ms": 1000000000000, "body_writes": 1, "stored": { "memory": { "k": "new" } } }"#),
        BriefRow(
            title: "a lower tier holds what is fresher", strategy: #""kind": "cache-first", "ttl_ms": 1000"#,
            stores: #"{ "name": "memory" }, { "name": "disk" }"#,
            entries: B.old("1500") + "," + B.old("500", store: "disk", value: "newer"),
            steps: [B.get(0, B.sees("newer", "fresh", from: "cache", at: 0, calls: 0))],
            end: #"{ "at_ms": 9, "stored": { "memory": { "k": "newer" }, "disk": { "k": "newer" } } }"#),
        BriefRow(
            title: "a lower tier that is damaged and slow to fail",
            strategy: #""kind": "cache-first", "ttl_ms": 1000"#,
            stores: """
                { "name": "memory" }, { "name": "disk", "max_entries": 9, "faults": [{ "op": "read", "error": "corrupt" },
                { "op": "write", "delay_ms": 7, "error": "eio" }] }
                """, entries: B.old("0", store: "disk"), origin: B.new(),
            steps: [B.get(0, B.sees("new", "fresh", from: "origin", at: 27, calls: 1))],
            end:
                #"{ "at_ms": 99, "stored": { "memory": { "k": "new" }, "disk": {} }, "store_errors": { "disk": 1, "memory": 0 } }"#
        ),
        BriefRow(
            title: "what was used last stays", strategy: #""kind": "cache-first", "ttl_ms": 1000, "eviction": "lru""#,
            stores: #"{ "name": "disk", "max_entries": 1 }"#, origin: B.new(1, "a") + "," + B.new(1, "b"),
            steps: [
                B.get(0, #""value": "a""#, key: "a"), B.get(5, #""value": "b""#, key: "b"),
                B.get(9, B.sees("b", "fresh", from: "cache", at: 9, calls: 2), key: "b"),
            ], end: #"{ "at_ms": 9, "stored": { "disk": { "b": "b" } } }"#),
    ])
    func passes(_ row: BriefRow) async throws {
        let output = try await ConformRows.play(ConformRows.file(row.text))
        #expect(output.out.hasPrefix("A pass\n"), "\(output.out)\(output.err)")
    }

    @Test func eachOfSeveralCallersIsCompared() async throws {
        let row = ConformRows.row([
            (#""key": "k", "expect""#, #""key": "k", "count": 10000, "expect""#),
            (#""from": "origin""#, #""from": "cache""#),
        ])
        let output = try await ConformRows.play(ConformRows.file(row))
        // A difference that all callers see is reported once.
        #expect(output.out.hasPrefix("A-1 fail step 1 caller 1: from origin, not cache\n"))
    }
}
