package import Larder

/// A Grafana dashboard for the metrics of Larder and of the plugins of a registry.
package struct GrafanaDashboard {
    /// A row with panels below it.
    private struct Row {
        var title: String
        /// The variable for each value of which Grafana draws the row.
        var repeats: String?
        var panels: [GrafanaPanel]
    }

    let registry: Registry
    let every = PromQL(
        matchers: #"job=~"$job",instance=~"$instance",resource=~"$resource""#, window: "$window", labels: ["resource"])
    private let process = PromQL(matchers: #"job=~"$job",instance=~"$instance""#, window: "$window", labels: [])

    package init(_ registry: Registry) {
        self.registry = registry
    }

    /// The dashboard, to be imported into Grafana 10 or later.
    package var json: JSON {
        [
            "uid": "larder", "title": "Larder",
            "description": "How often users get something other than live data, and how long they wait",
            "tags": ["larder"], "timezone": "browser", "editable": true, "graphTooltip": 1,
            "schemaVersion": 39, "refresh": "1m", "time": ["from": "now-6h", "to": "now"],
            "templating": ["list": .list(variables)], "annotations": ["list": [revisions]], "panels": .list(panels),
        ]
    }

    private var panels: [JSON] {
        let rows = [
            Row(title: "All resources", repeats: nil, panels: overview),
            Row(title: "$resource", repeats: "resource", panels: resourcePanels + syncPanels + pluginPanels),
            Row(title: "Processes", repeats: nil, panels: processPanels),
        ]
        var (id, y) = (0, 0)
        var list: [JSON] = []
        for row in rows {
            id += 1
            list.append(
                .present([
                    "id": .int(id), "type": "row", "title": .string(row.title), "collapsed": false, "panels": [],
                    "gridPos": ["h": 1, "w": 24, "x": 0, "y": .int(y)], "repeat": row.repeats.map(JSON.string),
                ]))
            y += 1
            let columns = 24 / GrafanaPanel.width
            for (number, panel) in row.panels.enumerated() {
                id += 1
                let x = number % columns * GrafanaPanel.width
                list.append(panel.json(id: id, x: x, y: y + number / columns * GrafanaPanel.height))
            }
            y += (row.panels.count + columns - 1) / columns * GrafanaPanel.height
        }
        return list
    }

    // MARK: Panels

    private var overview: [GrafanaPanel] {
        let rates: [Rate] = [.failedRate, .fallbackRate, .staleErrorRate]
        return [
            GrafanaPanel(
                "Loads", about: Counter.loads.help, unit: .perSecond,
                queries: [.init(every.rate(.loads), "{{resource}}")])
        ]
            + rates.map { rate in
                GrafanaPanel(
                    rate.title.capitalizedFirst, about: rate.help, unit: .share,
                    queries: [.init(every.share(rate), "{{resource}}")])
            } + [
                GrafanaPanel(
                    "Load p95", about: MetricFamily.loadDuration.help, unit: .seconds,
                    queries: [.init(every.percentile(0.95, of: .loadDuration), "{{resource}}")]),
                GrafanaPanel(
                    "Origin p95", about: MetricFamily.originDuration.help, unit: .seconds,
                    queries: [.init(every.percentile(0.95, of: .originDuration), "{{resource}}")]),
            ]
    }

    private var resourcePanels: [GrafanaPanel] {
        let percentiles = [0.5, 0.95, 0.99]
        func percentile(_ share: Double) -> String { "p\(Int((share * 100).rounded()))" }
        let rates = Rate.all.filter { $0.whole == .loads }
        let others = Rate.all.filter { $0.whole != .loads }
        return [
            GrafanaPanel(
                "Rates", about: "Shares of all loads", unit: .share,
                queries: rates.map { .init(every.share($0), $0.title) }),
            GrafanaPanel(
                "Loads by outcome", about: "Loads that ended in a second, by outcome", unit: .perSecond,
                queries: [.init(every.samples(of: .loadDuration, by: ["outcome"]), "{{outcome}}")]),
            GrafanaPanel(
                "Load p95 by outcome", about: MetricFamily.loadDuration.help, unit: .seconds,
                queries: [.init(every.percentile(0.95, of: .loadDuration, by: ["outcome"]), "{{outcome}}")]),
            GrafanaPanel(
                "Load time", about: "Times that callers waited", unit: .seconds,
                queries: percentiles.map { .init(every.percentile($0, of: .loadDuration), percentile($0)) }),
            GrafanaPanel(
                "Origin time", about: MetricFamily.originDuration.help, unit: .seconds,
                queries: percentiles.map { .init(every.percentile($0, of: .originDuration), percentile($0)) }),
            GrafanaPanel(
                "Failures of calls and refreshes", about: "Shares of the calls and of the background refreshes",
                unit: .share,
                queries: others.map { .init(every.share($0), $0.title) }),
            GrafanaPanel(
                "Age of served copies", about: MetricFamily.servedAge.help, unit: .seconds,
                queries: [0.5, 0.95].map {
                    .init(
                        every.percentile($0, of: .servedAge, by: ["freshness"]), "{{freshness}}, \(percentile($0))")
                }),
            counters(
                "Calls", about: "Calls, and what they brought",
                counters: [
                    .originCalls, .originErrors, .revalidations, .unchanged, .refreshes, .refreshErrors, .coalesced,
                ]),
            counters(
                "Other events", about: "Events that are part of no rate",
                counters: Counter.core.filter { counter in
                    counter.unit == .events
                        && ![
                            .loads, .hits, .fallbacks, .stale, .failures, .staleErrors, .originCalls, .originErrors,
                            .revalidations, .unchanged, .refreshes, .refreshErrors, .coalesced,
                        ].contains(counter) && !Self.offline.contains(counter) && !Self.prefetches.contains(counter)
                }),
            counters(
                "Without a network", about: "Losses of the network, and loads without it by outcome",
                counters: Self.offline),
            GrafanaPanel(
                "Without a network, share of time", about: Counter.offlineTime.help, unit: .share,
                queries: [.init(every.rate(.offlineTime), Counter.offlineTime.title)]),
            counters(
                "Prefetched copies", about: "Prefetched copies that were saved, used and wasted",
                counters: Self.prefetches),
            GrafanaPanel(
                "Prefetched bytes", about: "Bytes of prefetched copies in a second", unit: .bytesPerSecond,
                queries: [Counter.prefetchedBytes, .prefetchedUsedBytes, .prefetchedWastedBytes].map {
                    .init(every.rate($0), $0.title)
                }),
            GrafanaPanel(
                "Bytes", about: "Bytes of payload in a second", unit: .bytesPerSecond,
                queries: [Counter.bytesIn, .bytesOut].map { .init(every.rate($0), $0.title) }),
            GrafanaPanel(
                "Store size", about: MetricFamily.storeBytes.help, unit: .bytes,
                queries: [.init(every.gauge("sum", .storeBytes), "bytes")]),
            GrafanaPanel(
                "Store entries and loads in flight", about: "Numbers at the last dump", unit: .count,
                queries: [
                    .init(every.gauge("sum", .storeEntries), "entries"),
                    .init(every.gauge("sum", .inFlight), "loads in flight"),
                ]),
            GrafanaPanel(
                "Store", about: "Reads of the store, and entries removed to make room", unit: .perSecond,
                queries: [
                    .init(every.rate(.storeHits), "hits"), .init(every.rate(.storeMisses), "misses"),
                    .init(every.rate(.storeEvictions), "evictions"),
                ]),
            GrafanaPanel(
                "Store faults", about: MetricFamily.storeFaults.help, unit: .perSecond,
                queries: [.init(every.rate(.storeFaults, by: ["tier", "kind"]), "{{tier}}, {{kind}}")]),
        ]
    }

    private static let offline: [Counter] = [
        .offlineSpells, .offlineLive, .offlineFresh, .offlineStale, .offlineFallbacks, .offlineFailures,
    ]

    private static let prefetches: [Counter] = [.prefetched, .prefetchedUsed, .prefetchedWasted]

    private func counters(_ title: String, about: String, counters: [Counter]) -> GrafanaPanel {
        GrafanaPanel(title, about: about, unit: .perSecond, queries: counters.map { .init(every.rate($0), $0.title) })
    }

    private var processPanels: [GrafanaPanel] {
        [
            GrafanaPanel(
                "Policies in effect", about: "Processes with each revision of a policy", unit: .count,
                queries: [.init(process.gauge("count", .policy, by: ["resource", "revision", "strategy"]), "")],
                kind: .table),
            GrafanaPanel(
                "Parts that cannot be used", about: MetricFamily.unusable.help, unit: .count,
                queries: [.init(process.gauge("sum", .unusable, by: ["resource", "part"]), "{{resource}} {{part}}")],
                isStepped: true),
            GrafanaPanel(
                "Lost lines of the log", about: MetricFamily.logLostLines.help, unit: .perSecond,
                queries: [.init(process.rate(.logLostLines, by: ["instance"]), "{{instance}}")]),
        ]
    }

    // MARK: Variables

    private var variables: [JSON] {
        let loads = Counter.loads.family.sampleName
        func variable(_ name: String, label: String, matchers: String, allValue: JSON? = ".*") -> JSON {
            .present([
                "type": "query", "name": .string(name), "label": .string(label), "datasource": GrafanaPanel.source,
                "query": .string("label_values(\(loads)\(matchers), \(name))"), "refresh": 2, "sort": 1,
                "multi": true, "includeAll": true, "allValue": allValue,
                "current": ["text": "All", "value": "$__all", "selected": true],
            ])
        }
        let windows = ["5m", "15m", "1h", "6h", "1d"]
        return [
            [
                "type": "datasource", "name": "datasource", "label": "Data source", "query": "prometheus",
                "multi": false, "includeAll": false,
            ],
            variable("job", label: "Job", matchers: ""),
            variable("instance", label: "Instance", matchers: #"{job=~"$job"}"#),
            // Rows cannot be repeated for an expression, so that all resources are listed one by one.
            variable(
                "resource", label: "Resource", matchers: #"{job=~"$job",instance=~"$instance"}"#, allValue: nil),
            [
                "type": "interval", "name": "window", "label": "Window",
                "query": .string(windows.joined(separator: ",")),
                "current": ["text": "5m", "value": "5m", "selected": true],
                "options": .list(
                    windows.map { ["text": .string($0), "value": .string($0), "selected": .bool($0 == "5m")] }),
            ],
        ]
    }

    /// A mark wherever a revision of a policy took effect.
    private var revisions: JSON {
        let current = every.gauge("count", .policy, by: ["revision"])
        let earlier = every.gauge("count", .policy, by: ["revision"], before: every.window)
        return [
            "name": "Policies", "enable": true, "iconColor": "purple", "datasource": GrafanaPanel.source,
            "expr": .string("\(current) unless \(earlier)"), "titleFormat": "{{resource}}",
            "textFormat": "revision {{revision}}", "step": "1m",
        ]
    }
}

extension String {
    /// The text with a capital first letter.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

    /// A name in words: `breaker open`.
    var words: String { replacing("_", with: " ") }
}
