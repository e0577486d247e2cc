import LarderSystem

extension MetricsDump {
    /// The name and version of the format, which every dump contains.
    package static let format = "larder-metrics/2"

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
            [.init("resource", .string(name))]
                + Rate.all.map { JSON.Member($0.name, .number((total[$0] * 10_000).rounded() / 10_000)) } + [
                    .init("\(name)_load_p50", total.load(percentile: 0.5).json),
                    .init("\(name)_load_p95", total.load(percentile: 0.95).json),
                    .init("\(name)_load_p99", total.load(percentile: 0.99).json),
                    .init("origin_p95", total.originLatency.percentile(0.95).json), .init("in_flight", .int(inFlight)),
                ]
                + levels.sorted { $0.key.name < $1.key.name }.map { JSON.Member($0.key.name, .string($0.value)) } + [
                    .init("store", store.json), .init("revisions", .list(revisionsJSON)),
                ])
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
        let policy = policyPatch.map { [JSON.Member("policy_patch", $0)] } ?? policy.map { [.init("policy", $0)] } ?? []
        return .object(
            [
                .init("revision", .string(name)), .init("strategy", .string(strategy)),
            ] + (isCurrent ? [.init("current", true)] : []) + policy + [
                .init(
                    "total",
                    metrics.json(
                        counters: .object(counters.map { .init($0.name, metrics[$0].json) }), hasAlternatives: isCurrent
                    ))
            ] + windowMembers(counters) + [.init("periods", periods.json(counters: counters))])
    }

    /// The windows in which something was counted; nothing if there are none.
    private func windowMembers(_ counters: [Counter]) -> [JSON.Member] {
        let members = MetricsDump.Window.allCases.compactMap { window -> JSON.Member? in
            guard let metrics = windows[window], !metrics.isEmpty else { return nil }
            return .init(window.rawValue, metrics.json(counters: metrics.values(of: counters)))
        }
        return members.isEmpty ? [] : [.init("windows", .object(members))]
    }
}

extension ResourceMetrics {
    /// The counters that are not zero, and those of plugins: a reader is to know that the policy has them.
    fileprivate var shownCounters: [Counter] { counters.filter { self[$0] > 0 || $0.index == nil } }

    /// The values of the counters of the whole run, as a list. If others are not zero, all values with their names.
    fileprivate func values(of known: [Counter]) -> JSON {
        let own = shownCounters.filter { self[$0] > 0 }
        return Set(own).isSubset(of: known)
            ? .list(known.map { self[$0].json }) : .object(own.map { .init($0.name, self[$0].json) })
    }

    /// - Parameter hasAlternatives: whether to write the counts of alternatives. Windows and former revisions leave them
    ///   out.
    fileprivate func json(counters: JSON, hasAlternatives: Bool = false) -> JSON {
        let faults = faults.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { fault, count -> JSON in
            [
                "tier": .string(fault.tier), "kind": .string(fault.kind.rawValue), "count": .int(Int(clamping: count)),
            ]
        }
        return .object(
            [.init("counters", counters)] + (faults.isEmpty ? [] : [.init("faults", .list(faults))]) + [
                .init(
                    "latency",
                    .object(
                        Outcome.allCases.compactMap { outcome in
                            latency[outcome].flatMap { $0.count > 0 ? JSON.Member(outcome.rawValue, $0.json) : nil }
                        })), .init("origin_answer_latency", originAnswerLatency.json),
            ] + (originFailureLatency.count > 0 ? [.init("origin_failure_latency", originFailureLatency.json)] : []) + [
                .init(
                    "ages",
                    .object(
                        [Freshness.fresh, .stale].compactMap { freshness in
                            ages[freshness].flatMap { $0.count > 0 ? JSON.Member(freshness.rawValue, $0.json) : nil }
                        }))
            ]
                + (hasAlternatives && !alternatives.isEmpty ? [.init("alternatives", alternatives.json)] : []))
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
