/// What happened lately: sums over the last minutes and over the last hour, and counters of the last day, all in bounded
/// memory.
///
/// It is told the totals from time to time and keeps what was added in between. Windows go by the time that never jumps;
/// only the day's history bears wall time.
struct Windows: Sendable {
    /// What was counted in one step of time.
    struct Slot: Sendable {
        var number: Int64
        var metrics: ResourceMetrics
    }

    private static let shortStep = Duration.seconds(10).nanoseconds
    private static let longStep = Duration.seconds(300).nanoseconds
    private static let mostPeriods = 288

    private var total = ResourceMetrics()
    /// When the totals were last noted: what was added since happened shortly after that.
    private var last: (uptime: Duration, now: Timestamp)
    /// Ten seconds each, for five minutes.
    private var short: [Slot] = []
    /// Five minutes each, for an hour.
    private var long: [Slot] = []
    private(set) var periods: [Period] = []

    init(uptime: Duration, now: Timestamp) {
        last = (uptime, now)
    }

    /// Takes note of the totals. Whoever counts does so before counting again when some seconds have passed: what was
    /// added since the last time happened just after it, however long ago that is.
    mutating func note(_ new: ResourceMetrics, uptime: Duration, now: Timestamp) {
        let added = new.since(total)
        total = new
        short.removeAll { $0.number < uptime.nanoseconds / Self.shortStep - 30 }
        long.removeAll { $0.number < uptime.nanoseconds / Self.longStep - 12 }
        if !added.isEmpty { keep(added, uptime: last.uptime, now: last.now) }
        last = (uptime, now)
    }

    private mutating func keep(_ added: ResourceMetrics, uptime: Duration, now: Timestamp) {
        Self.add(added, to: &short, uptime.nanoseconds / Self.shortStep)
        Self.add(added, to: &long, uptime.nanoseconds / Self.longStep)
        let start = now.nanoseconds - now.nanoseconds.remainder(dividingBy: Period.length)
        if let place = periods.lastIndex(where: { $0.start.nanoseconds == start }) {
            periods[place].merge(Period(start: periods[place].start, of: added))
        } else {
            periods.append(Period(start: Timestamp(nanoseconds: start), of: added))
            periods.sort { $0.start < $1.start }
            if periods.count > Self.mostPeriods { periods.removeFirst() }
        }
    }

    private static func add(_ metrics: ResourceMetrics, to slots: inout [Slot], _ number: Int64) {
        if slots.last?.number == number {
            slots[slots.count - 1].metrics.merge(metrics)
        } else {
            slots.append(Slot(number: number, metrics: metrics))
        }
    }

    /// What happened in the last `length`, to within ten seconds; for more than five minutes, to within five minutes. An
    /// hour is the most.
    func last(_ length: Duration, uptime: Duration) -> ResourceMetrics {
        let isShort = length <= .seconds(300)
        let step = isShort ? Self.shortStep : Self.longStep
        let first = (uptime.nanoseconds - length.nanoseconds) / step
        return (isShort ? short : long).filter { $0.number >= first }
            .reduce(into: ResourceMetrics()) { $0.merge($1.metrics) }
    }
}

extension Int64 {
    /// What is left of a division, never negative.
    fileprivate func remainder(dividingBy divisor: Int64) -> Int64 {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}

/// What was counted in five minutes of wall time, so that it can be told when something began and ended.
public struct Period: Sendable, Hashable {
    /// How long one lasts, in nanoseconds.
    static let length: Int64 = 300_000_000_000

    /// When it began: a multiple of five minutes.
    public var start: Timestamp
    /// What was counted in it. Counters that stayed at zero are left out.
    public var counts: [Counter: UInt64] = [:]
    /// The age of the oldest stale copy that was served in it.
    public var oldest: Duration?

    /// A period in which nothing was counted.
    public init(start: Timestamp) {
        self.start = start
    }

    init(start: Timestamp, of metrics: ResourceMetrics) {
        self.start = start
        for counter in Counter.allCases where metrics[counter] > 0 { counts[counter] = metrics[counter] }
        oldest = metrics.ages[.stale]?.percentile(1)
    }

    /// What a counter says.
    public subscript(counter: Counter) -> UInt64 { counts[counter] ?? 0 }

    /// One counter ÷ another; zero where there is nothing to divide by.
    public func rate(_ part: Counter, of whole: Counter) -> Double {
        self[whole] == 0 ? 0 : Double(self[part]) / Double(self[whole])
    }

    /// Adds what was counted in the same period elsewhere.
    public mutating func merge(_ other: Period) {
        counts.merge(other.counts, uniquingKeysWith: +)
        if let age = other.oldest { oldest = max(age, oldest ?? .zero) }
    }
}
