extension MetricsDump {
    /// More than this is no dump.
    package static let mostBytes = 64_000_000

    /// Why a text is no dump. It names a place and what was expected there, and quotes nothing.
    public struct Unreadable: Error, CustomStringConvertible, Sendable {
        /// The reason.
        public let description: String

        package init(_ description: String) {
            self.description = description
        }
    }

    /// A dump as it was written. What is not known to this version is left out; what contradicts itself is refused.
    ///
    /// - Throws: ``Unreadable``.
    public init(reading bytes: [UInt8]) throws(Unreadable) {
        guard bytes.count <= Self.mostBytes else { throw Unreadable("larger than \(Self.mostBytes / 1_000_000) MB") }
        let root: Node
        do {
            root = try JSONParser.parse(SourceText(name: "", bytes: bytes))
        } catch {
            throw Unreadable("no JSON: \(error.message)")
        }
        guard let format = root["format"]?.string else { throw Unreadable("no dump of Larder: it has no 'format'") }
        guard format == Self.format else {
            throw Unreadable(
                format.hasPrefix("larder-metrics/")
                    ? "a dump of another version; this one reads \(Self.format)" : "no dump of Larder")
        }
        self.init(
            host: root["host"]?.string, process: try root.text("process"), instance: try root.text("instance"),
            started: try root.time("started"), written: try root.time("written"))
        if root["number"] != nil { number = Int(clamping: try root.count("number")) }
        if root["unusable"] != nil {
            for node in try root.list("unusable") {
                unusable.append(UnusablePart(resource: node["resource"]?.string, part: try node.text("part")))
            }
        }
        if root["log_lost"] != nil { logLost = Int(clamping: try root.count("log_lost")) }
        for node in try root.list("resources") { resources.append(try ResourceDump(reading: node)) }
    }
}

extension ResourceDump {
    fileprivate init(reading node: Node) throws(MetricsDump.Unreadable) {
        self.init(try node.text("resource"))
        inFlight = Int(clamping: try node.count("in_flight"))
        breaker = node["breaker"]?.string.flatMap { BreakerLevel(rawValue: $0) }
        if let kept = node["store"] {
            func number(_ name: String) throws(MetricsDump.Unreadable) -> Int { Int(clamping: try kept.count(name)) }
            store = StoreStatistics(
                entries: try number("entries"), bytes: try number("bytes"), hits: try number("hits"),
                misses: try number("misses"), evictions: try number("evictions"))
        }
        for inner in try node.list("revisions") {
            var revision = RevisionDump(
                name: try inner.text("revision"), strategy: try inner.text("strategy"),
                isCurrent: inner["current"]?.isTrue ?? false,
                metrics: try ResourceMetrics(reading: try inner.object("total")), periods: [])
            revision.metrics.revision = revision.name
            for window in MetricsDump.Window.allCases {
                guard let node = inner["windows"]?[window.rawValue] else { continue }
                revision.windows[window] = try ResourceMetrics(reading: node)
            }
            for node in try inner.list("periods") { revision.periods.append(try Period(reading: node)) }
            revisions.append(revision)
        }
    }
}

extension ResourceMetrics {
    fileprivate init(reading node: Node) throws(MetricsDump.Unreadable) {
        self.init()
        for member in try node.object("counters").members ?? [] {
            if let counter = Counter(name: member.name) { self[counter] = try member.value.count(named: member.name) }
        }
        for fault in try node.list("faults") {
            guard let kind = Fault.Kind(rawValue: try fault.text("kind")) else { continue }
            let own = Fault(tier: try fault.text("tier"), kind: kind)
            faults[own] = (faults[own] ?? 0).plus(try fault.count("count"))
        }
        for outcome in Outcome.allCases {
            guard let sketch = node["latency"]?[outcome.rawValue] else { continue }
            latency[outcome] = try Sketch(reading: sketch, .latency)
        }
        for freshness in [Freshness.fresh, .stale] {
            guard let sketch = node["ages"]?[freshness.rawValue] else { continue }
            ages[freshness] = try Sketch(reading: sketch, .age)
        }
        originLatency = try Sketch(reading: try node.object("origin_latency"), .latency)
    }
}

extension Period {
    fileprivate init(reading node: Node) throws(MetricsDump.Unreadable) {
        self.init(start: try node.time("start"))
        for member in node.members ?? [] {
            if let counter = Counter(name: member.name) { counts[counter] = try member.value.count(named: member.name) }
        }
        if node["oldest"] != nil { oldest = try node.seconds("oldest") }
    }
}

extension Sketch {
    fileprivate init(reading node: Node, _ scale: Scale) throws(MetricsDump.Unreadable) {
        self.init(scale)
        guard node["scale"]?.string == scale.rawValue else { throw .init("a sketch of another scale") }
        var last = -1
        for bucket in try node.list("buckets") {
            guard case .list(let pair) = bucket.content, pair.count == 2 else { throw .init("no bucket of a sketch") }
            let place = try pair[0].count(named: "a bucket's place")
            guard place < UInt64(Sketch.buckets), Int(place) > last else { throw .init("no place of a bucket") }
            last = Int(place)
            add(try pair[1].count(named: "a bucket"), at: last)
        }
        add(sum: try node.seconds("sum"))
    }
}

extension Node {
    /// Counts of more than this add up to more than 64 bits.
    private static let mostCount = 1e15
    /// More seconds than this are no time.
    private static let mostSeconds = 1e11

    fileprivate func text(_ name: String) throws(MetricsDump.Unreadable) -> String {
        guard let text = self[name]?.string, text.utf8.count <= 4_096 else { throw .init("no text '\(name)'") }
        return text
    }

    fileprivate func object(_ name: String) throws(MetricsDump.Unreadable) -> Node {
        guard let node = self[name], node.members != nil else { throw .init("no object '\(name)'") }
        return node
    }

    fileprivate func list(_ name: String) throws(MetricsDump.Unreadable) -> [Node] {
        guard case .list(let items)? = self[name]?.content else { throw .init("no list '\(name)'") }
        return items
    }

    fileprivate func count(_ name: String) throws(MetricsDump.Unreadable) -> UInt64 {
        guard let node = self[name] else { throw .init("no count '\(name)'") }
        return try node.count(named: name)
    }

    fileprivate func count(named name: String) throws(MetricsDump.Unreadable) -> UInt64 {
        guard case .number(let number, _) = content, number >= 0, number <= Self.mostCount,
            let count = UInt64(exactly: number)
        else { throw .init("no count '\(name.prefix(64))'") }
        return count
    }

    fileprivate func time(_ name: String) throws(MetricsDump.Unreadable) -> Timestamp {
        Timestamp(nanoseconds: 0) + (try seconds(name))
    }

    fileprivate func seconds(_ name: String) throws(MetricsDump.Unreadable) -> Duration {
        guard case .number(let number, _)? = self[name]?.content, abs(number) <= Self.mostSeconds else {
            throw .init("no time '\(name)'")
        }
        return .microseconds(Int64((number * 1e6).rounded()))
    }

    fileprivate var isTrue: Bool { if case .bool(true) = content { true } else { false } }
}
