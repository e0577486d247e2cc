public import Larder

extension Report {
    /// The report as JSON. Times are seconds since 1970, durations seconds.
    public var json: JSON {
        .present([
            "format": "larder-report/1", "from": .number(times.lowerBound.inSeconds),
            "to": .number(times.upperBound.inSeconds), "hosts": .list(hosts.map { .string($0) }),
            "installations": .int(installations), "processes": .int(processes), "dumps": .int(dumps),
            "skipped": .list(skipped.map { ["file": .string($0.file), "reason": .string($0.reason)] }),
            "set_apart": .list(
                apart.map {
                    [
                        "file": .string($0.file), "written": .number($0.written.inSeconds),
                        "reason": .string($0.reason),
                    ]
                }),
            "notes": .list(notes.map { .string($0) }), "channels": channels.isEmpty ? nil : .list(channels.map(\.json)),
            "resources": .list(sections.map(\.json)),
        ])
    }
}

extension Report.Section {
    fileprivate var json: JSON {
        .joined(
            [
                "resource": .string(name), "findings": .list(findings.map { .string($0) }),
                "what_if": .list(advice.map { $0.json() }),
            ],
            total.figures(prefix: "\(name)_"), .present(["sync": SyncFigures(self)?.json]),
            [
                "in_flight": .int(inFlight),
                "levels": .each(levelCounts) { level, counts in
                    (level.name, .each(counts) { ($0.value, .int($0.processes)) })
                },
                "gauges": .each(gauges.sorted { $0.key.name < $1.key.name }) { ($0.key.name, .number($0.value)) },
                "store": store.json,
                "faults": .list(
                    total.faults.sorted { $0.key < $1.key }.map { fault, count in
                        [
                            "tier": .string(fault.tier), "kind": .string(fault.kind.rawValue),
                            "count": .int(Int(clamping: count)),
                        ]
                    }),
                "revisions": .list(revisions.map(\.json)), "comparisons": .list(comparisons.map(\.json)),
                "trend": .list(periods.map(\.figures)),
            ])
    }
}

extension Report.Revision {
    fileprivate var json: JSON {
        .joined(
            [
                "revision": .string(name), "strategy": .string(strategy), "current": .bool(isCurrent),
                "from": (times?.lowerBound.inSeconds).map { .number($0) } ?? .null,
                "to": (times?.upperBound.inSeconds).map { .number($0) } ?? .null,
            ],
            metrics.figures(prefix: ""))
    }
}

extension ResourceMetrics {
    /// Rates, percentiles and counters.
    fileprivate func figures(prefix: String) -> JSON {
        func seconds(_ duration: Duration?) -> JSON { duration.map { .number($0.inSeconds) } ?? .null }
        func percentiles(_ sketch: Sketch) -> JSON {
            [
                "count": .int(Int(clamping: sketch.count)), "p50": seconds(sketch.percentile(0.5)),
                "p95": seconds(sketch.percentile(0.95)), "p99": seconds(sketch.percentile(0.99)),
            ]
        }
        return .joined(
            .each(Rate.all) { ($0.name, .number(self[$0])) },
            [
                "\(prefix)load_p50": seconds(load(percentile: 0.5)),
                "\(prefix)load_p95": seconds(load(percentile: 0.95)),
                "\(prefix)load_p99": seconds(load(percentile: 0.99)),
                "origin_p95": seconds(originLatency.percentile(0.95)),
                "origin_latency": [
                    "answered": percentiles(originAnswerLatency), "failed": percentiles(originFailureLatency),
                ],
                "latency": .each(Outcome.allCases) { ($0.rawValue, latency[$0].map(percentiles)) },
                "ages": .each([Freshness.fresh, .stale]) { ($0.rawValue, ages[$0].map(percentiles)) },
                "counters": .each(counters) { ($0.name, .int(Int(clamping: self[$0]))) },
                "timings": .each(timings.sorted { $0.key.name < $1.key.name }) { ($0.key.name, percentiles($0.value)) },
            ])
    }
}

extension FiveMinutes {
    fileprivate var figures: JSON {
        .joined(
            ["start": .number(start.inSeconds), "loads": .int(Int(clamping: self[.loads]))],
            .each(Rate.all) { ($0.name, .number(self[$0])) },
            ["oldest": oldest.map { .number($0.inSeconds) } ?? .null, "offline": .number(offline.inSeconds)])
    }
}
