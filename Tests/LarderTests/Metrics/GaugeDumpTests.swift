import Larder
import Testing

@testable import LarderCore

/// Gauges and timings of plugins in dumps that others wrote.
@Suite struct GaugeDumpTests {
    private static func dump(_ gauges: String, timings: String = "{}", declared: String = "{}") throws -> MetricsDump {
        try MetricsDump(
            reading: Array(
                """
                { "format": "larder-metrics/2", "process": "p", "instance": "i", "started": 0, "written": 1,
                  "declared": \(declared),
                  "resources": [{ "resource": "feed", "in_flight": 0, "gauges": \(gauges),
                    "revisions": [{ "revision": "r", "strategy": "s", "current": true, "windows": {}, "periods": [],
                      "total": { "counters": {}, "faults": [], "latency": {}, "ages": {}, "timings": \(timings),
                        "origin_answer_latency": [0, "", ""] } }] }] }
                """.utf8))
    }

    private static func names(_ dump: MetricsDump) -> [String] {
        dump.resources[0].gauges.keys.map(\.name).sorted() + dump.resources[0].total.timings.keys.map(\.name).sorted()
    }

    @Test func undeclaredOnesAreKeptWithoutHelp() throws {
        let dump = try Self.dump(#"{ "waiting": 2.5 }"#, timings: #"{ "delivery": [0, "", ""] }"#)
        #expect(Self.names(dump) == ["delivery", "waiting"].sorted { $0 > $1 })
        #expect(dump.prometheus.contains("larder_waiting{resource=\"feed\"} 2.5"))
        #expect(!dump.prometheus.contains("# HELP larder_waiting"))
        #expect(try MetricsDump(reading: Array(dump.json.text().utf8)).json == dump.json)
    }

    @Test func namesThatNoneCanHaveAreLeftOut() throws {
        let long = String(repeating: "n", count: 65)
        let names = #""bad name": 1, "x\n# EOF": 1, "Waiting": 1, "in_flight": 1, "load_p50_seconds": 1, "a_total": 1"#
        let dump = try Self.dump(
            "{ \(names), \"\(long)\": 1 }",
            timings: #"{ "load_duration": [0, "", ""], "wait_seconds": [0, "", ""], "b_c ": [0, "", ""] }"#,
            declared: #"{ "gauges": { "good": 7, "x\n# EOF": "Help" }, "timings": [1] }"#)
        #expect(Self.names(dump).isEmpty)
        #expect(!dump.prometheus.contains("EOF\n#") && !dump.prometheus.contains("x\n"))
    }

    @Test func namesThatMeetInTheTextFormatsAreLeftOut() throws {
        let dump = try Self.dump(
            #"{ "nap": 1, "mood_angry": 1, "wait_seconds": 1 }"#,
            timings: #"{ "wait": [0, "", ""], "nap": [0, "", ""] }"#,
            declared: """
                { "counters": {}, "levels": { "mood": { "help": "H", "values": ["calm", "angry"] } },
                  "timings": { "wait": "Waits" } }
                """)
        // The declared timing has the family of the gauge in seconds; a gauge without a unit has another one.
        #expect(Self.names(dump) == ["nap", "nap", "wait"])
        #expect(dump.openMetrics.ranges(of: "# TYPE larder_wait_seconds ").count <= 1)
    }

    @Test(arguments: [#""2""#, "null", "true", "[]", "{}", "1e999", "-1e999"])
    func gaugeThatIsNoNumberIsRefused(_ value: String) {
        #expect(throws: MetricsDump.Unreadable.self) { try Self.dump("{ \"waiting\": \(value) }") }
    }

    @Test func brokenTimingIsRefused() {
        for timing in ["1", "[]", "{}", "\"x\""] {
            #expect(throws: MetricsDump.Unreadable.self, "\(timing)") {
                try Self.dump("{}", timings: "{ \"delivery\": \(timing) }")
            }
        }
    }

    @Test func tooManyAreRefused() {
        func list(_ value: String) -> String {
            "{" + (0...1_000).map { "\"x_\($0)\": \(value)" }.joined(separator: ",") + "}"
        }
        for make in [
            { try Self.dump(list("1")) }, { try Self.dump("{}", timings: list(#"[0, "", ""]"#)) },
            { try Self.dump("{}", declared: #"{ "gauges": \#(list(#""Help""#)) }"#) },
            { try Self.dump("{}", declared: #"{ "timings": \#(list(#""Help""#)) }"#) },
        ] {
            #expect(throws: MetricsDump.Unreadable.self) { try make() }
        }
    }

    @Test func hugeNumbersStayNumbersWhenTheyAreAddedUp() throws {
        let (bytes, seconds) = (Gauge("kept_bytes", ""), Gauge("oldest_seconds", ""))
        let most = Double.greatestFiniteMagnitude
        #expect(bytes.combined(most, most) == most && bytes.combined(-most, -most) == -most)
        #expect(bytes.combined(2, 3) == 5 && seconds.combined(2, 3) == 3)
        let dump = try Self.dump(#"{ "kept_bytes": 1.7e308, "oldest_seconds": -1.7e308 }"#)
        #expect(try MetricsDump(reading: Array(dump.json.text().utf8)).resources == dump.resources)
    }
}
