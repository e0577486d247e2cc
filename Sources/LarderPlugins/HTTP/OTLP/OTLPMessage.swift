import LarderSystem
import LarderCore

/// The metrics of a dump as a request of the OpenTelemetry protocol, in its JSON form.
///
/// Names and units are chosen so that a collector that translates them for Prometheus gives the names of
/// ``MetricsDump/prometheus``.
struct OTLPMessage {
    /// The buckets of distributions.
    enum Buckets: Sendable {
        /// The buckets of the text formats.
        case fixed
        /// Buckets whose bounds are powers of a base near 1, as fine as the number of buckets allows.
        case exponential
    }

    /// The largest number of buckets of an exponential distribution. It is the usual one of OpenTelemetry's libraries.
    static let mostBuckets = 160
    /// The finest scale of an exponential distribution, whose buckets are 2.2 % wide. The sketches are not more precise.
    static let finestScale = 5

    let dump: MetricsDump
    var attributes: [OTLPAttribute]
    var buckets: Buckets
    /// The number of earlier requests that failed.
    var failures: Int

    var json: JSON {
        let metrics = dump.families.map(json) + [failed]
        return [
            "resourceMetrics": [
                [
                    "resource": ["attributes": .list(process.map(\.json))],
                    "scopeMetrics": [["scope": ["name": "larder"], "metrics": .list(metrics)]],
                ]
            ]
        ]
    }

    /// The attributes of the process. Those of the settings replace others of the same name.
    private var process: [OTLPAttribute] {
        var all = [
            OTLPAttribute(name: "service.name", value: dump.process),
            OTLPAttribute(name: "service.instance.id", value: dump.instance),
        ]
        if let host = dump.host { all.append(OTLPAttribute(name: "host.name", value: host)) }
        return all.filter { own in !attributes.contains { $0.name == own.name } } + attributes
    }

    private var failed: JSON {
        let family: [JSON.Member] = [
            .init("name", "larder_otlp_failed_exports"), .init("description", "Requests with metrics that failed"),
        ]
        return .object(family + [.init("sum", sum([point([], [.init("asInt", .string(String(failures)))])]))])
    }

    // MARK: Metrics

    private func json(_ family: MetricFamily) -> JSON {
        var members: [JSON.Member] = [
            // Labels that carry information have no kind of their own here.
            .init("name", .string(family.name + (family.kind == .info ? "_info" : ""))),
            .init("description", .string(family.help)),
        ]
        if let unit = family.unit { members.append(.init("unit", unit == .bytes ? "By" : "s")) }
        let points = family.series.map { series in
            point(series.labels.map { OTLPAttribute(name: $0.name, value: $0.value) }, numbers(series.value))
        }
        switch family.kind {
        case .counter: members.append(.init("sum", sum(points)))
        case .gauge, .info: members.append(.init("gauge", ["dataPoints": .list(points)]))
        case .histogram:
            let name = buckets == .fixed ? "histogram" : "exponentialHistogram"
            members.append(.init(name, ["aggregationTemporality": 2, "dataPoints": .list(points)]))
        }
        return .object(members)
    }

    private func sum(_ points: [JSON]) -> JSON {
        ["aggregationTemporality": 2, "isMonotonic": true, "dataPoints": .list(points)]
    }

    private func point(_ labels: [OTLPAttribute], _ value: [JSON.Member]) -> JSON {
        let start = max(0, dump.started.nanoseconds)
        // A clock that was set back must not let a series end before it began.
        let end = max(start, dump.written.nanoseconds)
        return .object(
            [
                .init("attributes", .list(labels.map(\.json))), .init("startTimeUnixNano", .string(String(start))),
                .init("timeUnixNano", .string(String(end))),
            ] + value)
    }

    private func numbers(_ value: MetricFamily.Series.Value) -> [JSON.Member] {
        switch value {
        case .count(let count): [.init("asInt", .string(String(Int64(clamping: count))))]
        case .number(let number): [.init("asDouble", .number(number))]
        case .duration(let duration): [.init("asDouble", .number(duration.seconds))]
        case .distribution(let sketch): buckets == .fixed ? fixed(sketch) : exponential(sketch)
        }
    }

    // MARK: Distributions

    private func fixed(_ sketch: Sketch) -> [JSON.Member] {
        let bounds = sketch.histogramBounds
        var below: UInt64 = 0
        let counts = (bounds + [.forever]).map { bound in
            let upTo = sketch.count(upTo: bound)
            defer { below = upTo }
            return upTo - below
        }
        return head(sketch) + [
            .init("bucketCounts", .counts(counts)),
            .init("explicitBounds", .list(bounds.map { .number($0.seconds) })),
        ]
    }

    private func exponential(_ sketch: Sketch) -> [JSON.Member] {
        // The first bucket of a sketch begins at zero, which has no logarithm.
        let first = sketch.contents.first { $0.range.lowerBound <= .zero }
        let rest = sketch.contents.filter { $0.range.lowerBound > .zero }
        var numbers = rest.map { Self.bucket(of: $0.range) }
        var scale = Self.finestScale
        while let low = numbers.first, let high = numbers.last, high - low >= Self.mostBuckets {
            // Each coarser scale joins two buckets.
            scale -= 1
            numbers = numbers.map { $0 >> 1 }
        }
        var members = head(sketch) + [.init("scale", .int(scale))]
        if let first {
            members.append(.init("zeroCount", .string(String(first.count))))
            members.append(.init("zeroThreshold", .number(first.range.upperBound.seconds)))
        }
        guard let low = numbers.first, let high = numbers.last else { return members }
        var counts = [UInt64](repeating: 0, count: high - low + 1)
        for (number, bucket) in zip(numbers, rest) { counts[number - low] += bucket.count }
        return members + [.init("positive", ["offset": .int(low), "bucketCounts": .counts(counts)])]
    }

    /// The bounds of the finest buckets between 1 and 2.
    private static let bounds: [Double] = {
        let base = (0..<finestScale).reduce(2.0) { base, _ in base.squareRoot() }
        var bounds = [1.0]
        for number in 1..<(1 << finestScale) { bounds.append(bounds[number - 1] * base) }
        return bounds
    }()

    /// Returns the number of the finest bucket in which the middle of a range is. A bucket has its upper bound.
    private static func bucket(of range: ClosedRange<Duration>) -> Int {
        let middle = (range.lowerBound.seconds + range.upperBound.seconds) / 2
        let below = bounds.count { $0 < middle.significand }
        return (Int(middle.exponent) << finestScale) + below - 1
    }

    private func head(_ sketch: Sketch) -> [JSON.Member] {
        [
            .init("count", .string(String(sketch.count))),
            .init("sum", .number(max(.zero, sketch.sum).seconds)),
        ]
    }
}

extension OTLPAttribute {
    fileprivate var json: JSON { ["key": .string(name), "value": ["stringValue": .string(value)]] }
}

extension JSON {
    /// Numbers as the protocol's JSON has those of 64 bits: as texts.
    fileprivate static func counts(_ counts: [UInt64]) -> JSON { .list(counts.map { .string(String($0)) }) }
}

extension Duration {
    /// The duration in seconds. It is rounded once.
    fileprivate var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
