extension MetricsDump {
    /// The maximum size of a dump, in bytes.
    package static let mostBytes = 16_000_000
    /// The maximum of a count. The sum of larger counts could exceed 64 bits.
    static let mostCount: UInt64 = 1_000_000_000_000_000

    /// The maximum number of facts about supplied policies.
    private static let mostFacts = 32

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
    /// A dump declares the metrics of its plugins, so that this process need not have these plugins.
    ///
    /// - Parameter bytes: the text of the dump.
    /// - Throws: ``Unreadable`` if the text is not a valid dump.
    public init(reading bytes: [UInt8]) throws(Unreadable) {
        guard bytes.count <= Self.mostBytes else { throw Unreadable("larger than \(Self.mostBytes / 1_000_000) MB") }
        var list = ResourceList()
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
        for member in (root["supply"]?.members ?? []).prefix(Self.mostFacts) where member.name.utf8.count <= 64 {
            supply[member.name] = member.value.string.map { String($0.prefix(256)) }
        }
        _ = try root.list("resources")
        if !list.isDeclaredBefore {
            // The declarations come after the resources, so they are needed before the second look.
            list = ResourceList(declared: root["declared"])
            root = try list.parse(bytes)
        }
        resources = try list.resources.get()
    }
}

extension ResourceDump {
    private static let mostPatches = 4

    init(reading node: Node, _ known: inout DumpDeclarations) throws(MetricsDump.Unreadable) {
        self.init(try node.text("resource"))
        inFlight = Int(clamping: try node.count("in_flight"))
        for level in known.levels {
            if let value = node[level.name]?.string, level.values.contains(value) { levels[level] = value }
        }
        for member in node[Self.gaugesMember]?.members ?? [] {
            guard case .number(let number, _) = member.value.content else {
                throw .init("a gauge is not a number")
            }
            if let gauge = try known.gauge(named: member.name) { gauges[gauge] = number }
        }
        if let kept = node["store"] {
            func number(_ name: String) throws(MetricsDump.Unreadable) -> Int { Int(clamping: try kept.count(name)) }
            store = StoreStatistics(
                entries: try number("entries"), bytes: try number("bytes"), hits: try number("hits"),
                misses: try number("misses"), evictions: try number("evictions"))
        }
        var patches: [JSON?] = []
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
            if case .list(let names)? = inner["supplied"]?.content {
                revision.supplied = names.prefix(RevisionDump.mostSupplies).compactMap(\.string)
                    .map { String($0.prefix(256)) }
            }
            patches.append(inner["policy_patch"]?.json)
            let names = inner["total"]?["counters"]?.members?.map(\.name) ?? []
            revision.metrics.revision = revision.name
            for window in MetricsDump.Window.allCases {
                guard let node = inner["windows"]?[window.rawValue] else { continue }
                revision.windows[window] = try ResourceMetrics(reading: node, &known, counters: names)
            }
            if let packed = inner["periods"], packed.members != nil {
                revision.periods = try [FiveMinutes](reading: packed, &known, counters: names)
            } else if try !inner.list("periods").isEmpty {
                throw .init("'periods' is not an object of series")
            }
            revisions.append(revision)
        }
        // A patched policy takes as much memory as the one that it is made from.
        guard patches.count(where: { $0 != nil }) <= Self.mostPatches else {
            throw .init("more than \(Self.mostPatches) patched policies")
        }
        var next: JSON?
        for place in revisions.indices.reversed() {
            if let patch = patches[place] { revisions[place].policy = next?.applying(patch) }
            next = revisions[place].policy ?? next
        }
    }
}

extension ResourceMetrics {
    /// - Parameter names: the names of the counters, if there is only a list of their values.
    fileprivate init(
        reading node: Node, _ known: inout DumpDeclarations, counters names: [String] = []
    ) throws(MetricsDump.Unreadable) {
        self.init()
        let counters = try node.counters(names)
        try known.count(counters.count, "numbers", most: ResourceList.mostNumbers)
        for (name, value) in counters {
            guard let counter = try known.counter(named: name) else { continue }
            self[counter] = try value.count(named: name)
        }
        let faults = node["faults"] == nil ? [] : try node.list("faults")
        try known.count(faults.count, "faults", most: ResourceList.mostPeriods)
        for fault in faults {
            guard let kind = StoreFaultKey.Kind(rawValue: try fault.text("kind")) else { continue }
            let own = StoreFaultKey(tier: try fault.text("tier"), kind: kind)
            self.faults[own] = (self.faults[own] ?? 0).plus(try fault.count("count"))
        }
        for outcome in Outcome.allCases {
            guard let sketch = node["latency"]?[outcome.rawValue] else { continue }
            latency[outcome] = try Sketch(reading: sketch, .latency, &known)
        }
        for freshness in [Freshness.fresh, .stale] {
            guard let sketch = node["ages"]?[freshness.rawValue] else { continue }
            ages[freshness] = try Sketch(reading: sketch, .age, &known)
        }
        if let failed = node["origin_failure_latency"] {
            originFailureLatency = try Sketch(reading: failed, .latency, &known)
        }
        guard let answered = node["origin_answer_latency"] else {
            throw .init("'origin_answer_latency' is missing")
        }
        originLatency = try Sketch(reading: answered, .latency, &known)
        originLatency.merge(originFailureLatency)
        for member in node["timings"]?.members ?? [] {
            guard let timing = try known.timing(named: member.name) else { continue }
            timings[timing] = try Sketch(reading: member.value, .latency, &known)
        }
        if let node = node["alternatives"] { alternatives = try WhatIfCounts(reading: node) }
        try checkShares()
    }

    /// Refuses counts that no process can have counted. A load and its outcome are counted together.
    private func checkShares() throws(MetricsDump.Unreadable) {
        for rate in Rate.all where rate != .originErrorRate && self[rate.part] > self[rate.whole] {
            throw .init("'\(rate.part.name)' is larger than '\(rate.whole.name)'")
        }
        let outcomes = Outcome.allCases.reduce(UInt64(0)) { $0.plus(latency[$1]?.count ?? 0) }
        if outcomes > self[.loads] { throw .init("there are more outcomes than 'loads'") }
    }
}

extension WhatIfCounts {
    fileprivate init(reading node: Node) throws(MetricsDump.Unreadable) {
        self.init()
        for (name, path) in Self.distributions {
            if let series = node[name] {
                self[keyPath: path] = try Histogram(self[keyPath: path].scale, reading: series, named: name)
            }
        }
        for (name, path) in Self.totals where node[name] != nil { self[keyPath: path] = try node.count(name) }
    }
}

extension Sketch {
    fileprivate init(
        reading node: Node, _ scale: Scale, _ known: inout DumpDeclarations
    ) throws(MetricsDump.Unreadable) {
        self.init(scale)
        guard case .list(let parts) = node.content, parts.count == 3 else {
            throw .init("a sketch without its three parts")
        }
        let gaps = try parts[1].series(named: "gaps", most: Self.bucketCount)
        let counts = try parts[2].series(named: "counts", most: Self.bucketCount)
        try known.count(counts.count, "numbers", most: ResourceList.mostNumbers)
        guard gaps.count == counts.count else { throw .init("a sketch has more gaps or counts") }
        var next = 0
        for (gap, count) in zip(gaps, counts) {
            guard gap < UInt64(Self.bucketCount - next) else { throw .init("no number of a bucket") }
            next += Int(gap) + 1
            add(count + 1, at: next - 1)
        }
        add(sum: try parts[0].seconds(named: "sum"))
    }
}
