extension MetricsDump {
    /// The content of the text formats: all families that have series. No label holds a key, so that the number of
    /// series depends only on the resources, revisions and tiers.
    ///
    /// Each name occurs once. Dumps of different processes that are added up can have counters and levels of the same name.
    package var families: [Family] {
        var names: Set<String> = []
        return allFamilies.filter { !$0.series.isEmpty && names.insert($0.name).inserted }
    }

    /// All families, including those without series.
    fileprivate var allFamilies: [Family] {
        let totals = resources.map(DumpedResource.init)
        let counters = (Counter.core + pluginCounters).map { counter in
            counter.family.with(revisions { $0.metrics.counts.knows(counter) ? counter.value(in: $0.metrics) : nil })
        }
        let current = Family("policy", .info, help: "The revision of the policy that is in effect")
            .with(revisions { $0.isCurrent ? .count(1) : nil })
        let log = Family("log_lost_lines", .counter, help: "Lines of the log that could not be written")
            .with(logLost.map { [.init(.count(UInt64(clamping: $0)))] } ?? [])
        let unusable = Family("unusable", .gauge, help: "Parts of the cache folder that cannot be used")
            .with(unusable.map { .init(labels: [("resource", $0.resource ?? ""), ("part", $0.part)], .count(1)) })
        let families =
            counters + [Self.faults(totals)] + Self.stores(totals) + Self.gauges(totals) + [current, log, unusable]
        return families + levels.flatMap { Self.gauges(of: $0, totals) } + Self.histograms(totals)
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

    private static func faults(_ resources: [DumpedResource]) -> Family {
        Family("store_faults", .counter, help: "Failures of stores")
            .with(
                resources.flatMap { resource in
                    resource.total.faults.sorted { $0.key < $1.key }.map { fault, count in
                        resource.series(.count(count), [("tier", fault.tier), ("kind", fault.kind.rawValue)])
                    }
                })
    }

    private static func stores(_ resources: [DumpedResource]) -> [Family] {
        let families: [(Family, KeyPath<StoreStatistics, Int>)] = [
            (Family("store_entries", .gauge, help: "Entries that are kept"), \.entries),
            (Family("store", .gauge, .bytes, help: "Size of the kept entries"), \.bytes),
            (Family("store_hits", .counter, help: "Reads of the store that found a copy which may be shown"), \.hits),
            (
                Family(
                    "store_misses", .counter, help: "Reads of the store that found nothing, or a copy that was refused"),
                \.misses
            ),
            (Family("store_evictions", .counter, help: "Entries removed to make room"), \.evictions),
        ]
        return families.map { family, path in
            family.with(resources.map { $0.series(.count(UInt64(clamping: $0.dump.store[keyPath: path]))) })
        }
    }

    private static func gauges(_ resources: [DumpedResource]) -> [Family] {
        let rates = Rate.all.map { rate in
            Family(rate.name, .gauge, help: rate.help).with(resources.map { $0.series(.number($0.total[rate])) })
        }
        let loads = [50, 95, 99].map { percent in
            Family("load_p\(percent)", .gauge, .seconds, help: "Time that \(percent) % of the loads did not exceed")
                .with(
                    resources.compactMap { resource in resource.percentile(percent, of: resource.total.wholeLatency) })
        }
        let origin = Family(
            "origin_p95", .gauge, .seconds, help: "Time that 95 % of the calls to the origin did not exceed"
        )
        .with(resources.compactMap { resource in resource.percentile(95, of: resource.total.originLatency) })
        let inFlight = Family("in_flight", .gauge, help: "Loads that have not ended")
            .with(resources.map { $0.series(.count(UInt64(clamping: $0.dump.inFlight))) })
        return rates + loads + [origin, inFlight]
    }

    private static func gauges(of level: Level, _ resources: [DumpedResource]) -> [Family] {
        zip(level.values.dropFirst(), level.families).map { value, family in
            family.with(
                resources.compactMap { resource in
                    resource.dump.levels[level].map { resource.series(.count($0 == value ? 1 : 0)) }
                })
        }
    }

    private static func histograms(_ resources: [DumpedResource]) -> [Family] {
        [
            Family("load_duration", .histogram, .seconds, help: "Times that callers waited, by outcome of the load")
                .with(
                    resources.flatMap { resource in
                        Outcome.allCases.compactMap {
                            resource.distribution(resource.total.latency[$0], [("outcome", $0.rawValue)])
                        }
                    }),
            Family("origin_duration", .histogram, .seconds, help: "Durations of the calls to the origin")
                .with(resources.compactMap { $0.distribution($0.total.originLatency) }),
            Family("served_age", .histogram, .seconds, help: "Ages of the copies that callers got")
                .with(
                    resources.flatMap { resource in
                        [Freshness.fresh, .stale].compactMap {
                            resource.distribution(resource.total.ages[$0], [("freshness", $0.rawValue)])
                        }
                    }),
        ]
    }
}

/// A resource of a dump, and the sum of the metrics of its revisions.
private struct DumpedResource {
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

extension Family {
    /// The names of the families that do not come from plugins.
    static let coreNames = Set(
        MetricsDump(
            host: nil, process: "", instance: "", started: Timestamp(nanoseconds: 0), written: Timestamp(nanoseconds: 0)
        ).allFamilies.map(\.name))
}

extension Counter {
    /// The counter's family. Its unit is a base unit, which is the suffix of the family's name.
    var family: Family {
        switch unit {
        case .milliseconds: Family(String(name.dropLast("_milliseconds".count)), .counter, .seconds, help: help)
        case .bytes where name.hasPrefix("bytes_"):
            Family(String(name.dropFirst("bytes_".count)), .counter, .bytes, help: help)
        case .bytes: Family(String(name.dropLast("_bytes".count)), .counter, .bytes, help: help)
        case .events: Family(name, .counter, help: help)
        }
    }

    fileprivate func value(in metrics: ResourceMetrics) -> Family.Series.Value {
        unit == .milliseconds ? .duration(.milliseconds(Int64(clamping: metrics[self]))) : .count(metrics[self])
    }
}

extension Level {
    /// The level's families: a gauge for each value except the first.
    var families: [Family] {
        values.dropFirst().map { value in
            let name = name + "_" + String(value.map { $0 == "-" ? "_" : $0 })
            return Family(name, .gauge, help: "\(help): 1 while it is \(value)")
        }
    }
}
