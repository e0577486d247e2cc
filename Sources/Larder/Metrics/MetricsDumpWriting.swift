extension MetricsDump {
    /// What every dump of this make says of itself.
    public static let format = "larder-metrics/1"

    /// The dump as it is written: versioned, and documented in the article about metrics.
    public var json: JSON {
        var members: [JSON.Member] = [.init("format", .string(Self.format))]
        if let host { members.append(.init("host", .string(host))) }
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
        members.append(.init("resources", .list(resources.map(\.json))))
        return .object(members)
    }
}

extension ResourceDump {
    fileprivate var json: JSON {
        let total = total
        return .object([
            .init("resource", .string(name)), .init("fallback_rate", .number(total.fallbackRate)),
            .init("hit_rate", .number(total.hitRate)), .init("stale_rate", .number(total.staleRate)),
            .init("stale_error_rate", .number(total.staleErrorRate)),
            .init("revalidation_error_rate", .number(total.revalidationErrorRate)),
            .init("\(name)_load_p50", total.load(percentile: 0.5).json),
            .init("\(name)_load_p95", total.load(percentile: 0.95).json),
            .init("\(name)_load_p99", total.load(percentile: 0.99).json),
            .init("origin_p95", total.originLatency.percentile(0.95).json), .init("in_flight", .int(inFlight)),
            .init("breaker", breaker.map { .string($0.rawValue) } ?? .null),
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
        .object([
            .init("revision", .string(name)), .init("strategy", .string(strategy)),
            .init("current", .bool(isCurrent)), .init("total", metrics.json),
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
        .object([
            .init(
                "counters", .object(Counter.allCases.map { .init($0.name, .int(Int(clamping: self[$0]))) })),
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
            .init(
                "ages",
                .object(
                    [Freshness.fresh, .stale].compactMap { freshness in
                        ages[freshness].flatMap { $0.count > 0 ? JSON.Member(freshness.rawValue, $0.json) : nil }
                    })),
        ])
    }
}

extension Period {
    fileprivate var json: JSON {
        var members: [JSON.Member] = [.init("start", .number(start.inSeconds))]
        members += Counter.allCases.compactMap { counter in
            counts[counter].map { JSON.Member(counter.name, .int(Int(clamping: $0))) }
        }
        if oldest != nil { members.append(.init("oldest", oldest.json)) }
        return .object(members)
    }
}

extension Sketch {
    /// The buckets that hold something: the place of each on the scale, and how much it holds.
    fileprivate var json: JSON {
        [
            "scale": .string(scale.rawValue), "sum": Optional(sum).json,
            "buckets": .list(zip(places, counts).map { .list([.int(Int($0)), .int(Int(clamping: $1))]) }),
        ]
    }
}

extension Timestamp {
    /// Seconds since 1970, to the microsecond.
    package var inSeconds: Double { Double(nanoseconds / 1_000) / 1_000_000 }
}

extension Duration? {
    /// In seconds, to the microsecond; null for none.
    fileprivate var json: JSON { map { .number(($0.inSeconds * 1_000_000).rounded() / 1_000_000) } ?? .null }
}
