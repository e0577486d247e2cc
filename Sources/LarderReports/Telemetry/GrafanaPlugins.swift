import Larder

extension GrafanaDashboard {
    /// A panel for each level, gauge and timing, and for the counters of each plugin, separately by unit.
    var pluginPanels: [GrafanaPanel] {
        let levels = registry.distinctLevels.map { level in
            GrafanaPanel(
                level.name.words.capitalizedFirst, about: "\(level.help): the number of processes at each value",
                unit: .count,
                queries: zip(level.values.dropFirst(), level.families).map { value, family in
                    .init(every.gauge("sum", family), value)
                }, isStepped: true)
        }
        let counters = registry.countersByPlugin.flatMap { plugin, counters in
            Counter.Unit.all.compactMap { unit, shown, addition -> GrafanaPanel? in
                let own = counters.filter { $0.unit == unit }
                if own.isEmpty { return nil }
                return GrafanaPanel(
                    "\(plugin.name)\(addition)", about: own.map(\.help).joined(separator: "; "), unit: shown,
                    queries: own.map { .init(every.rate($0), $0.title) })
            }
        }
        let gauges = registry.distinct(\.gauges).map { gauge in
            GrafanaPanel(
                gauge.title.capitalizedFirst, about: gauge.help, unit: gauge.shownUnit,
                queries: [.init(every.gauge(gauge.isLargest ? "max" : "sum", gauge.family), gauge.title)])
        }
        let timings = registry.distinct(\.timings).map { timing in
            GrafanaPanel(
                timing.title.capitalizedFirst, about: timing.help, unit: .seconds,
                queries: [(0.5, "p50"), (0.95, "p95")].map { share, name in
                    .init(every.percentile(share, of: timing.family), name)
                })
        }
        return levels + counters + gauges + timings
    }
}

extension Registry {
    /// The levels that plugins declare, each once, sorted by name.
    var distinctLevels: [Level] {
        levels.reduce(into: [String: Level]()) { $0[$1.name] = $0[$1.name]?.united(with: $1) ?? $1 }.values
            .sorted { $0.name < $1.name }
    }

    /// The plugins that declare counters. A counter belongs to the first plugin that declares it.
    var countersByPlugin: [(plugin: Plugin, counters: [Counter])] {
        var known: Set<Counter> = []
        return kinds.flatMap { self[$0] }.compactMap { plugin in
            let counters = plugin.counters.filter { known.insert($0).inserted }
            return counters.isEmpty ? nil : (plugin, counters)
        }
    }

    /// The metrics of one kind that plugins declare, each once, sorted by name.
    fileprivate func distinct<Metric: NamedMetric>(_ metrics: (PluginMetrics) -> [Metric]) -> [Metric] {
        Set(kinds.flatMap { self[$0] }.flatMap { metrics($0.metrics) }).sorted { $0.name < $1.name }
    }
}

extension Gauge {
    fileprivate var shownUnit: GrafanaPanel.Unit {
        switch unit {
        case .seconds: .seconds
        case .bytes: .bytes
        case nil: .count
        }
    }
}

extension Counter.Unit {
    /// The units, how charts show their increases, and what they add to a title.
    fileprivate static let all: [(unit: Counter.Unit, shown: GrafanaPanel.Unit, addition: String)] = [
        (.events, .perSecond, ""), (.milliseconds, .share, ", share of time"), (.bytes, .bytesPerSecond, ", bytes"),
    ]
}
