import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The text that a textfile collector reads.
@Suite struct TextFormatTests {
    // MARK: Exact text

    @Test func smallDumpMatchesExpectedText() throws {
        let dump = try dump(
            .init(
                name: "feed", counters: #""loads": 8, "bytes_in": 90, "breaker_open_milliseconds": 1500"#,
                faults: #"{ "tier": "disk", "kind": "write", "count": 2 }"#))
        #expect(
            lines(dump.prometheus, of: ["loads", "in", "breaker_open", "store_faults", "policy", "store_bytes"]) == """
                # HELP larder_loads_total Loads that ended, without those that are counted apart
                # TYPE larder_loads_total counter
                larder_loads_total{resource="feed",revision="r1",strategy="cache-first"} 8
                # HELP larder_in_bytes_total Bytes of payload that origins sent
                # TYPE larder_in_bytes_total counter
                larder_in_bytes_total{resource="feed",revision="r1",strategy="cache-first"} 90
                # HELP larder_breaker_open_seconds_total How long breakers were open, counted when they close
                # TYPE larder_breaker_open_seconds_total counter
                larder_breaker_open_seconds_total{resource="feed",revision="r1",strategy="cache-first"} 1.5
                # HELP larder_store_faults_total Failures of stores
                # TYPE larder_store_faults_total counter
                larder_store_faults_total{resource="feed",tier="disk",kind="write"} 2
                # HELP larder_store_bytes Size of the kept entries
                # TYPE larder_store_bytes gauge
                larder_store_bytes{resource="feed"} 20
                # HELP larder_policy_info The revision of the policy that is in effect
                # TYPE larder_policy_info gauge
                larder_policy_info{resource="feed",revision="r1",strategy="cache-first"} 1
                """)
        #expect(
            lines(dump.openMetrics, of: ["loads", "in", "breaker_open", "policy", "store_bytes"]) == """
                # HELP larder_loads Loads that ended, without those that are counted apart
                # TYPE larder_loads counter
                larder_loads_total{resource="feed",revision="r1",strategy="cache-first"} 8
                # HELP larder_in_bytes Bytes of payload that origins sent
                # TYPE larder_in_bytes counter
                # UNIT larder_in_bytes bytes
                larder_in_bytes_total{resource="feed",revision="r1",strategy="cache-first"} 90
                # HELP larder_breaker_open_seconds How long breakers were open, counted when they close
                # TYPE larder_breaker_open_seconds counter
                # UNIT larder_breaker_open_seconds seconds
                larder_breaker_open_seconds_total{resource="feed",revision="r1",strategy="cache-first"} 1.5
                # HELP larder_store_bytes Size of the kept entries
                # TYPE larder_store_bytes gauge
                # UNIT larder_store_bytes bytes
                larder_store_bytes{resource="feed"} 20
                # HELP larder_policy The revision of the policy that is in effect
                # TYPE larder_policy info
                larder_policy_info{resource="feed",revision="r1",strategy="cache-first"} 1
                """)
        #expect(dump.openMetrics.hasSuffix("\n# EOF\n") && !dump.prometheus.contains("EOF"))
    }

    @Test func factsAboutSuppliedPoliciesAreLabelsOfOneSeries() throws {
        var dump = try dump(.init(name: "feed"))
        #expect(!dump.prometheus.contains("larder_supply"))
        dump.supply = [
            "running": "42", "state": "trial", "why": "a \"b\"", "__name__": "x", "A": "x", "a-b": "x", "": "x",
        ]
        #expect(
            lines(dump.prometheus, of: ["supply"]) == #"""
                # HELP larder_supply_info The policies that were supplied
                # TYPE larder_supply_info gauge
                larder_supply_info{running="42",state="trial",why="a \"b\""} 1
                """#)
    }

    @Test func emptyDumpIsValidText() {
        let dump = MetricsDump(
            host: nil, process: "p", instance: "i", started: Timestamp(nanoseconds: 0),
            written: Timestamp(nanoseconds: 0))
        #expect(dump.prometheus == "" && dump.openMetrics == "# EOF\n")
    }

    @Test func everyCounterIsWritten() throws {
        let text = try dump(.init(name: "feed", counters: "")).prometheus
        #expect(text.split(separator: "\n").filter { $0.contains("revision=") }.count == Counter.core.count + 1)
        #expect(!text.contains("milliseconds") && !text.contains("load_p95"))
    }

    // MARK: Escaping

    @Test(arguments: TextFormat.allCases) func labelValuesAreEscaped(_ format: TextFormat) {
        let value = "a\"b\\c\nd\r\ne\\n{}=,# é中😀\u{1}\u{1B}\u{7F}\u{2028}"
        let family = MetricFamily("x", kind: .gauge, help: "Help").with([
            .init(labels: [("a", value), ("b", "")], .count(1))
        ])
        let written =
            #"a\"b\\c\nd\\u{d}\ne\\n{}=,# é中😀"# + #"\\u{1}\\u{1b}\\u{7f}\\u{2028}"#
        let text = "# HELP larder_x Help\n# TYPE larder_x gauge\nlarder_x{a=\"\(written)\",b=\"\"} 1\n"
        // Scalars, since characters hide what a line ends in.
        #expect(
            Array(format.text([family]).unicodeScalars)
                == Array((text + (format == .openMetrics ? "# EOF\n" : "")).unicodeScalars))
    }

    @Test(arguments: TextFormat.allCases) func nullCharacterIsReplaced(_ format: TextFormat) {
        let family = MetricFamily("x", kind: .gauge, help: "a\0").with([.init(labels: [("a", "b\0c")], .number(0.5))])
        #expect(format.text([family]).contains("larder_x{a=\"b\u{2400}c\"} 0.5\n"))
        #expect(!format.text([family]).utf8.contains(0))
    }

    @Test func helpIsEscapedByFormat() {
        let family = MetricFamily("x", kind: .gauge, help: "a \"b\" \\ c\nd").with([.init(.count(1))])
        #expect(TextFormat.prometheus.text([family]).hasPrefix(#"# HELP larder_x a "b" \\ c\nd"# + "\n"))
        #expect(TextFormat.openMetrics.text([family]).hasPrefix(#"# HELP larder_x a \"b\" \\ c\nd"# + "\n"))
        #expect(TextFormat.prometheus.text([family]).hasSuffix("\nlarder_x 1\n"))
    }

    // MARK: Histograms

    @Test(arguments: [Sketch.Scale.latency, .age]) func bucketsAreCumulativeAndEndAtCount(_ scale: Sketch.Scale) throws
    {
        var (dice, sketch) = (SeededGenerator(seed: 7), Sketch(scale))
        var recorded: [Duration] = [.zero, .forever]
        for power in 0..<5_000 {
            recorded.append(.nanoseconds(Int64(dice.next() >> 1) >> Int64(power % 50)))
        }
        for duration in recorded { sketch.record(min(duration, .seconds(100_000_000))) }
        let family = MetricFamily("x", kind: .histogram, unit: .seconds, help: "").with([.init(.distribution(sketch))])
        let numbers = try buckets(TextFormat.prometheus.text([family]))
        #expect(numbers.map(\.limit) == numbers.map(\.limit).sorted() && numbers.last?.limit == .infinity)
        #expect(numbers.map(\.count) == numbers.map(\.count).sorted() && numbers.last?.count == sketch.count)
        for (limit, count) in numbers.dropLast() {
            let exact = recorded.filter { $0.inSeconds <= limit }.count
            let less = recorded.filter { $0.inSeconds <= limit * 0.98 }.count
            #expect(less <= Int(count) && Int(count) <= exact, "\(limit)")
        }
        #expect(TextFormat.prometheus.text([family]).contains("\nlarder_x_seconds_count \(sketch.count)\n"))
    }

    @Test func histogramAddsUpAllRevisions() throws {
        let sketch = #"[0.75, "Ag", "AY"]"#
        let text = try dump(
            .init(name: "feed", revision: "r1", counters: #""loads": 3"#, latency: sketch),
            .init(name: "feed", revision: "r2", counters: #""loads": 3"#, latency: sketch)
        ).openMetrics
        #expect(text.contains("larder_load_duration_seconds_count{resource=\"feed\",outcome=\"live\"} 6\n"))
        #expect(text.contains("larder_load_duration_seconds_sum{resource=\"feed\",outcome=\"live\"} 1.5\n"))
        #expect(text.contains("larder_load_p95_seconds{resource=\"feed\"} 1e-06\n"))
    }
}
