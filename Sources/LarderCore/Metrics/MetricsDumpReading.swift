extension MetricsDump {
    /// The maximum size of a dump, in bytes.
    package static let mostBytes = 16_000_000
    /// The maximum of a count. The sum of larger counts could exceed 64 bits.
    static let mostCount: UInt64 = 1_000_000_000_000_000

    /// The reason why a text cannot be read as a dump. It names the expected element, and quotes no part of the text.
    public struct Unreadable: Error, CustomStringConvertible, Sendable {
        /// The reason.
        public let description: String

        package init(_ description: String) {
            self.description = description
        }
    }

    /// Creates a dump from its text. Elements that this version does not know are ignored.
    ///
    /// A dump declares the counters and levels of its plugins, so that this process need not have these plugins. Dumps
    /// of older versions declare none.
    ///
    /// - Parameters:
    ///   - bytes: the text of the dump.
    ///   - counters: counters of plugins, for dumps that do not declare them.
    ///   - levels: levels of plugins, for dumps that do not declare them.
    /// - Throws: ``Unreadable`` if the text is not a valid dump.
    public init(reading bytes: [UInt8], counters: [Counter] = [], levels: [Level] = []) throws(Unreadable) {
        guard bytes.count <= Self.mostBytes else { throw Unreadable("larger than \(Self.mostBytes / 1_000_000) MB") }
        var list = ResourceList(counters, levels)
        var root = try list.parse(bytes)
        guard let format = root["format"]?.string else { throw Unreadable("not a dump of Larder: 'format' is missing") }
        guard format == Self.format else {
            throw Unreadable(
                format.hasPrefix("larder-metrics/")
                    ? "a dump of another version; this one reads \(Self.format)" : "not a dump of Larder")
        }
        self.init(
            host: root["host"]?.string, process: try root.text("process"), instance: try root.text("instance"),
            started: try root.time("started"), written: try root.time("written"))
        installation = root["installation"]?.string.flatMap { $0.isEmpty || $0.utf8.count > 128 ? nil : $0 }
        if root["number"] != nil { number = Int(clamping: try root.count("number")) }
        if root["unusable"] != nil {
            for node in try root.list("unusable") {
                guard unusable.count < ResourceList.mostResources else {
                    throw Unreadable("more than \(ResourceList.mostResources) unusable parts")
                }
                unusable.append(UnusablePart(resource: node["resource"]?.string, part: try node.text("part")))
            }
        }
        if root["log_lost"] != nil { logLost = Int(clamping: try root.count("log_lost")) }
        _ = try root.list("resources")
        if !list.isDeclaredBefore {
            // The declarations come after the resources, so they are needed before the second look.
            list = ResourceList(counters, levels, declared: root["declared"])
            root = try list.parse(bytes)
        }
        resources = try list.resources.get()
    }
}

extension ResourceDump {
    init(reading node: Node, _ known: inout DumpDeclarations) throws(MetricsDump.Unreadable) {
        self.init(try node.text("resource"))
        inFlight = Int(clamping: try node.count("in_flight"))
        for level in known.levels {
            if let value = node[level.name]?.string, level.values.contains(value) { levels[level] = value }
        }
        if let kept = node["store"] {
            func number(_ name: String) throws(MetricsDump.Unreadable) -> Int { Int(clamping: try kept.count(name)) }
            store = StoreStatistics(
                entries: try number("entries"), bytes: try number("bytes"), hits: try number("hits"),
                misses: try number("misses"), evictions: try number("evictions"))
        }
        for inner in try node.list("revisions") {
            try known.count(1, "revisions", most: ResourceList.mostResources)
            var revision = RevisionDump(
                name: try inner.text("revision"), strategy: try inner.text("strategy"),
                isCurrent: inner["current"]?.isTrue ?? false,
                metrics: try ResourceMetrics(reading: try inner.object("total"), &known))
            if let policy = inner["policy"], policy.members != nil {
                try known.count(policy.valueCount, "values in policies", most: ResourceList.mostValues)
                revision.policy = policy.json
            }
            revision.metrics.revision = revision.name
            for window in MetricsDump.Window.allCases {
                guard let node = inner["windows"]?[window.rawValue] else { continue }
                revision.windows[window] = try ResourceMetrics(reading: node, &known)
            }
            try known.count(try inner.list("periods").count, "periods", most: ResourceList.mostPeriods)
            for node in try inner.list("periods") { revision.periods.append(try Period(reading: node, &known)) }
            revisions.append(revision)
        }
    }
}

extension ResourceMetrics {
    fileprivate init(reading node: Node, _ known: inout DumpDeclarations) throws(MetricsDump.Unreadable) {
        self.init()
        for member in try node.object("counters").members ?? [] {
            guard let counter = try known.counter(named: member.name) else { continue }
            self[counter] = try member.value.count(named: member.name)
        }
        try known.count(try node.list("faults").count, "faults", most: ResourceList.mostPeriods)
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
        if let failed = node["origin_failure_latency"] { originFailureLatency = try Sketch(reading: failed, .latency) }
        if let node = node["alternatives"] { alternatives = try Alternatives(reading: node) }
    }
}

extension Alternatives {
    fileprivate init(reading node: Node) throws(MetricsDump.Unreadable) {
        self.init()
        for (name, path) in Self.distributions where node[name] != nil {
            for member in try node.object(name).members ?? [] {
                // A later version may have other limits.
                _ = self[keyPath: path].add(try member.value.count(named: member.name), named: member.name)
            }
        }
        for (name, path) in Self.totals where node[name] != nil { self[keyPath: path] = try node.count(name) }
    }
}

extension Period {
    fileprivate init(reading node: Node, _ known: inout DumpDeclarations) throws(MetricsDump.Unreadable) {
        self.init(start: try node.time("start"))
        for member in node.members ?? [] where !Self.coreMembers.contains(member.name) {
            guard let counter = try known.counter(named: member.name) else { continue }
            self[counter] = try member.value.count(named: member.name)
        }
        if node["oldest"] != nil { oldest = try node.seconds("oldest") }
        if node["waited"] != nil { waited = max(.zero, try node.seconds("waited")) }
    }
}

extension Sketch {
    fileprivate init(reading node: Node, _ scale: Scale) throws(MetricsDump.Unreadable) {
        self.init(scale)
        guard node["scale"]?.string == scale.rawValue else { throw .init("a sketch of another scale") }
        var last = -1
        for bucket in try node.list("buckets") {
            guard case .list(let pair) = bucket.content, pair.count == 2 else { throw .init("no bucket of a sketch") }
            let number = try pair[0].count(named: "a bucket's number")
            guard number < UInt64(Sketch.bucketCount), Int(number) > last else { throw .init("no number of a bucket") }
            last = Int(number)
            add(try pair[1].count(named: "a bucket"), at: last)
        }
        add(sum: try node.seconds("sum"))
    }
}

extension Node {
    /// The maximum of a time, in seconds.
    private static let mostSeconds = 1e11

    fileprivate func text(_ name: String) throws(MetricsDump.Unreadable) -> String {
        guard let text = self[name]?.string, text.utf8.count <= 4_096 else {
            throw .init("'\(name)' is missing or not a text")
        }
        return text
    }

    fileprivate func object(_ name: String) throws(MetricsDump.Unreadable) -> Node {
        guard let node = self[name], node.members != nil else { throw .init("'\(name)' is missing or not an object") }
        return node
    }

    fileprivate func list(_ name: String) throws(MetricsDump.Unreadable) -> [Node] {
        guard case .list(let items)? = self[name]?.content else { throw .init("'\(name)' is missing or not a list") }
        return items
    }

    fileprivate func count(_ name: String) throws(MetricsDump.Unreadable) -> UInt64 {
        guard let node = self[name] else { throw .init("'\(name)' is missing") }
        return try node.count(named: name)
    }

    fileprivate func count(named name: String) throws(MetricsDump.Unreadable) -> UInt64 {
        guard case .number(let number, _) = content, number >= 0, number <= Double(MetricsDump.mostCount),
            let count = UInt64(exactly: number)
        else { throw .init("'\(name.prefix(64))' is not a whole number") }
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
