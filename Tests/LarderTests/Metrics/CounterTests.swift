import LarderFoundation
import Larder
@testable import LarderCore
import LarderSimulation
import Testing

/// Counters of plugins in dumps that others wrote.
@Suite struct CounterTests {
    private static func text(counters: String, declared: String = "", members: String = "") -> [UInt8] {
        Array(
            """
            { "format": "larder-metrics/2", "process": "p", "instance": "i", "started": 0, "written": 1, \(declared)
              "resources": [{ "resource": "feed", "in_flight": 0, \(members)
                "revisions": [{ "revision": "r", "strategy": "s", "current": true, "windows": {},
                  "periods": { "start": 0, "step": 300, "gaps": "",
                    "counters": { "loads": "\(PackedNumbers.text([1]))", "naps": "\(PackedNumbers.text([2]))" } },
                  "total": { "counters": { \(counters) }, "faults": [], "latency": {}, "ages": {},
                    "origin_answer_latency": [0, "", ""] } }] }] }
            """.utf8)
    }

    @Test func coreCountersStandAtTheirIndex() {
        #expect(Counter.core.map(\.index) == Array(0..<Counter.core.count))
        #expect(Set(Counter.core.map(\.name)).count == Counter.core.count)
        #expect(Counter.core.allSatisfy { !$0.help.isEmpty })
    }

    @Test func counterOfACoreNameIsTheCoreCounter() {
        var metrics = ResourceMetrics()
        metrics[Counter("loads", "Mine")] = 3
        #expect(metrics.loads == 3 && metrics.counters == Counter.core)
    }

    @Test func countersOfPluginsAreAddedAndSubtracted() {
        let naps = Counter("naps", "Naps")
        var (one, other) = (ResourceMetrics(counters: [naps]), ResourceMetrics())
        #expect(one.isEmpty && one.counters.contains(naps) && !other.counters.contains(naps))
        one[naps] = 5
        other.merge(one)
        other.merge(one)
        #expect(other[naps] == 10 && other.since(one)[naps] == 5 && one.since(other)[naps] == 0)
        #expect(!one.isEmpty)
    }

    @Test func dumpKeepsCountersThatItDoesNotDeclare() throws {
        let text = Self.text(counters: #""loads": 4, "naps": 3, "retries": 2"#, members: #""breaker": "open","#)
        let plain = try MetricsDump(reading: text)
        #expect(plain.resources[0].total[Counter("naps", "")] == 3 && plain.resources[0].total[.retries] == 2)
        #expect(plain.resources[0].revisions[0].periods[0][Counter("naps", "")] == 2)
        #expect(plain.resources[0].levels == [:])
        #expect(plain.prometheus.contains("# TYPE larder_naps_total counter"))
        #expect(!plain.prometheus.contains("# HELP larder_naps_total"))
        #expect(try MetricsDump(reading: Array(plain.json.text().utf8)).json == plain.json)
    }

    @Test func namesThatNoCounterOrLevelCanHaveAreLeftOut() throws {
        let dump = try MetricsDump(
            reading: Self.text(
                counters:
                    #""bad name": 1, "x\n# EOF": 1, "Naps": 1, "store_hits": 1, "\#(String(repeating: "n", count: 65))": 1"#,
                declared: """
                    "declared": { "counters": { "bad name": "Help", "naps": "\(String(repeating: "x", count: 1_001))" },
                      "levels": { "store": { "help": "H", "values": ["a", "b"] }, "mood": { "help": "H", "values": ["a"] },
                        "vigil": { "help": "H", "values": ["awake", "asleep"] } } },
                    """, members: #""mood": "a", "vigil": "x\n# EOF","#))
        let metrics = dump.resources[0].total
        #expect(metrics.counters == Counter.core && metrics.isEmpty)
        #expect(dump.resources[0].levels == [:])
        #expect(!dump.prometheus.contains("EOF"))
    }

    @Test func namesThatMeetInTheTextFormatsAreLeftOut() throws {
        let dump = try MetricsDump(
            reading: Self.text(
                counters: #""bytes_nap": 1, "nap_bytes": 2, "mood_angry": 3, "good": 6"#,
                declared: """
                    "declared": { "counters": { "nap_bytes": "Help" },
                      "levels": { "mood": { "help": "H", "values": ["calm", "angry"] } } },
                    """, members: #""mood": "angry","#))
        let metrics = dump.resources[0].total
        #expect(metrics.pluginCounters.map(\.name) == ["good", "nap_bytes"] && metrics[Counter("nap_bytes", "")] == 2)
        #expect(dump.resources[0].levels.count == 1)
        #expect(dump.openMetrics.ranges(of: "# TYPE larder_mood_angry ").count == 1)
        #expect(try MetricsDump(reading: Array(dump.json.text().utf8)).json == dump.json)
    }

    @Test func familyOfTwoDumpsThatDoNotGoTogetherIsWrittenOnce() {
        var metrics = ResourceMetrics()
        for name in ["bytes_nap", "nap_bytes"] { metrics[Counter(name, "Help")] = 1 }
        var resource = ResourceDump("feed")
        resource.revisions = [RevisionDump(name: "r", strategy: "s", isCurrent: true, metrics: metrics)]
        let (start, end) = (Timestamp(seconds: 0), Timestamp(seconds: 1))
        let dump = MetricsDump(
            host: nil, process: "p", instance: "i", started: start, written: end, resources: [resource])
        #expect(dump.prometheus.ranges(of: "# TYPE larder_nap_bytes_total ").count == 1)
    }

    @Test func dumpWithTooManyCountersOrLevelsIsRefused() {
        let counters = (0..<1_000).map { "\"naps_\($0)\": 1" }.joined(separator: ",")
        #expect(throws: MetricsDump.Unreadable.self) { try MetricsDump(reading: Self.text(counters: counters)) }
        let declared = (0..<1_000).map { "\"naps_\($0)\": \"Naps\"" }.joined(separator: ",")
        #expect(throws: MetricsDump.Unreadable.self) {
            try MetricsDump(
                reading: Self.text(counters: "", declared: #""declared": { "counters": { \#(declared) } },"#))
        }
        let letters = "abcdefghijk".map(String.init)
        let levels = letters.flatMap { one in letters.map { one + $0 } }.map {
            #""\#($0)": { "help": "H", "values": ["a", "b"] }"#
        }.joined(separator: ",")
        #expect(throws: MetricsDump.Unreadable.self) {
            try MetricsDump(reading: Self.text(counters: "", declared: #""declared": { "levels": { \#(levels) } },"#))
        }
    }

    @Test func countersOfATierAreKnownToo() throws {
        let counter = Counter("naps", "Naps")
        try SimulatedWorld().run { world in
            let folder = try Folder()
            try folder.write(
                """
                { "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first",
                  "store": { "use": "tiered", "tiers": ["memory", "napping"] } }
                """, to: "feed.json")
            var registry = Registry.standard
            try registry.register(
                .store("napping", "Keeps nothing and counts.", counters: [counter]) { context in
                    context.count(counter)
                    return EmptyStore()
                })
            let pantry = try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
            #expect(pantry.resource("feed").metrics[counter] == 1)
            #expect(pantry.resource("feed").metrics(last: .seconds(60)).counters == Counter.core + [counter])
        }
    }
}
