package import LarderSystem

/// The metrics of the last minutes and of the last hour, and the counts of the last day, in bounded memory.
///
/// The owner calls ``record(_:uptime:now:)`` from time to time with the metrics since the last call. The windows use
/// uptime, which never jumps. Only the periods of the last day use wall time.
struct SlidingMetrics: Sendable {
    /// The metrics between two points in time.
    private struct Bucket: Sendable {
        var start: Duration
        var end: Duration
        var metrics: ResourceMetrics
    }

    /// A series of buckets of one length that covers a window.
    private struct BucketSeries: Sendable {
        let length: Duration
        let window: Duration
        var buckets: [Bucket] = []

        mutating func add(_ bucket: Bucket) {
            if let last = buckets.last, bucket.end - last.start <= length {
                buckets[buckets.count - 1].end = bucket.end
                buckets[buckets.count - 1].metrics.merge(bucket.metrics)
            } else {
                buckets.append(bucket)
            }
        }

        mutating func removeExpired(at uptime: Duration) { buckets.removeAll { $0.end <= uptime - window } }

        func last(_ length: Duration, uptime: Duration) -> ResourceMetrics {
            buckets.filter { $0.end > uptime - length }.reduce(into: ResourceMetrics()) { $0.merge($1.metrics) }
        }
    }

    private static let mostPeriods = 288

    /// The time of the last call of ``record(_:uptime:now:)``.
    private var lastUpdate: (uptime: Duration, now: Timestamp)
    private var short = BucketSeries(length: .seconds(10), window: .seconds(300))
    private var long = BucketSeries(length: .seconds(300), window: .seconds(3_600))
    private(set) var periods: [FiveMinutes] = []

    init(uptime: Duration, now: Timestamp) {
        lastUpdate = (uptime, now)
    }

    /// Adds the metrics since the last call.
    ///
    /// The owner must call this before it counts again when some seconds have passed. So all of `added` happened within
    /// some seconds after the last call, even if that call was long ago. Only the time without a network may have gone on.
    mutating func record(_ added: ResourceMetrics, uptime: Duration, now: Timestamp) {
        // Two threads may read the clock in one order and call this in the other order.
        let uptime = max(uptime, lastUpdate.uptime)
        short.removeExpired(at: uptime)
        long.removeExpired(at: uptime)
        if !added.isEmpty {
            let end = uptime - lastUpdate.uptime <= .seconds(20) ? uptime : lastUpdate.uptime + .seconds(10)
            let bucket = Bucket(start: lastUpdate.uptime, end: end, metrics: added)
            short.add(bucket)
            long.add(bucket)
            addToPeriods(added, now: lastUpdate.now)
        }
        lastUpdate = (uptime, now)
    }

    private mutating func addToPeriods(_ added: ResourceMetrics, now: Timestamp) {
        let sinceStart = now.nanoseconds.remainder(dividingBy: FiveMinutes.length)
        var period = FiveMinutes(start: Timestamp(nanoseconds: now.nanoseconds - sinceStart), of: added)
        // The time without a network that is too long for the period belongs to the next ones.
        var rest = period[.offlineTime]
        period[.offlineTime] = min(rest, UInt64((FiveMinutes.length - sinceStart + 999_999) / 1_000_000))
        rest -= period[.offlineTime]
        add(period)
        let length = UInt64(FiveMinutes.length / 1_000_000)
        let forgotten = max(rest / length, UInt64(Self.mostPeriods)) - UInt64(Self.mostPeriods)
        rest -= forgotten * length
        var start = period.start + .nanoseconds(FiveMinutes.length) * Int(forgotten)
        while rest > 0 {
            start = start + .nanoseconds(FiveMinutes.length)
            var next = FiveMinutes(start: start)
            next[.offlineTime] = min(rest, length)
            rest -= next[.offlineTime]
            add(next)
        }
    }

    private mutating func add(_ period: FiveMinutes) {
        let start = period.start.nanoseconds
        if let index = periods.lastIndex(where: { $0.start.nanoseconds == start }) {
            periods[index].merge(period)
        } else {
            periods.append(period)
            // Periods in the future, from a clock that was ahead, are removed too.
            let day = Timestamp(nanoseconds: start - Int64(Self.mostPeriods - 1) * FiveMinutes.length)
            periods.removeAll { $0.start < day || $0.start.nanoseconds > start }
            periods.sort { $0.start < $1.start }
        }
    }

    /// Returns the metrics of the last `length`, at most an hour. The window may begin up to 20 s earlier, or up to 5
    /// minutes earlier if `length` is more than 5 minutes.
    func last(_ length: Duration, uptime: Duration) -> ResourceMetrics {
        (length <= short.window ? short : long).last(min(length, long.window), uptime: uptime)
    }
}

extension Int64 {
    /// Returns the remainder of a division, which is never negative.
    fileprivate func remainder(dividingBy divisor: Int64) -> Int64 {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}

/// The counts of five minutes of wall time. A series of periods shows when a problem began and ended.
package struct FiveMinutes: Sendable, Hashable {
    /// The length of a period, in nanoseconds.
    static let length: Int64 = 300_000_000_000

    /// The start of the period: a multiple of five minutes.
    package var start: Timestamp
    private(set) var counts = Counts()
    /// The age of the oldest stale copy that was served; nil if none was.
    package var oldest: Duration?
    /// The sum of the times that callers waited for the loads of the period; nil in dumps of versions that do not tell it.
    package var waited: Duration?

    /// Creates an empty period.
    package init(start: Timestamp) {
        self.start = start
    }

    init(start: Timestamp, of metrics: ResourceMetrics) {
        self.start = start
        counts = metrics.counts
        oldest = metrics.ages[.stale]?.percentile(1)
        waited = metrics.latency.values.reduce(.zero) { $0 + $1.sum }
    }

    /// The value of a counter.
    package subscript(counter: Counter) -> UInt64 {
        get { counts[counter] }
        set { counts[counter] = newValue }
    }

    /// Returns one counter ÷ another, at most 1. Returns 0 if the divisor is 0.
    package func rate(_ part: Counter, of whole: Counter) -> Double {
        self[whole] == 0 ? 0 : min(1, Double(self[part]) / Double(self[whole]))
    }

    /// Adds the counts of another process in the same period.
    package mutating func merge(_ other: FiveMinutes) {
        counts.merge(other.counts)
        if let age = other.oldest { oldest = max(age, oldest ?? .zero) }
        if waited != nil || other.waited != nil { waited = (waited ?? .zero) + (other.waited ?? .zero) }
    }
}
