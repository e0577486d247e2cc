import Larder

/// A chart of the distribution of durations: a row of columns for each kind, all over the same axis.
struct DistributionChart {
    /// A row of the chart.
    struct Row {
        var name: String
        var label: String
        var kind: String
        var sketch: Sketch
    }

    private static let rowHeight = 100.0
    private static let baseline = 88.0
    private static let tallest = 72.0
    /// A share that is more than nothing is at least `< 0.1 %`.
    private static let shortest = 2.0

    let section: Report.Section
    let id: String
    let rows: [Row]
    let isAge: Bool
    let scale: DurationScale

    /// The times of loads by outcome, below those of the origin's calls; nil if there were none.
    static func latency(_ section: Report.Section, id: String) -> DistributionChart? {
        let total = section.total
        let rows =
            [Row(name: "origin", label: "origin", kind: "origin", sketch: total.originLatency)]
            + Outcome.allCases.map { outcome in
                let sketch = total.latency[outcome] ?? Sketch()
                return Row(name: outcome.rawValue, label: outcome.rawValue, kind: outcome.rawValue, sketch: sketch)
            }
        return DistributionChart(section, id: id, rows: rows, isAge: false)
    }

    /// The ages of copies that were served; nil if there were none.
    static func ages(_ section: Report.Section, id: String) -> DistributionChart? {
        let rows = [Freshness.fresh, .stale].map { freshness in
            let sketch = section.total.ages[freshness] ?? Sketch(.age)
            return Row(name: freshness.rawValue, label: freshness.rawValue, kind: freshness.rawValue, sketch: sketch)
        }
        return DistributionChart(section, id: id, rows: rows, isAge: true)
    }

    private init?(_ section: Report.Section, id: String, rows: [Row], isAge: Bool) {
        self.rows = rows.filter { $0.sketch.count > 0 }
        guard let most = self.rows.compactMap({ $0.sketch.percentile(1) }).max() else { return nil }
        (self.section, self.id, self.isAge) = (section, id, isAge)
        scale = isAge ? .age(upTo: most) : .latency(upTo: most)
    }

    var markup: Markup {
        let noun = isAge ? "copies" : "loads"
        return Chart(
            id: id, kind: "spread", title: isAge ? "Age of served data" : "Latency by outcome", summary: summary,
            caption: isAge
                ? "How old the copies were that users got. Each row has a height of its own."
                : "How long loads took by how they ended, and the origin’s calls. Each row has a height of its own.",
            legend: [
                Chart.legend("middle", "half within this (p50)"), Chart.legend("most", "95 of 100 within this (p95)"),
            ], height: Double(rows.count) * Self.rowHeight, pixels: rows.count * (isAge ? 80 : 46),
            scale: "data-low=\"\(String(scale.low))\" data-high=\"\(String(scale.high))\"",
            drawing: rows.enumerated().map { drawn($1, top: Double($0) * Self.rowHeight) }, across: scale.ticks,
            side: rows.enumerated().map { number, row in
                let count = row.name == "origin" ? row.sketch.count.grouped : "\(row.sketch.count.grouped) \(noun)"
                return ((Double(number) + 0.6) / Double(rows.count), "\(row.label)<small>\(count)</small>")
            }, values: values
        ).markup
    }

    private func drawn(_ row: Row, top: Double) -> Markup {
        let columns = columns(row.sketch)
        let most = Double(columns.map(\.count).max() ?? 1)
        let base = top + Self.baseline
        let bars = columns.map { column, count -> Markup in
            let left = scale.place(scale.start(of: column)) * Chart.width
            let right = scale.place(scale.start(of: column + 1)) * Chart.width
            let height = max(Self.shortest, Double(count) / most * Self.tallest)
            return """
                <rect x="\(left)" y="\(base - height)" width="\(max(1, right - left))" height="\(height)"/>
                """
        }
        let points = columns.map { "\(scale.start(of: $0.column)),\($0.count)" }.joined(separator: " ")
        let marks = [("middle", 0.5), ("most", 0.95)].compactMap { kind, share -> Markup? in
            guard let value = row.sketch.percentile(share)?.inSeconds else { return nil }
            return """
                <path class="line \(kind)" data-share="\(String(share))" data-value="\(String(value))" \
                d="M\(scale.place(value) * Chart.width) \(top + 8)V\(base)"/>
                """
        }
        return """
            <g class="\(row.kind)" data-series="\(isAge ? "age" : "latency")_\(row.name)" data-points="\(points)">
            \(Markup(bars, separator: ""))<path class="base" d="M0 \(base)H\(Chart.width)"/>\(Markup(marks, separator: ""))
            </g>
            """
    }

    /// The number of samples in each column of the axis.
    private func columns(_ sketch: Sketch) -> [(column: Int, count: UInt64)] {
        var columns: [Int: UInt64] = [:]
        for (range, count) in sketch.contents {
            let (low, high) = (range.lowerBound.inSeconds, range.upperBound.inSeconds)
            columns[scale.column(2 * low * high / (low + high)), default: 0] += count
        }
        return columns.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    // MARK: Words

    private func spelled(_ duration: Duration?) -> String { isAge ? duration.aged : duration.waited }

    private var summary: String {
        rows.map { row in
            let (half, most) = (spelled(row.sketch.percentile(0.5)), spelled(row.sketch.percentile(0.95)))
            return "\(row.label): \(row.sketch.count), half within \(half), 95 of 100 within \(most)"
        }.joined(separator: "; ") + "."
    }

    private var values: PageTable {
        var table = PageTable(
            isAge ? "Age of the copies of \(section.title)" : "Latency of \(section.title)",
            [isAge ? "age up to" : "time up to"] + rows.map(\.label), isLong: true)
        let counts = rows.map { Dictionary(uniqueKeysWithValues: columns($0.sketch).map { ($0.column, $0.count) }) }
        for column in Set(counts.flatMap(\.keys)).sorted() {
            let end = min(scale.high, scale.start(of: column + 1))
            table.add("\(Duration.seconds(end).brief)", counts.map { ($0[column] ?? 0).grouped })
        }
        return table
    }
}
