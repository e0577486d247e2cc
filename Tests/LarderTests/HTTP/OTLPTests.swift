import Foundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderPlugins

/// The section `otlp`: what it sends, and what it does when it cannot.
@Suite struct OTLPTests {
    private static let feed = """
        { "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "memory",
          "validators": [{ "use": "age", "fresh": "1h" }] }
        """
    private static let secret = "s3cret-token"

    private static func run<Value: Sendable>(
        _ transport: ScriptedTransport, _ settings: String = "",
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Value
    ) throws -> Value {
        let section = """
            { "otlp": { "endpoint": "https://collector.example/v1/metrics", "fields": { "Authorization": "${TOKEN}" }
              \(settings.isEmpty ? "" : ", " + settings) } }
            """
        return try SimulatedPantry.run(
            ["feed": feed, "_larder": section], plugins: [.otlp { _ in transport }], environment: ["TOKEN": secret]
        ) { simulated in
            simulated.origin.play(.value("1", after: .milliseconds(300)))
            let value = try await test(simulated)
            await simulated.pantry.close()
            return value
        }
    }

    private static func sleep(_ seconds: Int64, _ simulated: SimulatedPantry) async throws {
        try await simulated.world.sleep(for: .seconds(seconds))
    }

    /// The metrics of a request, by name.
    private static func metrics(_ asked: ScriptedTransport.Asked?) throws -> [String: [String: Any]] {
        let root = try JSONSerialization.jsonObject(with: try #require(asked?.request.body)) as? [String: Any]
        let resource = try #require((root?["resourceMetrics"] as? [[String: Any]])?.first)
        let scope = try #require((resource["scopeMetrics"] as? [[String: Any]])?.first)
        let list = try #require(scope["metrics"] as? [[String: Any]])
        return Dictionary(uniqueKeysWithValues: list.map { ($0["name"] as? String ?? "", $0) })
    }

    private static func point(_ metric: [String: Any]?) throws -> [String: Any] {
        let kinds = ["sum", "gauge", "histogram", "exponentialHistogram"].compactMap { metric?[$0] as? [String: Any] }
        let points = kinds.first?["dataPoints"] as? [[String: Any]]
        return try #require(points?.first)
    }

    @Test func countsSinceTheStartAreSentAtEachInterval() throws {
        let transport = ScriptedTransport(.init(200, [], "{}"))
        try Self.run(transport, #""every": "30s", "attributes": { "service.name": "shop" }"#) { simulated in
            _ = try await simulated.resource.load()
            try await Self.sleep(31, simulated)
            _ = try await simulated.resource.load()
            try await Self.sleep(30, simulated)
            #expect(transport.asked.count == 2)
            #expect(simulated.pantry.attachment(OTLPExporter.self)?.sent == 2)
        }
        let points = try transport.asked.map { try Self.point(Self.metrics($0)["larder_loads"]) }
        #expect(points.map { $0["asInt"] as? String } == ["1", "2", "2"])
        #expect(Set(points.compactMap { $0["startTimeUnixNano"] as? String }).count == 1)
        #expect(Set(points.compactMap { $0["timeUnixNano"] as? String }).count == 3)
        let asked = try #require(transport.asked.first)
        #expect(asked.request.method == "POST" && asked.field("content-type") == "application/json")
        #expect(asked.field("authorization") == Self.secret)
        let text = String(decoding: try #require(asked.request.body), as: UTF8.self)
        #expect(text.contains(#"{"key":"service.name","value":{"stringValue":"shop"}}"#))
        #expect(text.contains("service.instance.id") && !text.contains(Self.secret))
    }

    @Test func familiesKeepTheNamesAndUnitsOfTheTextFormats() throws {
        let transport = ScriptedTransport(.init())
        let families = try Self.run(transport) { simulated in
            _ = try await simulated.resource.load()
            _ = try await simulated.resource.load()
            let dump = await simulated.pantry.metrics.dump()
            return dump.families.map { $0.name + ($0.kind == .info ? "_info" : "") }
        }
        let metrics = try Self.metrics(transport.asked.last)
        #expect(Set(metrics.keys) == Set(families + ["larder_otlp_failed_exports"]))
        #expect(metrics["larder_load_duration_seconds"]?["unit"] as? String == "s")
        #expect(metrics["larder_store_bytes"]?["unit"] as? String == "By")
        #expect((metrics["larder_loads"]?["sum"] as? [String: Any])?["isMonotonic"] as? Bool == true)
        #expect((metrics["larder_loads"]?["sum"] as? [String: Any])?["aggregationTemporality"] as? Int == 2)
    }

    @Test func fixedBucketsHaveTheBoundsOfTheTextFormats() throws {
        let transport = ScriptedTransport(.init())
        try Self.run(transport) { simulated in _ = try await simulated.resource.load() }
        let point = try Self.point(Self.metrics(transport.asked.last)["larder_load_duration_seconds"])
        let bounds = try #require(point["explicitBounds"] as? [Double])
        let counts = try #require(point["bucketCounts"] as? [String])
        #expect(counts.count == bounds.count + 1)
        #expect(bounds == Sketch().histogramBounds.map { Double($0.nanoseconds) / 1e9 })
        // The load took 300 ms.
        #expect(counts.firstIndex(of: "1") == bounds.firstIndex { $0 >= 0.3 })
        #expect(point["count"] as? String == "1" && abs((point["sum"] as? Double ?? 0) - 0.3) < 0.001)
    }

    @Test(arguments: [
        [Duration.milliseconds(300)], [.microseconds(1), .microseconds(900), .seconds(1)], [.seconds(1), .seconds(2)],
        [.microseconds(2), .seconds(100_000)], (1...400).map { .milliseconds(Int64($0) * 7) },
    ])
    func exponentialBucketsContainTheirSamples(_ samples: [Duration]) throws {
        var sketch = Sketch()
        for sample in samples { sketch.record(sample) }
        var metrics = ResourceMetrics()
        metrics.originLatency = sketch
        let dump = MetricsDump(
            host: nil, process: "p", instance: "i", started: Timestamp(seconds: 5), written: Timestamp(seconds: 4),
            resources: [
                {
                    var feed = ResourceDump("feed")
                    feed.revisions = [RevisionDump(name: "r", strategy: "s", isCurrent: true, metrics: metrics)]
                    return feed
                }()
            ])
        let message = OTLPMessage(dump: dump, attributes: [], buckets: .exponential, failures: 0)
        let asked = ScriptedTransport.Asked(
            request: HTTPRequest(url: "", body: Data(message.json.text().utf8)),
            limits: HTTPLimits(connect: .zero, firstByte: .zero, whole: .zero, capacity: 0), trust: HTTPTrust())
        let point = try Self.point(Self.metrics(asked)["larder_origin_duration_seconds"])
        #expect(point["timeUnixNano"] as? String == "5000000000")
        let scale = try #require(point["scale"] as? Int)
        let base = pow(2, pow(2, -Double(scale)))
        let positive = point["positive"] as? [String: Any]
        let counts = (positive?["bucketCounts"] as? [String] ?? []).compactMap(UInt64.init)
        #expect(counts.count <= OTLPMessage.mostBuckets)
        #expect(samples.count > 2 || scale < OTLPMessage.finestScale || counts.count < 40)
        let offset = positive?["offset"] as? Int ?? 0
        let zeros = (point["zeroCount"] as? String).flatMap(UInt64.init) ?? 0
        #expect(counts.reduce(zeros, +) == UInt64(samples.count))
        // The n-th smallest sample is in the n-th place of the buckets, to within the precision of the sketch.
        var bounds = [(0.0, 1.1e-6)].filter { _ in zeros > 0 }.flatMap { Array(repeating: $0, count: Int(zeros)) }
        for (number, count) in counts.enumerated() {
            let bound = (pow(base, Double(offset + number)), pow(base, Double(offset + number + 1)))
            bounds += Array(repeating: bound, count: Int(count))
        }
        for (sample, bound) in zip(samples.sorted(), bounds) {
            let seconds = Double(sample.nanoseconds) / 1e9
            #expect(seconds >= bound.0 * 0.98 && seconds <= bound.1 * 1.02, "\(seconds) \(bound)")
        }
    }

    @Test func failuresAreCountedAndToldOnceUntilTheyEnd() throws {
        let isDown = Locked(true)
        let transport = ScriptedTransport { _ in
            if isDown.withLock({ $0 }) { return .init(503, [], "") }
            return .init(200, [], #"{"partialSuccess":{}}"#)
        }
        let notes = Locked<[String]>([])
        try Self.run(transport, #""every": "10s""#) { simulated in
            let listening = simulated.world.spawn { [decisions = simulated.pantry.decisions] in
                for await decision in decisions where decision.kind == .otlp {
                    notes.withLock { $0.append(decision.note) }
                }
            }
            try await Self.sleep(35, simulated)
            #expect(simulated.pantry.attachment(OTLPExporter.self)?.failures == 3)
            // Loads do not notice.
            #expect(try await simulated.resource.load().source == .origin)
            isDown.withLock { $0 = false }
            try await Self.sleep(20, simulated)
            #expect(simulated.pantry.attachment(OTLPExporter.self)?.failures == 3)
            listening.cancel()
        }
        #expect(
            notes.withLock { $0 } == [
                "the metrics could not be sent: the collector answered with the status 503",
                "the metrics are sent again; requests that failed before: 3",
            ])
        let failed = try Self.point(Self.metrics(transport.asked.last)["larder_otlp_failed_exports"])
        #expect(failed["asInt"] as? String == "3")
    }

    @Test func rejectedNumbersAreAFailure() throws {
        let transport = ScriptedTransport(
            .init(200, [], #"{"partialSuccess":{"rejectedDataPoints":"17","errorMessage":"too many"}}"#))
        try Self.run(transport, #""every": "10s""#) { simulated in
            try await Self.sleep(11, simulated)
            #expect(simulated.pantry.attachment(OTLPExporter.self)?.failures == 1)
        }
        for (text, count) in [
            ("", 0), ("{}", 0), (#"{"rejectedDataPoints" : 3}"#, 3),
            (#"{"rejectedDataPoints":99999999999999999999}"#, .max), (#"{"rejectedDataPoints""#, 0),
        ] {
            #expect(OTLPExporter.rejected(Array(text.utf8)) == count)
        }
    }

    @Test func collectorThatAsksForSilenceGetsIt() throws {
        let transport = ScriptedTransport(.init(429, [("retry-after", "60")]), .init())
        try Self.run(transport, #""every": "10s""#) { simulated in
            try await Self.sleep(65, simulated)
            #expect(transport.asked.count == 1)
            try await Self.sleep(10, simulated)
            #expect(transport.asked.count == 2)
        }
    }

    @Test func lastCountsAreSentWhenThePantryIsClosed() throws {
        let transport = ScriptedTransport(.init())
        try Self.run(transport) { simulated in
            _ = try await simulated.resource.load()
            #expect(transport.asked.isEmpty)
        }
        #expect(transport.asked.count == 1)
        #expect(try Self.point(Self.metrics(transport.asked.last)["larder_loads"])["asInt"] as? String == "1")
    }

    @Test func collectorThatHangsDelaysNoLoadAndNoSecondRequest() throws {
        let hanging = ScriptedTransport { _ in .init(200, [], chunks: [], isOpen: true) }
        try SimulatedPantry.run(
            ["feed": Self.feed, "_larder": #"{ "otlp": { "endpoint": "http://c/v1", "every": "1s" } }"#],
            plugins: [.otlp { _ in hanging }], leaving: .anything
        ) { simulated in
            simulated.origin.play(.value("1"))
            try await Self.sleep(100, simulated)
            #expect(try await simulated.resource.load().source == .origin)
            #expect(hanging.asked.count == 1)
            await simulated.pantry.close()
        }
    }

    @Test(arguments: [
        (#""http://localhost:4318""#, "the URL has no path"), (#""collector""#, "expected a URL such as"),
        ("7", "expected a URL such as"),
    ])
    func endpointMustBeAWholeURL(_ endpoint: String, _ message: String) {
        #expect {
            try SimulatedPantry.run(["feed": Self.feed, "_larder": #"{ "otlp": { "endpoint": \#(endpoint) } }"#]) { _ in
            }
        } throws: { error in
            "\(error)".contains(message)
        }
    }
}
