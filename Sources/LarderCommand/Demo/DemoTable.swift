import Larder
import LarderReports

/// The result of a demo day: two tables, sentences about them, and the same as JSON.
struct DemoTable: Sendable {
    let rows: [DemoDay.Row]

    private static let titles = [
        "resource", "phase", "loads", "hit_rate", "fallback_rate", "stale_rate", "stale_error_rate", "failed",
        "load_p50", "load_p95",
    ]

    /// The table, its columns aligned.
    var lines: [String] {
        var cells = [Self.titles]
        for resource in resources { cells += rows.filter { $0.resource == resource }.map(Self.cells) }
        return Table(cells, left: 2).lines
    }

    /// The loads while the device had no network, by outcome. Empty if the network was not followed.
    var offlineLines: [String] {
        let cells = resources.flatMap { resource in
            rows.filter { $0.resource == resource }.compactMap { row in
                OfflineFigures(row.metrics).map { [row.resource, row.phase] + $0.row { "\($0)" } }
            }
        }
        return cells.isEmpty ? [] : Table([["resource", "phase"] + OfflineFigures.title] + cells, left: 2).lines
    }

    private var resources: [String] {
        rows.reduce(into: []) { names, row in if !names.contains(row.resource) { names.append(row.resource) } }
    }

    private static func cells(of row: DemoDay.Row) -> [String] {
        let metrics = row.metrics
        return [
            row.resource, row.phase, "\(metrics.loads)", metrics[.hitRate].percent, metrics[.fallbackRate].percent,
            metrics[.staleRate].percent, metrics[.staleErrorRate].percent,
            (metrics.loads == 0 ? 0 : Double(metrics[.failures]) / Double(metrics.loads)).percent,
            metrics.load(percentile: 0.5).waited,
            metrics.load(percentile: 0.95).waited,
        ]
    }

    /// Sentences about the tables, which hold for any policies.
    var story: [String] {
        let dark = rows.filter { $0.phase == "outage" || $0.phase == "offline" }.map(\.metrics)
        let loads = Self.sum(dark, \.loads)
        let failed = Self.sum(dark, \.[.failures])
        let refused = Self.sum(dark, \.[.staleErrors])
        let stoodIn = Self.sum(dark, \.[.fallbacks])
        let all = rows.map(\.metrics)
        let asked = Self.sum(all, \.[.originCalls])
        let hits = Self.sum(all, \.[.hits])
        let slow = rows.filter { $0.phase == "slow hour" }
        let waits = slow.map { "\($0.resource) \($0.metrics.load(percentile: 0.95).waited)" }
        let origin = slow.compactMap { $0.metrics.originLatency.percentile(0.95) }.max()
        return [
            "During the outage and the afternoon offline there were \(loads) loads. \(stoodIn) were answered with a copy instead of live data. "
                + "\(failed) failed, \(refused) of them because the copy was older than the policy allows."
        ] + offlineStory + [
            "In the slow hour the origin p95 was up to \(origin.waited). The load p95 was "
                + waits.joined(separator: ", ") + ".",
            "Over the day \(Self.sum(all, \.loads)) loads led to \(asked) calls to the origins. A store answered \(hits) loads "
                + "without waiting for a call.",
        ]
    }

    /// The sentences about the time without a network; none if the network was not followed.
    private var offlineStory: [String] {
        // All resources lose the same network.
        let spells = rows.filter { $0.resource == resources.first }.compactMap { OfflineFigures($0.metrics) }
        guard !spells.isEmpty else { return [] }
        let all = rows.map(\.metrics)
        let time = spells.reduce(Duration.zero) { $0 + $1.time }
        let count = counted(Int(spells.reduce(0) { $0 + $1.spells }), one: "time")
        let loads = rows.compactMap { OfflineFigures($0.metrics)?.total }.reduce(0, +)
        let (live, failed) = (Self.sum(all, \.[.offlineLive]), Self.sum(all, \.[.offlineFailures]))
        return [
            "The device was offline for \(Optional(time).aged), \(count): in the tunnels of the commute, and all "
                + "afternoon. There were \(loads) loads in that time: \(loads - live - failed) were answered with a copy, "
                + "\(live) with live data, and \(failed) failed."
        ]
    }

    /// The tables as JSON.
    func json(seed: Int) -> JSON {
        [
            "seed": .int(seed),
            "rows": .list(
                rows.map { row in
                    .joined(
                        [
                            "resource": .string(row.resource), "phase": .string(row.phase),
                            "loads": .int(Int(row.metrics.loads)), "hit_rate": .number(row.metrics[.hitRate]),
                            "fallback_rate": .number(row.metrics[.fallbackRate]),
                            "stale_rate": .number(row.metrics[.staleRate]),
                            "stale_error_rate": .number(row.metrics[.staleErrorRate]),
                            "failures": .int(Int(row.metrics[.failures])),
                            "load_p50_ms": row.metrics.load(percentile: 0.5).milliseconds,
                            "load_p95_ms": row.metrics.load(percentile: 0.95).milliseconds,
                            "origin_calls": .int(Int(row.metrics[.originCalls])),
                        ],
                        .each(Self.offlineCounters) { ($0.name, .int(Int(clamping: row.metrics[$0]))) })
                }),
        ]
    }

    private static let offlineCounters: [Counter] = [
        .offlineSpells, .offlineTime, .offlineLive, .offlineFresh, .offlineStale, .offlineFallbacks, .offlineFailures,
    ]

    private static func sum(_ metrics: [ResourceMetrics], _ counter: KeyPath<ResourceMetrics, UInt64>) -> UInt64 {
        metrics.reduce(0) { $0 + $1[keyPath: counter] }
    }
}
