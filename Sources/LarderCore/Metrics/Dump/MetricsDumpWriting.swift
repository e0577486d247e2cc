import LarderSystem

extension MetricsDump {
    /// The name and version of the format, which every dump contains.
    package static let format = "larder-metrics/2"

    /// The dump as JSON. The article about metrics documents the format.
    public var json: JSON {
        .present([
            "format": .string(Self.format), "host": host.map(JSON.string),
            "installation": installation.map(JSON.string), "process": .string(process),
            "instance": .string(instance), "number": .int(number), "started": .number(started.inSeconds),
            "written": .number(written.inSeconds), "unusable": unusable.isEmpty ? nil : .list(unusable.map(\.json)),
            "log_lost": logLost.map(JSON.int),
            "supply": supply.isEmpty ? nil : .each(supply.sorted { $0.key < $1.key }) { ($0.key, .string($0.value)) },
            "declared": declared, "resources": .list(resources.map(\.json)),
        ])
    }

    /// The declarations of the plugins' metrics, for readers without these plugins; nil if there are none.
    private var declared: JSON? {
        func described(_ metrics: [some NamedMetric]) -> JSON? {
            let described = metrics.filter { !$0.help.isEmpty }
            return described.isEmpty ? nil : .each(described) { ($0.name, .string($0.help)) }
        }
        let levels: JSON? =
            levels.isEmpty
            ? nil
            : .each(levels) { level in
                (level.name, ["help": .string(level.help), "values": .list(level.values.map { .string($0) })])
            }
        let declared = JSON.present([
            "counters": described(pluginCounters), "levels": levels, "gauges": described(gauges),
            "timings": described(timings),
        ])
        return declared.members?.isEmpty == false ? declared : nil
    }
}

extension UnusablePart {
    fileprivate var json: JSON { ["resource": resource.map(JSON.string) ?? .null, "part": .string(part)] }
}

extension ResourceDump {
    /// The names of the members of a resource in a dump that are no levels.
    static let coreMembers = Set((ResourceDump("").json.members ?? []).map(\.name) + [gaugesMember])
    /// The name of the member with the gauges, which only resources with gauges have.
    static let gaugesMember = "gauges"

    fileprivate var json: JSON {
        let total = total
        return .joined(
            ["resource": .string(name)],
            .each(Rate.all) { ($0.name, .number((total[$0] * 10_000).rounded() / 10_000)) },
            [
                "\(name)_load_p50": total.load(percentile: 0.5).json,
                "\(name)_load_p95": total.load(percentile: 0.95).json,
                "\(name)_load_p99": total.load(percentile: 0.99).json,
                "origin_p95": total.originLatency.percentile(0.95).json, "in_flight": .int(inFlight),
            ],
            .each(levels.sorted { $0.key.name < $1.key.name }) { ($0.key.name, .string($0.value)) },
            .present([
                Self.gaugesMember: gauges.isEmpty
                    ? nil : .each(gauges.sorted { $0.key.name < $1.key.name }) { ($0.key.name, .number($0.value)) }
            ]),
            ["store": store.json, "revisions": .list(revisionsJSON)])
    }
}

extension StoreStatistics {
    package var json: JSON {
        [
            "entries": .int(entries), "bytes": .int(bytes), "hits": .int(hits), "misses": .int(misses),
            "evictions": .int(evictions),
        ]
    }
}

extension ResourceDump {
    /// The revisions. A policy is written as a patch of the policy of the next revision that has one, if there is any.
    private var revisionsJSON: [JSON] {
        var next: JSON?
        return revisions.reversed().map { revision in
            let patch = next.flatMap { revision.policy?.patch(from: $0) }
            next = revision.policy ?? next
            return revision.json(policyPatch: patch)
        }.reversed()
    }
}

extension RevisionDump {
    fileprivate func json(policyPatch: JSON?) -> JSON {
        let counters = metrics.shownCounters
        let total = metrics.json(
            counters: .each(counters) { ($0.name, metrics[$0].json) }, hasAlternatives: isCurrent)
        return .present([
            "revision": .string(name), "strategy": .string(strategy), "current": isCurrent ? true : nil,
            "supplied": supplied.isEmpty ? nil : .list(supplied.map { .string($0) }),
            "policy_patch": policyPatch, "policy": policyPatch == nil ? policy : nil, "total": total,
            "windows": windowsJSON(counters), "periods": periods.json(counters: counters),
        ])
    }

    /// The windows in which something was counted; nil if there are none.
    private func windowsJSON(_ counters: [Counter]) -> JSON? {
        let counted = MetricsDump.Window.allCases.filter { windows[$0]?.isEmpty == false }
        if counted.isEmpty { return nil }
        return .each(counted) { window in
            (window.rawValue, windows[window].map { $0.json(counters: $0.values(of: counters)) })
        }
    }
}

extension ResourceMetrics {
    /// The counters that are not zero, and those of plugins: a reader is to know that the policy has them.
    fileprivate var shownCounters: [Counter] { counters.filter { self[$0] > 0 || $0.index == nil } }

    /// The values of the counters of the whole run, as a list. If others are not zero, all values with their names.
    fileprivate func values(of known: [Counter]) -> JSON {
        let own = shownCounters.filter { self[$0] > 0 }
        return Set(own).isSubset(of: known)
            ? .list(known.map { self[$0].json }) : .each(own) { ($0.name, self[$0].json) }
    }

    /// - Parameter hasAlternatives: whether to write the counts of alternatives. Windows and former revisions leave them
    ///   out.
    fileprivate func json(counters: JSON, hasAlternatives: Bool = false) -> JSON {
        let faults = faults.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { fault, count -> JSON in
            [
                "tier": .string(fault.tier), "kind": .string(fault.kind.rawValue), "count": .int(Int(clamping: count)),
            ]
        }
        func json(_ sketch: Sketch?) -> JSON? { sketch.flatMap { $0.count > 0 ? $0.json : nil } }
        return .present([
            "counters": counters, "faults": faults.isEmpty ? nil : .list(faults),
            "latency": .each(Outcome.allCases) { ($0.rawValue, json(latency[$0])) },
            "origin_answer_latency": originAnswerLatency.json, "origin_failure_latency": json(originFailureLatency),
            "ages": .each([Freshness.fresh, .stale]) { ($0.rawValue, json(ages[$0])) },
            "timings": timings.values.contains { $0.count > 0 }
                ? .each(timings.sorted { $0.key.name < $1.key.name }) { ($0.key.name, json($0.value)) } : nil,
            "alternatives": hasAlternatives && !alternatives.isEmpty ? alternatives.json : nil,
        ])
    }
}

extension Sketch {
    /// The sketch as JSON: the sum of the durations, the gaps between the buckets that are not empty, and their counts,
    /// less one.
    fileprivate var json: JSON {
        let gaps = zip(bucketNumbers, [-1] + bucketNumbers.map(Int.init)).map { UInt64(Int($0) - $1 - 1) }
        return [
            Optional(sum).json, .string(PackedNumbers.text(gaps)),
            .string(PackedNumbers.text(counts.map { min($0, MetricsDump.mostCount) - 1 })),
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
