public import Larder

extension Report {
    /// The report as JSON. Times are seconds since 1970, durations seconds.
    public var json: JSON {
        [
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
            "notes": .list(notes.map { .string($0) }), "resources": .list(sections.map(\.json)),
        ]
    }
}

extension Report.Section {
    fileprivate var json: JSON {
        .object(
            [
                .init("resource", .string(name)), .init("findings", .list(findings.map { .string($0) })),
                .init("advice", .list(advice.map { $0.json() })),
            ] + total.figures(prefix: "\(name)_") + [
                .init("in_flight", .int(inFlight)),
                .init(
                    "levels",
                    .object(
                        levelCounts.map { level, counts in
                            JSON.Member(
                                level.name, .object(counts.map { JSON.Member($0.value, .int($0.processes)) }))
                        })),
                .init("store", store.json),
                .init(
                    "faults",
                    .list(
                        total.faults.sorted { $0.key < $1.key }.map { fault, count in
                            [
                                "tier": .string(fault.tier), "kind": .string(fault.kind.rawValue),
                                "count": .int(Int(clamping: count)),
                            ]
                        })),
                .init(
                    "revisions",
                    .list(
                        revisions.map { revision in
                            .object(
                                [
                                    .init("revision", .string(revision.name)),
                                    .init("strategy", .string(revision.strategy)),
                                    .init("current", .bool(revision.isCurrent)),
                                    .init("from", (revision.times?.lowerBound.inSeconds).map { .number($0) } ?? .null),
                                    .init("to", (revision.times?.upperBound.inSeconds).map { .number($0) } ?? .null),
                                ] + revision.metrics.figures(prefix: ""))
                        })),
                .init("comparisons", .list(comparisons.map(\.json))), .init("trend", .list(periods.map(\.figures))),
            ])
    }
}

extension ResourceMetrics {
    /// Rates, percentiles and counters.
    fileprivate func figures(prefix: String) -> [JSON.Member] {
        func seconds(_ duration: Duration?) -> JSON { duration.map { .number($0.inSeconds) } ?? .null }
        func percentiles(_ sketch: Sketch) -> JSON {
            [
                "count": .int(Int(clamping: sketch.count)), "p50": seconds(sketch.percentile(0.5)),
                "p95": seconds(sketch.percentile(0.95)), "p99": seconds(sketch.percentile(0.99)),
            ]
        }
        return Rate.all.map { JSON.Member($0.name, .number(self[$0])) } + [
            .init("\(prefix)load_p50", seconds(load(percentile: 0.5))),
            .init("\(prefix)load_p95", seconds(load(percentile: 0.95))),
            .init("\(prefix)load_p99", seconds(load(percentile: 0.99))),
            .init("origin_p95", seconds(originLatency.percentile(0.95))),
            .init(
                "origin_latency",
                ["answered": percentiles(originAnswerLatency), "failed": percentiles(originFailureLatency)]),
            .init(
                "latency",
                .object(
                    Outcome.allCases.compactMap { outcome in
                        latency[outcome].map { JSON.Member(outcome.rawValue, percentiles($0)) }
                    })),
            .init(
                "ages",
                .object(
                    [Freshness.fresh, .stale].compactMap { freshness in
                        ages[freshness].map { JSON.Member(freshness.rawValue, percentiles($0)) }
                    })),
            .init(
                "counters", .object(counters.map { .init($0.name, .int(Int(clamping: self[$0]))) })),
        ]
    }
}

extension FiveMinutes {
    fileprivate var figures: JSON {
        .object(
            [.init("start", .number(start.inSeconds)), .init("loads", .int(Int(clamping: self[.loads])))]
                + Rate.all.map { .init($0.name, .number(self[$0])) }
                + [
                    .init("oldest", oldest.map { .number($0.inSeconds) } ?? .null),
                    .init("offline", .number(offline.inSeconds)),
                ])
    }
}
