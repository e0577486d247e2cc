extension MetricsDump {
    /// The name and version of the format, which every dump contains.
    public static let format = "larder-metrics/1"

    /// The dump as JSON. The article about metrics documents the format.
    public var json: JSON {
        var members: [JSON.Member] = [.init("format", .string(Self.format))]
        if let host { members.append(.init("host", .string(host))) }
        if let installation { members.append(.init("installation", .string(installation))) }
        members += [
            .init("process", .string(process)), .init("instance", .string(instance)), .init("number", .int(number)),
            .init("started", .number(started.inSeconds)), .init("written", .number(written.inSeconds)),
        ]
        if !unusable.isEmpty {
            members.append(
                .init(
                    "unusable",
                    .list(
                        unusable.map {
                            ["resource": $0.resource.map(JSON.string) ?? .null, "part": .string($0.part)]
                        })))
        }
        if let logLost { members.append(.init("log_lost", .int(logLost))) }
        if let declared { members.append(.init("declared", declared)) }
        members.append(.init("resources", .list(resources.map(\.json))))
        return .object(members)
    }

    /// The declarations of the plugins' counters and levels, for readers without these plugins; nil if there are none.
    private var declared: JSON? {
        let counters = pluginCounters.filter { !$0.help.isEmpty }.map { JSON.Member($0.name, .string($0.help)) }
        let levels = levels.map { level in
            JSON.Member(
                level.name,
                ["help": .string(level.help), "values": .list(level.values.map { .string($0) })])
        }
        if counters.isEmpty, levels.isEmpty { return nil }
        return ["counters": .object(counters), "levels": .object(levels)]
    }
}

extension ResourceDump {
    /// The names of the members that every resource has in a dump.
    static let coreMembers: Set<String> = {
        guard case .object(let members) = ResourceDump("").json else { return [] }
        return Set(members.map(\.name))
    }()

    fileprivate var json: JSON {
        let total = total
        return .object(
            [.init("resource", .string(name))] + Rate.all.map { JSON.Member($0.name, .number(total[$0])) } + [
                .init("\(name)_load_p50", total.load(percentile: 0.5).json),
                .init("\(name)_load_p95", total.load(percentile: 0.95).json),
                .init("\(name)_load_p99", total.load(percentile: 0.99).json),
                .init("origin_p95", total.originLatency.percentile(0.95).json), .init("in_flight", .int(inFlight)),
            ]
                + levels.sorted { $0.key.name < $1.key.name }.map { JSON.Member($0.key.name, .string($0.value)) } + [
                    .init(
                        "store",
                        [
                            "entries": .int(store.entries), "bytes": .int(store.bytes), "hits": .int(store.hits),
                            "misses": .int(store.misses), "evictions": .int(store.evictions),
                        ]), .init("revisions", .list(revisions.map(\.json))),
                ])
    }
}

extension RevisionDump {
    fileprivate var json: JSON {
        .object(
            [
                .init("revision", .string(name)), .init("strategy", .string(strategy)),
                .init("current", .bool(isCurrent)),
            ] + (policy.map { [.init("policy", $0)] } ?? []) + [
                .init("total", metrics.json),
                .init(
                    "windows",
                    .object(
                        MetricsDump.Window.allCases.compactMap { window in
                            windows[window].map { JSON.Member(window.rawValue, $0.json) }
                        })), .init("periods", .list(periods.map(\.json))),
            ])
    }
}

extension ResourceMetrics {
    fileprivate var json: JSON {
        .object(
            [
                .init(
                    "counters", .object(counters.map { .init($0.name, self[$0].json) })),
                .init(
                    "faults",
                    .list(
                        faults.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { fault, count in
                            [
                                "tier": .string(fault.tier), "kind": .string(fault.kind.rawValue),
                                "count": .int(Int(clamping: count)),
                            ]
                        })),
                .init(
                    "latency",
                    .object(
                        Outcome.allCases.compactMap { outcome in
                            latency[outcome].flatMap { $0.count > 0 ? JSON.Member(outcome.rawValue, $0.json) : nil }
                        })), .init("origin_latency", originLatency.json),
            ] + (originFailureLatency.count > 0 ? [.init("origin_failure_latency", originFailureLatency.json)] : []) + [
                .init(
                    "ages",
                    .object(
                        [Freshness.fresh, .stale].compactMap { freshness in
                            ages[freshness].flatMap { $0.count > 0 ? JSON.Member(freshness.rawValue, $0.json) : nil }
                        }))
            ] + (alternatives.isEmpty ? [] : [.init("alternatives", alternatives.json)]))
    }
}

extension Period {
    /// The names of the members that every period may have besides its counters.
    static let coreMembers: Set<String> = {
        var period = Period(start: Timestamp(nanoseconds: 0))
        (period.oldest, period.waited) = (.zero, .seconds(1))
        guard case .object(let members) = period.json else { return [] }
        return Set(members.map(\.name))
    }()

    fileprivate var json: JSON {
        var members: [JSON.Member] = [.init("start", .number(start.inSeconds))]
        members += (Counter.core + counts.plugins).compactMap { counter in
            self[counter] == 0 ? nil : JSON.Member(counter.name, self[counter].json)
        }
        if oldest != nil { members.append(.init("oldest", oldest.json)) }
        if waited != nil { members.append(.init("waited", waited.json)) }
        return .object(members)
    }
}

extension Sketch {
    /// The sketch as JSON. Each bucket that is not empty is written as its number on the scale and its count.
    fileprivate var json: JSON {
        [
            "scale": .string(scale.rawValue), "sum": Optional(sum).json,
            "buckets": .list(zip(bucketNumbers, counts).map { .list([.int(Int($0)), .int(Int(clamping: $1))]) }),
        ]
    }
}

extension UInt64 {
    /// A count, or the most that a dump may claim.
    fileprivate var json: JSON { .int(Int(Swift.min(self, MetricsDump.mostCount))) }
}

extension Timestamp {
    /// Seconds since 1970, to the microsecond.
    package var inSeconds: Double { Double(nanoseconds / 1_000) / 1_000_000 }
}

extension Duration? {
    /// The duration in seconds, rounded to microseconds; `null` if there is none.
    fileprivate var json: JSON { map { .number(($0.inSeconds * 1_000_000).rounded() / 1_000_000) } ?? .null }
}
