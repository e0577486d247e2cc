import LarderSystem
import Larder

/// The times without a network, as a strip below a chart over time. The taller a time's bar, the larger its share without
/// a network.
struct OfflineStrip {
    /// A time in which each step had some time without a network.
    struct Band {
        /// A step: the time without a network of all processes together, and their number.
        struct Step {
            var start: Timestamp
            var offline: Duration
            var processes: Int
            var share: Double
        }

        var steps: [Step]
    }

    /// The height in pixels. Those of the bars are whole pixels too.
    private static let height = 16.0
    /// A share that is more than nothing can be seen.
    private static let shortest = 3.0

    let bands: [Band]
    private let figures: OfflineFigures?
    private let total: Duration
    private let step: Duration
    private let time: TimeScale

    /// Creates the strip of a resource; nil if no step had any time without a network.
    ///
    /// - Parameter periods: the counts of each step.
    init?(_ section: Report.Section, periods: [FiveMinutes], step: Duration, time: TimeScale) {
        (self.step, self.time, figures) = (step, time, OfflineFigures(section.total))
        let counts = section.processes.mostInEach(step)
        var bands: [Band] = []
        for period in periods where period.offline > .zero {
            let processes = max(1, counts[period.start] ?? 1)
            let share = min(1, period.offline.inSeconds / (step.inSeconds * Double(processes)))
            let part = Band.Step(start: period.start, offline: period.offline, processes: processes, share: share)
            if let end = bands.last?.steps.last?.start, end + step == period.start {
                bands[bands.count - 1].steps.append(part)
            } else {
                bands.append(Band(steps: [part]))
            }
        }
        if bands.isEmpty { return nil }
        self.bands = bands
        total = bands.reduce(.zero) { $0 + $1.offline }
    }

    var markup: Markup {
        """
        <div class="strip-name" aria-hidden="true">offline</div>
        <svg class="strip" role="group" aria-label="Times without a network" viewBox="0 0 \(Chart.width) \(Self.height)" \
        preserveAspectRatio="none">
        \(Markup(bands.map(drawn)))
        <path class="base" d="M0 \(Self.height)H\(Chart.width)"/>
        </svg>
        """
    }

    /// A band: its extent in a light tone, the share of each step in a dark one, and its words for a pointer or a reader.
    private func drawn(_ band: Band) -> Markup {
        func x(_ moment: Timestamp) -> Double { min(1, max(0, time.place(moment))) * Chart.width }
        let (start, end) = (band.steps.first?.start, band.steps.last.map { $0.start + step })
        let left = start.map(x) ?? 0
        let outline = band.steps.map { part -> Markup in
            let top = Self.height - max(Self.shortest, (part.share * Self.height).rounded())
            return "V\(top)H\(x(part.start + step))"
        }
        let points = band.steps.map { "\($0.start.inSeconds.coordinate),\($0.share)" }.joined(separator: " ")
        return """
            <g role="img" class="spell" data-points="\(points)"><title>\(start.spelled(to: end)): \(band.words(step))</title>
            <rect x="\(left)" y="0" width="\((end.map(x) ?? left) - left)" height="\(Self.height)"/>
            <path d="M\(left) \(Self.height)\(Markup(outline, separator: ""))V\(Self.height)Z"/></g>
            """
    }

    var legend: Markup {
        """
        <li><svg class="strip" aria-hidden="true" width="30" height="10" viewBox="0 0 30 10">\
        <path d="M1 10V6H10V1H20V4H29V10Z"/></svg>offline, share of the time <small>\(words)</small></li>
        """
    }

    /// The times in words, for readers who cannot see the drawing.
    var summary: String { "offline: \(words)" }

    private var words: String {
        figures.map { "\(Optional($0.time).aged), \(counted(Int(clamping: $0.spells), one: "time"))" }
            ?? "\(Optional(total).aged)"
    }
}

extension OfflineStrip.Band {
    var offline: Duration { steps.reduce(.zero) { $0 + $1.offline } }

    /// `offline for 7 min, 35 % of the time`.
    fileprivate func words(_ step: Duration) -> String {
        let whole = step.inSeconds * Double(steps.reduce(0) { $0 + $1.processes })
        let share = min(1, offline.inSeconds / whole).roundPercent
        let processes = steps.map(\.processes).max() ?? 1
        return processes == 1
            ? "offline for \(Optional(offline).aged), \(share) of the time"
            : "\(processes) processes were offline for \(share) of the time, \(Optional(offline).aged) in all"
    }
}

extension [Timestamp: Int] {
    /// The largest number in each step.
    fileprivate func mostInEach(_ step: Duration) -> [Timestamp: Int] {
        reduce(into: [:]) { most, count in
            let start = Timestamp(nanoseconds: count.key.nanoseconds / step.nanoseconds * step.nanoseconds)
            most[start] = Swift.max(most[start] ?? 0, count.value)
        }
    }
}
