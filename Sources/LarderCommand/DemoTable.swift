import Larder

/// What a demo day came to: a table, three lines about it, and the same as JSON.
struct DemoTable: Sendable {
    let rows: [DemoDay.Row]

    private static let titles = [
        "resource", "phase", "loads", "hit_rate", "fallback_rate", "stale_rate", "stale_error_rate", "failed", "p50",
        "p95",
    ]

    /// The table, its columns aligned.
    var lines: [String] {
        var cells = [Self.titles]
        for resource in resources { cells += rows.filter { $0.resource == resource }.map(Self.cells) }
        let widths = Self.titles.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            zip(row, widths).enumerated().map { column, cell in
                column < 2 ? cell.0.padded(to: cell.1) : cell.0.aligned(to: cell.1)
            }.joined(separator: "  ")
        }
    }

    private var resources: [String] {
        rows.reduce(into: []) { names, row in if !names.contains(row.resource) { names.append(row.resource) } }
    }

    private static func cells(of row: DemoDay.Row) -> [String] {
        let metrics = row.metrics
        return [
            row.resource, row.phase, "\(metrics.loads)", percent(metrics.hitRate), percent(metrics.fallbackRate),
            percent(metrics.staleRate), percent(metrics.staleErrorRate),
            percent(metrics.loads == 0 ? 0 : Double(metrics.failures) / Double(metrics.loads)),
            time(metrics.load(percentile: 0.5)),
            time(metrics.load(percentile: 0.95)),
        ]
    }

    /// Three lines that say what the table shows, true whatever the policies are.
    var story: [String] {
        let dark = rows.filter { $0.phase == "outage" || $0.phase == "offline" }.map(\.metrics)
        let loads = Self.sum(dark, \.loads)
        let failed = Self.sum(dark, \.failures)
        let refused = Self.sum(dark, \.staleErrors)
        let stoodIn = Self.sum(dark, \.fallbacks)
        let all = rows.map(\.metrics)
        let asked = Self.sum(all, \.originCalls)
        let hits = Self.sum(all, \.hits)
        let slow = rows.filter { $0.phase == "slow hour" }
        let waits = slow.map { "\($0.resource) \(Self.time($0.metrics.load(percentile: 0.95)))" }
        let origin = slow.compactMap { $0.metrics.originLatency.percentile(0.95) }.max()
        return [
            "With the service down or the network gone, \(loads) loads were asked for: \(stoodIn) were answered by a copy "
                + "standing in, \(failed) failed, \(refused) of them because the copy was older than its policy allows.",
            "In the slow hour the origin's p95 was up to \(Self.time(origin)); users felt a p95 of "
                + waits.joined(separator: ", ") + ".",
            "Over the day \(Self.sum(all, \.loads)) loads led to \(asked) calls to the origins; \(hits) were answered by a "
                + "store without any call being waited for.",
        ]
    }

    /// The figures.
    func json(seed: Int) -> JSON {
        [
            "seed": .int(seed),
            "rows": .list(
                rows.map { row in
                    [
                        "resource": .string(row.resource), "phase": .string(row.phase),
                        "loads": .int(Int(row.metrics.loads)), "hit_rate": .number(row.metrics.hitRate),
                        "fallback_rate": .number(row.metrics.fallbackRate),
                        "stale_rate": .number(row.metrics.staleRate),
                        "stale_error_rate": .number(row.metrics.staleErrorRate),
                        "failures": .int(Int(row.metrics.failures)),
                        "p50_ms": Self.milliseconds(row.metrics.load(percentile: 0.5)),
                        "p95_ms": Self.milliseconds(row.metrics.load(percentile: 0.95)),
                        "origin_calls": .int(Int(row.metrics.originCalls)),
                    ]
                }),
        ]
    }

    private static func sum(_ metrics: [ResourceMetrics], _ counter: KeyPath<ResourceMetrics, UInt64>) -> UInt64 {
        metrics.reduce(0) { $0 + $1[keyPath: counter] }
    }

    private static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1_000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }

    private static func time(_ duration: Duration?) -> String {
        guard let duration else { return "–" }
        return duration < .milliseconds(1) ? "< 1 ms" : duration.brief
    }

    private static func milliseconds(_ duration: Duration?) -> JSON {
        duration.map { .number(($0.inSeconds * 1_000_000).rounded() / 1_000) } ?? .null
    }
}
