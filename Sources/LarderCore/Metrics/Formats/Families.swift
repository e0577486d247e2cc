extension MetricsDump {
    /// The metrics of the dump as families: all that have series. No label holds a key, so that the number of series
    /// depends only on the resources, revisions and tiers. The text formats are made from this list, and so can a sink of
    /// your own be.
    ///
    /// Each name occurs once. Dumps of different processes that are added up can have metrics of plugins of the same name.
    public var families: [MetricFamily] {
        var names: Set<String> = []
        return allFamilies.filter { !$0.series.isEmpty && names.insert($0.name).inserted }
    }

    /// All families, including those without series.
    var allFamilies: [MetricFamily] {
        let totals = resources.map(DumpedResource.init)
        let counters = (Counter.core + pluginCounters).map { counter in
            counter.family.with(revisions { $0.metrics.counts.knows(counter) ? counter.value(in: $0.metrics) : nil })
        }
        let current = MetricFamily.policy.with(revisions { $0.isCurrent ? .count(1) : nil })
        let supplied = MetricFamily.supply.with(supply.isEmpty ? [] : [.init(labels: supplyLabels, .count(1))])
        let log = MetricFamily.logLostLines.with(logLost.map { [.init(.count(UInt64(clamping: $0)))] } ?? [])
        let unusable = MetricFamily.unusable.with(
            unusable.map { .init(labels: [("resource", $0.resource ?? ""), ("part", $0.part)], .count(1)) })
        let families =
            counters + [Self.faults(totals)] + Self.stores(totals) + Self.gauges(totals)
            + [current, supplied, log, unusable]
        let own = gauges.map { gauge in
            gauge.family.with(totals.compactMap { total in total.dump.gauges[gauge].map { total.series(.number($0)) } })
        }
        let timed = timings.map { timing in
            timing.family.with(totals.compactMap { $0.distribution($0.total.timings[timing]) })
        }
        return families + levels.flatMap { Self.gauges(of: $0, totals) } + own + Self.histograms(totals) + timed
    }

    /// The facts whose names can be names of labels.
    private var supplyLabels: [(name: String, value: String)] {
        supply.sorted { $0.key < $1.key }.filter { fact in
            !fact.key.isEmpty && !fact.key.hasPrefix("_")
                && fact.key.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (97...122).contains($0) }
        }.map { ($0.key, $0.value) }
    }

    private func revisions(_ value: (RevisionDump) -> MetricFamily.Series.Value?) -> [MetricFamily.Series] {
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

    private static func faults(_ resources: [DumpedResource]) -> MetricFamily {
        .storeFaults.with(
            resources.flatMap { resource in
                resource.total.faults.sorted { $0.key < $1.key }.map { fault, count in
                    resource.series(.count(count), [("tier", fault.tier), ("kind", fault.kind.rawValue)])
                }
            })
    }

    private static func stores(_ resources: [DumpedResource]) -> [MetricFamily] {
        let families: [(MetricFamily, KeyPath<StoreStatistics, Int>)] = [
            (.storeEntries, \.entries), (.storeBytes, \.bytes), (.storeHits, \.hits), (.storeMisses, \.misses),
            (.storeEvictions, \.evictions),
        ]
        return families.map { family, path in
            family.with(resources.map { $0.series(.count(UInt64(clamping: $0.dump.store[keyPath: path]))) })
        }
    }

    private static func gauges(_ resources: [DumpedResource]) -> [MetricFamily] {
        let rates = Rate.all.map { rate in
            rate.family.with(resources.map { $0.series(.number($0.total[rate])) })
        }
        let loads = [50, 95, 99].map { percent in
            MetricFamily.loadPercentile(percent)
                .with(
                    resources.compactMap { resource in resource.percentile(percent, of: resource.total.wholeLatency) })
        }
        let origin = MetricFamily.originP95
            .with(resources.compactMap { resource in resource.percentile(95, of: resource.total.originLatency) })
        let inFlight = MetricFamily.inFlight
            .with(resources.map { $0.series(.count(UInt64(clamping: $0.dump.inFlight))) })
        return rates + loads + [origin, inFlight]
    }

    private static func gauges(of level: Level, _ resources: [DumpedResource]) -> [MetricFamily] {
        zip(level.values.dropFirst(), level.families).map { value, family in
            family.with(
                resources.compactMap { resource in
                    resource.dump.levels[level].map { resource.series(.count($0 == value ? 1 : 0)) }
                })
        }
    }

    private static func histograms(_ resources: [DumpedResource]) -> [MetricFamily] {
        [
            .loadDuration
                .with(
                    resources.flatMap { resource in
                        Outcome.allCases.compactMap {
                            resource.distribution(resource.total.latency[$0], [("outcome", $0.rawValue)])
                        }
                    }),
            .originDuration
                .with(resources.compactMap { $0.distribution($0.total.originLatency) }),
            .servedAge
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

    func series(_ value: MetricFamily.Series.Value, _ labels: [(name: String, value: String)] = [])
        -> MetricFamily.Series
    {
        MetricFamily.Series(labels: [("resource", dump.name)] + labels, value)
    }

    func percentile(_ percent: Int, of sketch: Sketch) -> MetricFamily.Series? {
        sketch.percentile(Double(percent) / 100).map { series(.duration($0)) }
    }

    func distribution(_ sketch: Sketch?, _ labels: [(name: String, value: String)] = []) -> MetricFamily.Series? {
        sketch.flatMap { $0.count > 0 ? series(.distribution($0), labels) : nil }
    }
}

extension Counter {
    fileprivate func value(in metrics: ResourceMetrics) -> MetricFamily.Series.Value {
        unit == .milliseconds ? .duration(.milliseconds(Int64(clamping: metrics[self]))) : .count(metrics[self])
    }
}
