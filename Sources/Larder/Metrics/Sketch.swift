/// The distribution of durations, from which any percentile can be read with at most 1 % relative error.
///
/// Every doubling is divided into fifty buckets, from the smallest duration that is told apart to 2³⁷ times as much, so
/// two sketches of one scale add up to the sketch of all their samples, and no sketch is larger than 19 KiB. The first
/// bucket holds everything up to the smallest, the last everything beyond the largest.
public struct Sketch: Sendable, Hashable {
    /// What is told apart.
    public enum Scale: String, Sendable, Hashable {
        /// From a microsecond to a day and a half.
        case latency
        /// From a millisecond to four years.
        case age

        /// How many nanoseconds one step of the scale has.
        var step: Int64 { self == .latency ? 1 : 1_000 }
    }

    /// How many buckets there are.
    static let buckets = 37 * 50 + 1

    /// What is told apart.
    public let scale: Scale
    /// The buckets that hold something, in order, and how much they hold.
    private(set) var places: [UInt16] = []
    private(set) var counts: [UInt64] = []
    /// How many durations were recorded.
    public private(set) var count: UInt64 = 0
    /// Their sum.
    public private(set) var sum: Duration = .zero

    /// A sketch of nothing.
    public init(_ scale: Scale = .latency) {
        self.scale = scale
    }

    /// Counts `duration`, `times` times.
    public mutating func record(_ duration: Duration, times: UInt64 = 1) {
        guard times > 0 else { return }
        add(times, at: scale.bucket(of: duration.nanoseconds))
        sum += duration * Int(clamping: times)
    }

    /// Counts `times` durations of one bucket.
    mutating func add(_ times: UInt64, at bucket: Int) {
        var (index, end) = (0, places.count)
        while index < end {
            let middle = (index + end) / 2
            if places[middle] < bucket { index = middle + 1 } else { end = middle }
        }
        if index == places.endIndex || places[index] != bucket {
            places.insert(UInt16(bucket), at: index)
            counts.insert(times, at: index)
        } else {
            counts[index] = counts[index].plus(times)
        }
        count = count.plus(times)
    }

    /// Adds to the sum, for counts that were added without their durations.
    mutating func add(sum more: Duration) { sum += more }

    /// Counts everything that `other`, a sketch of the same scale, has counted.
    public mutating func merge(_ other: Sketch) {
        guard other.scale == scale else { return }
        combine(other) { $0.plus($1) }
        count = count.plus(other.count)
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
        guard count > 0, let last = places.last else { return nil }
        let wanted = (share * Double(count)).rounded(.up)
        let rank = wanted >= 1 ? min(UInt64(exactly: wanted) ?? count, count) : 1
        var seen: UInt64 = 0
        for (place, held) in zip(places, counts) {
            seen = seen.plus(held)
            if seen >= rank { return scale.middle(of: Int(place)) }
        }
        return scale.middle(of: Int(last))
    }

    /// How many samples lie in buckets that end no later than `bound`.
    public func count(upTo bound: Duration) -> UInt64 {
        zip(places, counts).reduce(0) { scale.bounds(of: Int($1.0)).upperBound <= bound ? $0.plus($1.1) : $0 }
    }

    /// The buckets that hold something: the durations they are for, and how much they hold.
    public var contents: [(range: ClosedRange<Duration>, count: UInt64)] {
        zip(places, counts).map { (scale.bounds(of: Int($0)), $1) }
    }

    private mutating func combine(_ other: Sketch, _ operation: (UInt64, UInt64) -> UInt64) {
        var merged: (places: [UInt16], counts: [UInt64]) = ([], [])
        var (one, two) = (0, 0)
        while one < places.count || two < other.places.count {
            let place = min(
                one < places.count ? places[one] : .max, two < other.places.count ? other.places[two] : .max)
            var held: (UInt64, UInt64) = (0, 0)
            if one < places.count, places[one] == place {
                held.0 = counts[one]
                one += 1
            }
            if two < other.places.count, other.places[two] == place {
                held.1 = other.counts[two]
                two += 1
            }
            let result = operation(held.0, held.1)
            if result == 0 { continue }
            merged.places.append(place)
            merged.counts.append(result)
        }
        (places, counts) = merged
    }
}

extension Sketch.Scale {
    /// The bucket for a number of nanoseconds.
    @inline(__always)
    func bucket(of nanoseconds: Int64) -> Int {
        let steps = nanoseconds / step
        guard steps > 1 << 10 else { return 0 }
        let value = UInt64(steps)
        let power = 63 - value.leadingZeroBitCount
        // The bits below the highest, as a fraction of 2³².
        let fraction = (value << UInt64(64 - power)) >> 32
        let bucket = (power - 10) * 50 + Int((fraction * 50) >> 32) + 1
        return min(bucket, Sketch.buckets - 1)
    }

    /// The durations that a bucket is for.
    func bounds(of bucket: Int) -> ClosedRange<Duration> {
        guard bucket > 0 else { return .zero ... .nanoseconds(step << 10) }
        let (power, place) = (bucket - 1).quotientAndRemainder(dividingBy: 50)
        let unit = Double(step << Int64(power + 10))
        func bound(_ place: Int) -> Duration { .nanoseconds(Int64(unit * (1 + Double(place) / 50))) }
        return bound(place)...bound(place + 1)
    }

    /// The duration whose relative distance to both bounds of the bucket is the same.
    func middle(of bucket: Int) -> Duration {
        guard bucket > 0 else { return .nanoseconds(step * 1_000) }
        let bounds = bounds(of: bucket)
        let (low, high) = (Double(bounds.lowerBound.nanoseconds), Double(bounds.upperBound.nanoseconds))
        return .nanoseconds(Int64(2 * low * high / (low + high)))
    }
}
