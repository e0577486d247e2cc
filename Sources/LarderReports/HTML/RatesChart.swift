import LarderSystem
import Larder

/// A chart of rates over time: a line for each rate, with gaps where nothing was counted.
struct RatesChart {
    /// The rates. The last is drawn first, so that the origin's errors lie below the others.
    static let series: [Series] = [
        Series(.fallbackRate, kind: "fallback"), Series(.staleRate, kind: "stale"), Series(.failedRate, kind: "failed"),
        Series(.originErrorRate, kind: "origin"),
    ]
    /// The largest number of points. With more, longer steps are drawn.
    private static let mostPoints = 600
    private static let height = 240.0

    struct Series: Sendable {
        let rate: Rate
        /// The class of its line in the style sheet.
        let kind: String
        var name: String { rate.name }
        var label: String { rate.title }

        init(_ rate: Rate, kind: String) {
            (self.rate, self.kind) = (rate, kind)
        }

        /// The value of the rate; nil if nothing was counted.
        func rate(_ period: FiveMinutes) -> Double? {
            period[rate.whole] == 0 ? nil : period[rate]
        }
    }

    let section: Report.Section
    let id: String
    let periods: [FiveMinutes]
    let step: Duration
    let time: TimeScale
    let share: ShareScale
    private let offline: OfflineStrip?

    /// Creates the chart of a resource for a time, which is the same for all resources; nil if nothing was counted in it.
    init?(_ section: Report.Section, id: String, times: ClosedRange<Timestamp>?) {
        guard let times, !section.periods.isEmpty else { return nil }
        (self.section, self.id) = (section, id)
        step = Self.step(for: times)
        periods = section.periods.gathered(by: step)
        time = TimeScale(times)
        let most = periods.flatMap { period in Self.series.compactMap { $0.rate(period) } }.max() ?? 0
        share = ShareScale(upTo: most)
        offline = OfflineStrip(section, periods: periods, step: step, time: time)
    }

    private static func step(for times: ClosedRange<Timestamp>) -> Duration {
        let length = times.upperBound - times.lowerBound
        let steps: [Duration] = [300, 900, 3_600, 21_600, 86_400].map { .seconds($0) }
        return steps.first { length <= $0 * mostPoints } ?? .seconds(7 * 86_400)
    }

    var markup: Markup {
        let changes = section.revisions.dropFirst().compactMap { revision in
            revision.times.map { (time.place($0.lowerBound), revision.title) }
        }.filter { $0.0 > 0 && $0.0 < 1 }.suffix(3)
        let marks = changes.map { "<path class=\"change\" d=\"M\($0.0 * Chart.width) 0V\(Self.height)\"/>" as Markup }
        let across = Markup(
            share.ticks.map { "M0 \((1 - $0.place) * Self.height)H\(Chart.width)" as Markup }, separator: "")
        return Chart(
            id: id, kind: "rates", title: "Rates over time", summary: summary,
            caption: """
                Shares of loads, and of the origin’s calls that failed, for each \(step.brief). A gap means that nothing \
                was counted. Times are UTC.
                """,
            legend: Self.series.map { series in
                Chart.legend(
                    "\(series.kind)",
                    "\(series.label) <small>\(total(series).shown), at most \(peak(series)?.rate.shown ?? "–")</small>"
                )
            } + (offline.map { [$0.legend] } ?? []), height: Self.height, pixels: 240,
            scale: """
                data-from="\(time.times.lowerBound.inSeconds)" data-to="\(time.times.upperBound.inSeconds)" \
                data-top="\(String(share.top))"
                """,
            drawing: bands + ["<path class=\"grid\" d=\"\(across)\"/>"] + marks + Self.series.reversed().map(drawn),
            across: time.ticks,
            side: share.ticks.map { (1 - $0.place, Markup($0.label)) }, strip: offline?.markup ?? "",
            above: changes.map { Tick(place: $0.0, label: "policy \($0.1)") }, values: values
        ).markup
    }

    /// The times of the incidents. A link to an incident marks its band.
    private var bands: [Markup] {
        section.incidents.enumerated().compactMap { number, incident in
            incident.times.map { times -> Markup in
                let (start, end) = (time.place(times.lowerBound), time.place(times.upperBound))
                return """
                    <rect class="band band-\(number + 1)" x="\(start * Chart.width)" y="0" \
                    width="\((end - start) * Chart.width)" height="\(Self.height)"/>
                    """
            }
        }
    }

    // MARK: Lines

    private func drawn(_ series: Series) -> Markup {
        var runs: [[(moment: Timestamp, rate: Double)]] = []
        var end: Timestamp?
        for period in periods {
            guard let rate = series.rate(period) else { continue }
            if end != period.start { runs.append([]) }
            runs[runs.count - 1].append((period.start + .nanoseconds(step.nanoseconds / 2), rate))
            end = period.start + step
        }
        let points = runs.joined().map { "\($0.moment.inSeconds.coordinate),\($0.rate)" }.joined(separator: " ")
        return """
            <g class="\(series.kind)" data-series="\(series.name)" data-points="\(points)">
            \(Markup(runs.map { drawn($0, isFilled: series.kind == "origin") }))
            </g>
            """
    }

    private func drawn(_ run: [(moment: Timestamp, rate: Double)], isFilled: Bool) -> Markup {
        func x(_ place: Int) -> Double { time.place(run[place].moment) * Chart.width }
        let points = Markup(
            run.indices.map { "\(x($0)),\((1 - share.place(run[$0].rate)) * Self.height)" as Markup }, separator: " ")
        if run.count == 1 { return "<polyline class=\"line dot\" points=\"\(points) \(points)\"/>" }
        let area: Markup =
            isFilled
            ? "<polygon points=\"\(x(0)),\(Self.height) \(points) \(x(run.count - 1)),\(Self.height)\"/>" : ""
        return "\(area)<polyline class=\"line\" points=\"\(points)\"/>"
    }

    // MARK: Words

    private func total(_ series: Series) -> Double { section.total.rate(series.rate.part, of: series.rate.whole) }

    private func peak(_ series: Series) -> (rate: Double, period: FiveMinutes)? {
        periods.compactMap { period in series.rate(period).map { ($0, period) } }.max { $0.0 < $1.0 }
    }

    private var summary: String {
        let lines = Self.series.map { series in
            guard let peak = peak(series) else { return "\(series.label): nothing counted" }
            let when = peak.rate > 0 ? " (\(peak.period.start.weekday) \(peak.period.start.spelled))" : ""
            return "\(series.label): \(total(series).shown) in all, at most \(peak.rate.shown)\(when)"
        }
        return (lines + (offline.map { [$0.summary] } ?? [])).joined(separator: "; ") + "."
    }

    private var values: PageTable {
        var table = PageTable(
            "Rates of \(section.title) over time, each \(step.brief)",
            ["UTC", "loads"] + Self.series.map(\.label) + ["oldest served"] + (offline == nil ? [] : ["offline"]),
            isLong: true)
        for period in periods {
            let id = section.id(of: period.start)
            table.add(
                "<a href=\"#\(id)\">\(period.start.date) \(period.start.time)</a>",
                [period[.loads].grouped] + Self.series.map { $0.rate(period)?.shown ?? "–" } + [period.oldest.aged]
                    + (offline == nil ? [] : [period.offline.shownOffline]),
                id: id)
        }
        return table
    }
}

extension [FiveMinutes] {
    /// The same counts in longer steps.
    fileprivate func gathered(by step: Duration) -> [FiveMinutes] {
        var gathered: [FiveMinutes] = []
        for period in self {
            let start = period.start.nanoseconds / step.nanoseconds * step.nanoseconds
            if gathered.last?.start.nanoseconds != start {
                gathered.append(FiveMinutes(start: Timestamp(nanoseconds: start)))
            }
            gathered[gathered.count - 1].merge(period)
        }
        return gathered
    }
}
