import LarderSystem
import LarderFoundation
import Larder

/// A mark on an axis: its position, from 0 to 1, and its label.
struct Tick {
    var place: Double
    var label: String
}

/// A scale of shares, from zero to a round share that covers them all.
struct ShareScale {
    let top: Double
    let ticks: [Tick]

    init(upTo most: Double) {
        let steps = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25]
        let step = most > 0 ? steps.first { most <= $0 * 5 + 1e-9 } ?? 0.25 : 0.05
        let count = max(2, Int((most / step - 1e-9).rounded(.up)))
        let top = step * Double(count)
        self.top = top
        ticks = (0...count).map { number in
            let share = step * Double(number)
            return Tick(place: share / top, label: step < 0.01 ? share.percent : "\(Int((share * 100).rounded())) %")
        }
    }

    func place(_ share: Double) -> Double { share / top }
}

/// A logarithmic scale of durations. Shorter durations than the shortest count as the shortest.
struct DurationScale {
    /// The number of columns for a factor of ten.
    static let columns = 10.0

    let low: Double
    let high: Double
    let ticks: [Tick]

    /// The scale for the times of loads.
    static func latency(upTo most: Duration) -> DurationScale {
        let stops = [0.0001, 0.001, 0.01, 0.1, 1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
        return DurationScale(stops, upTo: max(most, .seconds(1)))
    }

    /// The scale for the ages of copies.
    static func age(upTo most: Duration) -> DurationScale {
        let stops: [Double] = [1, 10, 60, 600, 3_600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000, 157_680_000]
        return DurationScale(stops, upTo: max(most, .seconds(3_600)))
    }

    private init(_ stops: [Double], upTo most: Duration) {
        let end = stops.firstIndex { $0 >= most.inSeconds } ?? stops.count - 1
        (low, high) = (stops[0], stops[end])
        let (low, high) = (low, high)
        ticks = stops.prefix(end + 1).enumerated().map { number, stop in
            Tick(
                place: log10(stop / low) / log10(high / low),
                label: (number == 0 ? "≤ " : "") + Duration.seconds(stop).brief)
        }
    }

    func place(_ seconds: Double) -> Double {
        min(1, max(0, log10(max(seconds, low) / low) / log10(high / low)))
    }

    /// The column of a duration.
    func column(_ seconds: Double) -> Int {
        Int((log10(min(max(seconds, low), high) / low) * Self.columns).rounded(.down))
    }

    /// The start of a column, in seconds.
    func start(of column: Int) -> Double { low * pow(10, Double(column) / Self.columns) }
}

/// A scale of wall time, in UTC.
struct TimeScale {
    let times: ClosedRange<Timestamp>
    let ticks: [Tick]

    init(_ times: ClosedRange<Timestamp>) {
        self.times = times
        let minute: Int64 = 60_000_000_000
        let steps = [5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080, 40_320, 161_280, 1_612_800]
            .map { $0 * minute }
        let length = (times.upperBound - times.lowerBound).nanoseconds
        let step = steps.first { length / $0 <= 8 } ?? max(1, length / 8)
        let first = (times.lowerBound.nanoseconds / step) * step
        let moments = (0...10).map { Timestamp(nanoseconds: first) + .nanoseconds(step) * $0 }
        ticks = moments.filter(times.contains).map { moment in
            Tick(place: Self.place(moment, times), label: moment.time == "00:00" ? moment.day : moment.time)
        }
    }

    func place(_ moment: Timestamp) -> Double { Self.place(moment, times) }

    private static func place(_ moment: Timestamp, _ times: ClosedRange<Timestamp>) -> Double {
        let length = (times.upperBound - times.lowerBound).inSeconds
        return length > 0 ? (moment - times.lowerBound).inSeconds / length : 0
    }
}

extension Timestamp {
    /// `Sat 21 Nov`.
    fileprivate var day: String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return "\(weekday.prefix(3)) \(parts.tm_mday) \(months[Int(parts.tm_mon)])"
    }
}
