#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The distribution of durations, from which any percentile can be read with at most 1 % relative error.
///
/// Durations are counted in buckets whose bounds grow by 2 % from a microsecond to a day, so two sketches add up to
/// the sketch of all their samples, and no sketch is larger than 10 KiB. The first bucket holds everything up to a
/// microsecond.
public struct Sketch: Sendable, Hashable {
    private static let growth = 1.01 / 0.99
    private static let logOfGrowth = log(growth)
    private static let lastBucket = 1_260
    /// How many durations lie in each bucket, up to the last that holds any.
    private var counts: [UInt64] = []
    /// How many durations were recorded.
    public private(set) var count: UInt64 = 0
    /// Their sum.
    public private(set) var sum: Duration = .zero

    /// A sketch of nothing.
    public init() {}

    /// Counts `duration`, `times` times.
    public mutating func record(_ duration: Duration, times: UInt64 = 1) {
        let bucket = Self.bucket(of: duration)
        if bucket >= counts.count { counts.append(contentsOf: repeatElement(0, count: bucket + 1 - counts.count)) }
        counts[bucket] += times
        count += times
        sum += duration * Int(clamping: times)
    }

    /// Counts everything that `other` has counted.
    public mutating func merge(_ other: Sketch) {
        combine(other, +)
        count += other.count
        sum += other.sum
    }

    /// What was recorded since `earlier`, a former state of this sketch.
    public func since(_ earlier: Sketch) -> Sketch {
        var difference = self
        difference.combine(earlier) { $0 - min($0, $1) }
        difference.count -= min(count, earlier.count)
        difference.sum -= earlier.sum
        return difference
    }

    /// The duration that `share` (0 … 1) of all samples do not exceed; nil when there are none.
    public func percentile(_ share: Double) -> Duration? {
        guard count > 0 else { return nil }
        let wanted = (share * Double(count)).rounded(.up)
        let rank = wanted >= 1 ? UInt64(min(wanted, Double(count))) : 1
        var seen: UInt64 = 0
        for (bucket, held) in counts.enumerated() {
            seen += held
            if seen >= rank { return Self.middle(of: bucket) }
        }
        return Self.middle(of: counts.count - 1)
    }

    private mutating func combine(_ other: Sketch, _ operation: (UInt64, UInt64) -> UInt64) {
        if other.counts.count > counts.count {
            counts.append(contentsOf: repeatElement(0, count: other.counts.count - counts.count))
        }
        for (bucket, held) in other.counts.enumerated() { counts[bucket] = operation(counts[bucket], held) }
    }

    private static func bucket(of duration: Duration) -> Int {
        let microseconds = Double(duration.nanoseconds) / 1_000
        guard microseconds > 1 else { return 0 }
        return min(lastBucket, Int((log(microseconds) / logOfGrowth).rounded(.up)))
    }

    /// The duration whose relative distance to both bounds of the bucket is the same.
    private static func middle(of bucket: Int) -> Duration {
        guard bucket > 0 else { return .microseconds(1) }
        return .seconds(2 * pow(growth, Double(bucket)) / (growth + 1) / 1_000_000)
    }
}
