extension MetricsDump {
    /// Everything the text formats tell, family by family. Keys stand nowhere: how many series there are depends on
    /// resources, revisions and tiers only.
    package var families: [Family] {
        let totals = resources.map(Told.init)
        let counters = Counter.allCases.map { counter in
            counter.family.with(revisions { counter.value(in: $0.metrics) })
        }
        let current = Family("policy", .info, help: "The revision of the policy that is in effect")
            .with(revisions { $0.isCurrent ? .count(1) : nil })
        let log = Family("log_lost_lines", .counter, help: "Lines of the log that could not be written")
            .with(logLost.map { [.init(.count(UInt64(clamping: $0)))] } ?? [])
        let unusable = Family("unusable", .gauge, help: "Parts of the cache folder that cannot be used")
            .with(unusable.map { .init(labels: [("resource", $0.resource ?? ""), ("part", $0.part)], .count(1)) })
        let families =
            counters + [Self.faults(totals)] + Self.stores(totals) + Self.gauges(totals) + [current, log, unusable]
        return (families + Self.histograms(totals)).filter { !$0.series.isEmpty }
    }

    private func revisions(_ value: (RevisionDump) -> Family.Series.Value?) -> [Family.Series] {
        resources.flatMap { resource in
            resource.revisions.compactMap { revision in
                value(revision).map {
                    .init(
                        labels: [
                            ("resource", resource.name), ("revision", revision.name), ("strategy", revision.strategy),
                        ], $0)
                }
            }
        }
    }

    private static func faults(_ resources: [Told]) -> Family {
        Family("store_faults", .counter, help: "What stores could not do")
            .with(
                resources.flatMap { resource in
                    resource.total.faults.sorted { $0.key < $1.key }.map { fault, count in
                        resource.series(.count(count), [("tier", fault.tier), ("kind", fault.kind.rawValue)])
                    }
                })
    }

    private static func stores(_ resources: [Told]) -> [Family] {
        let families: [(Family, KeyPath<StoreStatistics, Int>)] = [
            (Family("store_entries", .gauge, help: "Entries that are kept"), \.entries),
            (Family("store", .gauge, .bytes, help: "What the kept entries weigh"), \.bytes),
            (Family("store_hits", .counter, help: "Reads of the store that found a copy which may be shown"), \.hits),
            (
                Family(
                    "store_misses", .counter, help: "Reads of the store that found nothing, or a copy that was refused"),
                \.misses
            ),
            (Family("store_evictions", .counter, help: "Entries forgotten to make room"), \.evictions),
        ]
        return families.map { family, path in
            family.with(resources.map { $0.series(.count(UInt64(clamping: $0.dump.store[keyPath: path]))) })
        }
    }

    private static func gauges(_ resources: [Told]) -> [Family] {
        let rates: [(Family, KeyPath<ResourceMetrics, Double>)] = [
            (Family("fallback_rate", .gauge, help: "Loads answered by a stand-in for a call / loads"), \.fallbackRate),
            (Family("hit_rate", .gauge, help: "Loads answered by a store / loads"), \.hitRate),
            (Family("stale_rate", .gauge, help: "Loads answered with a stale entry / loads"), \.staleRate),
            (
                Family("stale_error_rate", .gauge, help: "Loads that failed although there was a copy / loads"),
                \.staleErrorRate
            ),
            (
                Family("revalidation_error_rate", .gauge, help: "Failed background refreshes / background refreshes"),
                \.revalidationErrorRate
            ),
        ]
        let loads = [50, 95, 99].map { percent in
            Family("load_p\(percent)", .gauge, .seconds, help: "What \(percent) % of loads took at most")
                .with(
                    resources.compactMap { resource in resource.percentile(percent, of: resource.total.wholeLatency) })
        }
        let origin = Family("origin_p95", .gauge, .seconds, help: "What 95 % of the origin's calls took at most")
            .with(resources.compactMap { resource in resource.percentile(95, of: resource.total.originLatency) })
        let inFlight = Family("in_flight", .gauge, help: "Loads that have not ended")
            .with(resources.map { $0.series(.count(UInt64(clamping: $0.dump.inFlight))) })
        let breaker = Family("breaker_open", .gauge, help: "Whether a breaker lets no call through")
            .with(
                resources.filter { $0.dump.breaker != nil }.map { $0.series(.count($0.dump.breaker == .open ? 1 : 0)) })
        return rates.map { family, path in family.with(resources.map { $0.series(.number($0.total[keyPath: path])) }) }
            + loads + [origin, inFlight, breaker]
    }

    private static func histograms(_ resources: [Told]) -> [Family] {
        [
            Family("load_duration", .histogram, .seconds, help: "How long callers waited, by how the load ended")
                .with(
                    resources.flatMap { resource in
                        Outcome.allCases.compactMap {
                            resource.distribution(resource.total.latency[$0], [("outcome", $0.rawValue)])
                        }
                    }),
            Family("origin_duration", .histogram, .seconds, help: "How long the origin's calls took")
                .with(resources.compactMap { $0.distribution($0.total.originLatency) }),
            Family("served_age", .histogram, .seconds, help: "How old the copies were that callers got")
                .with(
                    resources.flatMap { resource in
                        [Freshness.fresh, .stale].compactMap {
                            resource.distribution(resource.total.ages[$0], [("freshness", $0.rawValue)])
                        }
                    }),
        ]
    }
}

/// A resource, and what was counted under all its revisions.
private struct Told {
    let dump: ResourceDump
    let total: ResourceMetrics

    init(_ dump: ResourceDump) {
        self.dump = dump
        total = dump.total
    }

    func series(_ value: Family.Series.Value, _ labels: [Family.Label] = []) -> Family.Series {
        Family.Series(labels: [("resource", dump.name)] + labels, value)
    }

    func percentile(_ percent: Int, of sketch: Sketch) -> Family.Series? {
        sketch.percentile(Double(percent) / 100).map { series(.duration($0)) }
    }

    func distribution(_ sketch: Sketch?, _ labels: [Family.Label] = []) -> Family.Series? {
        sketch.flatMap { $0.count > 0 ? series(.distribution($0), labels) : nil }
    }
}

extension Counter {
    /// How the counter is told: in base units, which end its name.
    fileprivate var family: Family {
        switch self {
        case .breakerOpenMilliseconds:
            Family("breaker_open", .counter, .seconds, help: "How long breakers were open, counted when they close")
        case .bytesIn: Family("in", .counter, .bytes, help: help)
        case .bytesOut: Family("out", .counter, .bytes, help: help)
        default: Family(name, .counter, help: help)
        }
    }

    fileprivate func value(in metrics: ResourceMetrics) -> Family.Series.Value {
        self == .breakerOpenMilliseconds
            ? .duration(.milliseconds(Int64(clamping: metrics[self]))) : .count(metrics[self])
    }
}
