/// What happened lately: sums over the last minutes and over the last hour, and counters of the last day, all in bounded
/// memory.
///
/// It is told from time to time what was counted since the last time. Windows go by the time that never jumps;
/// only the day's history bears wall time.
struct Windows: Sendable {
    /// What was counted between two moments.
    private struct Slot: Sendable {
        var start: Duration
        var end: Duration
        var metrics: ResourceMetrics
    }

    /// Slots of one length, as many as a window needs.
    private struct Slots: Sendable {
        let length: Duration
        let window: Duration
        var slots: [Slot] = []

        mutating func add(_ slot: Slot) {
            if let last = slots.last, slot.end - last.start <= length {
                slots[slots.count - 1].end = slot.end
                slots[slots.count - 1].metrics.merge(slot.metrics)
            } else {
                slots.append(slot)
            }
        }

        mutating func forget(at uptime: Duration) { slots.removeAll { $0.end <= uptime - window } }

        func last(_ length: Duration, uptime: Duration) -> ResourceMetrics {
            slots.filter { $0.end > uptime - length }.reduce(into: ResourceMetrics()) { $0.merge($1.metrics) }
        }
    }

    private static let mostPeriods = 288

    /// When it was told the last time: what was counted since happened shortly after that.
    private var noted: (uptime: Duration, now: Timestamp)
    private var short = Slots(length: .seconds(10), window: .seconds(300))
    private var long = Slots(length: .seconds(300), window: .seconds(3_600))
    private(set) var periods: [Period] = []

    init(uptime: Duration, now: Timestamp) {
        noted = (uptime, now)
    }

    /// Takes note of what was counted since the last time. Whoever counts does so before counting again when some seconds
    /// have passed: what was counted since the last time happened just after it, however long ago that is.
    mutating func note(_ added: ResourceMetrics, uptime: Duration, now: Timestamp) {
        // Two threads may have read the clock in one order and come here in the other.
        let uptime = max(uptime, noted.uptime)
        short.forget(at: uptime)
        long.forget(at: uptime)
        if !added.isEmpty {
            let end = uptime - noted.uptime <= .seconds(20) ? uptime : noted.uptime + .seconds(10)
            let slot = Slot(start: noted.uptime, end: end, metrics: added)
            short.add(slot)
            long.add(slot)
            keep(added, now: noted.now)
        }
        noted = (uptime, now)
    }

    private mutating func keep(_ added: ResourceMetrics, now: Timestamp) {
        let start = now.nanoseconds - now.nanoseconds.remainder(dividingBy: Period.length)
        if let place = periods.lastIndex(where: { $0.start.nanoseconds == start }) {
            periods[place].merge(Period(start: periods[place].start, of: added))
        } else {
            periods.append(Period(start: Timestamp(nanoseconds: start), of: added))
            // Also what a clock counted that was days ahead.
            let day = Timestamp(nanoseconds: start - Int64(Self.mostPeriods - 1) * Period.length)
            periods.removeAll { $0.start < day || $0.start.nanoseconds > start }
            periods.sort { $0.start < $1.start }
        }
    }

    /// What happened in the last `length` and up to twenty seconds before; where it is more than five minutes, up to five
    /// minutes before. An hour is the most.
    func last(_ length: Duration, uptime: Duration) -> ResourceMetrics {
        (length <= short.window ? short : long).last(min(length, long.window), uptime: uptime)
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
        self[whole] == 0 ? 0 : min(1, Double(self[part]) / Double(self[whole]))
    }

    /// Adds what was counted in the same period elsewhere.
    public mutating func merge(_ other: Period) {
        counts.merge(other.counts) { $0.plus($1) }
        if let age = other.oldest { oldest = max(age, oldest ?? .zero) }
    }
}
