import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderCore

/// The contents, reading and merging of dumps, including hostile ones.
@Suite struct MetricsDumpTests {
    private static let canary = "canary-91c2"
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#

    private static func lived(_ world: SimulatedWorld) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: #"{ "use": "cache-first", "patience": "100ms" }"#, validators: windows)
        simulated.origin.play(
            .value("\"\(canary)\"", after: .milliseconds(50), etag: canary), .failure(.status(503)), .unchanged())
        simulated.store.set(.fails, for: .read)
        _ = try? await simulated.feed.load(["id": canary], scope: canary)
        simulated.store.set(nil, for: .read)
        _ = try await simulated.feed.load(["id": canary], scope: canary)
        try await world.sleep(for: .seconds(600))
        _ = try await simulated.feed.load(["id": canary], scope: canary)
        try await world.sleep(for: .seconds(600))
        _ = try await simulated.feed.load(["id": canary], scope: canary)
        return simulated
    }

    @Test func dumpReadsBackUnchanged() throws {
        try SimulatedWorld().run { world in
            let dump = await (try await Self.lived(world)).pantry.metrics.dump()
            let text = dump.json.text(indented: false)
            #expect(try MetricsDump(reading: Array(text.utf8)).json.text(indented: false) == text)
            #expect(dump.resources.map(\.name) == ["feed"] && dump.resources[0].total.loads == 4)
            let metrics = dump.resources[0].total
            #expect(metrics[.bytesOut] == metrics[.loads] * UInt64(Self.canary.utf8.count + 2))
            #expect(metrics[.bytesIn] == UInt64(Self.canary.utf8.count + 2))
            #expect(metrics[.revalidations] == 2 && metrics[.unchanged] == 1)
            #expect(metrics.faults == [StoreFaultKey(tier: "faulty", kind: .read): 1])
            #expect(metrics.ages[.fresh]?.count == 1 && metrics.ages[.stale]?.count == 1)
        }
    }

    @Test func dumpContainsDocumentedNames() throws {
        try SimulatedWorld().run { world in
            let text = await (try await Self.lived(world)).pantry.metrics.dump().json.text()
            for name in ["fallback_rate", "stale_error_rate", "feed_load_p95", "origin_p95", "hit_rate", "stale_rate"] {
                #expect(text.contains("\"\(name)\""), "\(name)")
            }
            #expect(text.contains("\"format\": \"larder-metrics/2\""))
        }
    }

    @Test func dumpContainsPercentilesOfLoadsAndCalls() throws {
        struct Contents: Decodable {
            var resources: [[String: Percentile]]
        }
        /// A number of seconds; nil for members of other kinds.
        struct Percentile: Decodable {
            var seconds: Double?

            init(from decoder: any Decoder) throws { seconds = try? decoder.singleValueContainer().decode(Double.self) }
        }
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-only""#)
            for number in 1...100 {
                simulated.origin.play(.value("x", after: .milliseconds(10 * number)))
                _ = try await simulated.feed.load()
            }
            let text = await simulated.pantry.metrics.dump().json.text()
            let resource = try #require(JSONDecoder().decode(Contents.self, from: Data(text.utf8)).resources.first)
            let shares = ["feed_load_p50": 0.5, "feed_load_p95": 0.95, "feed_load_p99": 0.99, "origin_p95": 0.95]
            for (name, exact) in shares {
                let seconds = try #require(resource[name]?.seconds)
                #expect(abs(seconds - exact) <= exact * 0.010_001, "\(name)")
            }
        }
    }

    @Test func dumpContainsNoKeyHeaderOrPayload() throws {
        try SimulatedWorld().run { world in
            let dump = await (try await Self.lived(world)).pantry.metrics.dump()
            #expect(!dump.json.text().contains(Self.canary))
            #expect(!dump.prometheus.contains(Self.canary) && !dump.openMetrics.contains(Self.canary))
        }
    }

    @Test func revisionsAreCountedSeparately() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.windows)
            let first = simulated.pantry.policy(of: "feed")?.revision
            for _ in 0..<3 { _ = try await simulated.feed.load() }
            try await simulated.edit("cache-first", "network-only")
            for _ in 0..<2 { _ = try await simulated.feed.load() }
            let revisions = try #require(await simulated.pantry.metrics.dump().resources.first).revisions
            #expect(revisions.map(\.name) == [first, simulated.pantry.policy(of: "feed")?.revision])
            #expect(revisions.map(\.strategy) == ["cache-first", "network-only"])
            #expect(revisions.map(\.isCurrent) == [false, true])
            #expect(revisions.map(\.metrics.loads) == [3, 2] && revisions.map(\.metrics.hits) == [2, 0])
            #expect(simulated.feed.metrics.loads == 5)
            // Back again: counted where it was.
            try await simulated.edit("network-only", "cache-first")
            _ = try await simulated.feed.load()
            let again = try #require(await simulated.pantry.metrics.dump().resources.first).revisions
            #expect(again.map(\.metrics.loads) == [4, 2] && again.map(\.isCurrent) == [true, false])
        }
    }

    @Test func manyRevisionsTakeBoundedMemoryAndLoseNoCount() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.windows)
            for number in 1...40 {
                let old = number == 1 ? "\"5m\"" : "\"\(5 + number - 1)m\""
                try await simulated.edit(old, "\"\(5 + number)m\"")
                _ = try await simulated.feed.load()
            }
            let resource = try #require(await simulated.pantry.metrics.dump().resources.first)
            #expect(resource.revisions.count == 17 && resource.revisions.first?.name == "")
            #expect(resource.total.loads == 40 && simulated.feed.metrics.loads == 40)
            let policies = resource.revisions.map { $0.policy?.text(indented: false) ?? "" }
            #expect(policies.map(\.isEmpty) == Array(repeating: true, count: 14) + [false, false, false])
            #expect(policies[14].contains("\"43m\"") && policies[16].contains("\"45m\""))
        }
    }

    @Test func policyInDumpShowsNamesOfVariablesAndNotTheirValues() throws {
        let policy = """
            { "$schema": "policy.schema.json", "resource": "feed", "about": "News", "origin": "scripted",
              "strategy": { "use": "network-first", "patience": "${PATIENCE}" },
              "store": { "use": "memory", "capacity": "1MB" } }
            """
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(["feed": policy], in: world, environment: ["PATIENCE": "77s"])
            let dump = await simulated.pantry.metrics.dump()
            let shown = try #require(dump.resources.first?.revisions.first?.policy).text(indented: false)
            #expect(shown.contains(#""patience":"${PATIENCE}""#) && !dump.json.text().contains("77s"))
            #expect(!shown.contains("schema"))
        }
    }

    @Test func policyInDumpShowsNoTextThatCouldBeSecret() throws {
        let policy = """
            { "resource": "feed", "strategy": { "use": "network-first", "patience": "800ms" },
              "origin": { "use": "http", "url": "https://api.example/canary-1/{id}", "statuses": [200],
                          "accept": ["canary/7"],
                          "fields": { "Authorization": "Bearer canary-2", "X-Key": "canary", "canary": "x",
                                      "X-Some": "canary-4 ${TOKEN}", "X-Default": "${NONE:-canary5}" } },
              "around": ["breaker", { "use": "retry", "retries": 2, "jitter": "10%" }],
              "store": { "use": "tiered", "tiers": [
                  { "use": "memory", "capacity": "1MB" }, { "use": "file", "directory": "canary" },
                  { "use": "file", "directory": "${FOLDER}" }] },
              "fallbacks": [{ "use": "file", "path": "canary/3.json" }] }
            """
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                ["feed": policy], in: world, files: ["canary/3.json": "3"],
                environment: ["TOKEN": "canary-6", "FOLDER": "canary8"])
            let dump = await simulated.pantry.metrics.dump()
            let shown = try #require(dump.resources.first?.revisions.first?.policy).text(indented: false)
            #expect(!shown.contains("canary"), "\(shown)")
            for part in [
                #""patience":"800ms""#, #""capacity":"1MB""#, #""retries":2"#, #""jitter":"10%""#, #""breaker""#,
                #""use":"http""#, #""statuses":[200]"#, #""url":"…"#, #""fields":"…"#, #""directory":"${FOLDER}""#,
                #"[{"use":"memory""#,
            ] { #expect(shown.contains(part), "\(part) in \(shown)") }
        }
    }

    @Test func hiddenValueInDumpHasDigitsThatChangeWithIt() throws {
        func url(_ url: String, token: String = "one") throws -> String {
            let policy = """
                { "resource": "feed", "strategy": "network-only",
                  "origin": { "use": "http", "url": "\(url)", "fields": { "Authorization": "Bearer ${TOKEN}" } } }
                """
            return try SimulatedWorld().run { world in
                let simulated = try await SimulatedPantry(["feed": policy], in: world, environment: ["TOKEN": token])
                let dump = await simulated.pantry.metrics.dump()
                return try #require(dump.resources.first?.revisions.first?.policy).text(indented: false)
            }
        }
        let first = try url("https://api.example/a")
        #expect(try url("https://api.example/a") == first && url("https://api.example/b") != first)
        // A value from the environment changes nothing.
        #expect(try url("https://api.example/a", token: "two") == first)
    }

    @Test func periodTellsHowLongCallersWaited() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.windows)
            simulated.origin.play(.value("\"a\"", after: .milliseconds(50)), .value("\"b\"", after: .milliseconds(70)))
            _ = try await simulated.feed.load(["id": "1"])
            _ = try await simulated.feed.load(["id": "2"])
            _ = try await simulated.feed.load(["id": "2"])
            let dump = await simulated.pantry.metrics.dump()
            let periods = try #require(dump.resources.first?.revisions.first).periods
            #expect(periods.map(\.waited) == [.milliseconds(120)])
            let read = try MetricsDump(reading: Array(dump.json.text().utf8))
            #expect(read.resources.first?.revisions.first?.periods == periods)
        }
    }

    @Test func refusedPolicyKeepsMeter() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.windows)
            func swap(_ minutes: Int, from: Int) async throws {
                try await simulated.edit("\"\(from)m\"", "\"\(minutes)m\"")
                _ = try await simulated.feed.load()
            }
            for minutes in 6...20 { try await swap(minutes, from: minutes - 1) }
            // The first policy returns, then one that can be composed but is refused together with the others.
            try await swap(5, from: 20)
            let refused = ["feed": try simulated.feed(with: "\"5m\"", "\"99m\""), "_larder": "{"]
            await #expect(throws: PolicyError.self) { try await simulated.pantry.replace(policies: refused) }
            for _ in 0..<10 { _ = try await simulated.feed.load() }
            #expect(simulated.feed.metrics.loads == 26)
            let resource = try #require(await simulated.pantry.metrics.dump().resources.first)
            #expect(resource.revisions.filter(\.isCurrent).map(\.metrics.loads) == [11])
        }
    }

    @Test func excessiveCountsInDumpSaturate() throws {
        func sketch(_ buckets: Int, of count: UInt64 = 999_999_999_999_999) -> String {
            let gaps = PackedNumbers.text(Array(repeating: 0, count: buckets))
            let counts = PackedNumbers.text(Array(repeating: count, count: buckets))
            return #"[1,"\#(gaps)","\#(counts)"]"#
        }
        let fault = #"{"tier":"t","kind":"read","count":1000000000000000}"#
        let faults = repeatElement(fault, count: 2_000).joined(separator: ",")
        let total =
            #"{"counters":{"loads":1000000000000000},"faults":[\#(faults)],"#
            + #""latency":{"live":\#(sketch(1_800, of: 500_000_000_000))},"origin_answer_latency":\#(sketch(2)),"ages":{}}"#
        let revisions = (0..<12).map {
            #"{"revision":"\#($0)","strategy":"s","current":true,"total":\#(total),"windows":{},"periods":[]}"#
        }
        let text =
            #"{"format":"larder-metrics/2","process":"p","instance":"i","started":0,"written":1,"resources":[{"resource":"#
            + #""feed","in_flight":0,"revisions":[\#(revisions.joined(separator: ","))]}]}"#
        let dump = try MetricsDump(reading: Array(text.utf8))
        #expect(dump.prometheus.contains("larder_load_duration_seconds_bucket"))
        #expect(dump.resources[0].total.load(percentile: 1) != nil)
        #expect(dump.resources[0].total.storeFaults["t"] == .max)
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"format":"other/1"}"#, #"{"format":"larder-metrics/3"}"#,
        #"{"format":"larder-metrics/1"}"#,
        #"{"format":"larder-metrics/2"}"#,
        #"{"format":"larder-metrics/2","process":"p","instance":"i","started":0,"written":1e300,"resources":[]}"#,
        #"{"format":"larder-metrics/2","process":"p","instance":"i","started":0,"written":1,"resources":[{}]}"#,
        #"{"format":"larder-metrics/2","process":"p","instance":"i","started":0,"written":1,"resources":{}}"#,
    ])
    func invalidDumpIsRefused(_ text: String) {
        #expect(throws: MetricsDump.Unreadable.self) { try MetricsDump(reading: Array(text.utf8)) }
    }

    @Test func mutilatedDumpDoesNotCrash() throws {
        let bytes = try SimulatedWorld().run { world in
            Array(await (try await Self.lived(world)).pantry.metrics.dump().json.text(indented: false).utf8)
        }
        var dice = SeededGenerator(seed: 4)
        var read = 0
        for _ in 0..<2_000 {
            var broken = bytes
            for _ in 0...dice.roll(3) {
                let place = dice.roll(broken.count)
                switch dice.roll(3) {
                case 0: broken[place] = UInt8(dice.roll(256))
                case 1: broken.remove(at: place)
                default: broken.insert(UInt8(ascii: "9"), at: place)
                }
            }
            if let dump = try? MetricsDump(reading: broken) {
                read += 1
                // A dump that can be read can be used.
                _ = dump.resources.map { $0.total.load(percentile: 0.95) }
            }
        }
        #expect(read < 2_000)
    }
}
