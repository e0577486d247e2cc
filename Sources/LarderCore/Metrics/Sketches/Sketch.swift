import LarderSystem

/// A distribution of durations. It gives every percentile with a relative error of at most 1 %.
///
/// A scale begins at a smallest duration and ends at 2³⁷ times that duration. Each doubling is divided into fifty
/// buckets. So the sum of two sketches with the same scale is the sketch of all their samples, and no sketch is larger
/// than 19 KiB. The first bucket holds all shorter durations, and the last bucket all longer ones.
public struct Sketch: Sendable, Hashable {
    /// The range of durations that a sketch distinguishes.
    package enum Scale: String, Sendable, Hashable {
        /// From a microsecond to a day and a half.
        case latency
        /// From a millisecond to four years.
        case age

        /// The length of one step of the scale, in nanoseconds.
        var step: Int64 { self == .latency ? 1 : 1_000 }
    }

    /// The number of buckets.
    static let bucketCount = 37 * 50 + 1

    /// The range of durations that the sketch distinguishes.
    package let scale: Scale
    /// The numbers of the buckets that are not empty, in order.
    private(set) var bucketNumbers: [UInt16] = []
    /// The counts of these buckets.
    private(set) var counts: [UInt64] = []
    /// The number of recorded durations.
    public private(set) var count: UInt64 = 0
    /// The sum of the recorded durations.
    public private(set) var sum: Duration = .zero

    /// Creates an empty sketch.
    package init(_ scale: Scale = .latency) {
        self.scale = scale
    }

    /// Records `duration` the given number of times.
    package mutating func record(_ duration: Duration, times: UInt64 = 1) {
        guard times > 0 else { return }
        add(times, at: scale.bucket(of: duration.nanoseconds))
        sum += duration * Int(clamping: times)
    }

    /// Adds to the count of one bucket.
    mutating func add(_ times: UInt64, at bucket: Int) {
        var (index, end) = (0, bucketNumbers.count)
        while index < end {
            let middle = (index + end) / 2
            if bucketNumbers[middle] < bucket { index = middle + 1 } else { end = middle }
        }
        if index == bucketNumbers.endIndex || bucketNumbers[index] != bucket {
            bucketNumbers.insert(UInt16(bucket), at: index)
            counts.insert(times, at: index)
        } else {
            counts[index] = counts[index].plus(times)
        }
        count = count.plus(times)
    }

    /// Adds to the sum, after counts were added by bucket.
    mutating func add(sum more: Duration) { sum += more }

    /// Adds the counts of `other`. Does nothing if the scales differ.
    package mutating func merge(_ other: Sketch) {
        guard other.scale == scale else { return }
        combine(other) { $0.plus($1) }
        count = count.plus(other.count)
        sum += other.sum
    }

    /// Returns the durations recorded since `earlier`, which is a former state of this sketch.
    package func since(_ earlier: Sketch) -> Sketch {
        var difference = self
        difference.combine(earlier) { $0 - min($0, $1) }
        difference.count -= min(count, earlier.count)
        difference.sum -= earlier.sum
        return difference
    }

    /// Returns the duration that the given share (0 … 1) of all samples does not exceed. Returns nil if there are no
    /// samples.
    public func percentile(_ share: Double) -> Duration? {
        guard count > 0, let last = bucketNumbers.last else { return nil }
        let wanted = (share * Double(count)).rounded(.up)
        let rank = wanted >= 1 ? min(UInt64(exactly: wanted) ?? count, count) : 1
        var seen: UInt64 = 0
        for (number, held) in zip(bucketNumbers, counts) {
            seen = seen.plus(held)
            if seen >= rank { return scale.middle(of: Int(number)) }
        }
        return scale.middle(of: Int(last))
    }

    /// Returns the number of samples in buckets that end at `bound` or before.
    public func count(upTo bound: Duration) -> UInt64 {
        zip(bucketNumbers, counts).reduce(0) { scale.bounds(of: Int($1.0)).upperBound <= bound ? $0.plus($1.1) : $0 }
    }

    /// The durations and the counts of the buckets that are not empty.
    public var contents: [(range: ClosedRange<Duration>, count: UInt64)] {
        zip(bucketNumbers, counts).map { (scale.bounds(of: Int($0)), $1) }
    }

    private mutating func combine(_ other: Sketch, _ operation: (UInt64, UInt64) -> UInt64) {
        var merged: (bucketNumbers: [UInt16], counts: [UInt64]) = ([], [])
        var (one, two) = (0, 0)
        while one < bucketNumbers.count || two < other.bucketNumbers.count {
            let number = min(
                one < bucketNumbers.count ? bucketNumbers[one] : .max,
                two < other.bucketNumbers.count ? other.bucketNumbers[two] : .max)
            var held: (UInt64, UInt64) = (0, 0)
            if one < bucketNumbers.count, bucketNumbers[one] == number {
                held.0 = counts[one]
                one += 1
            }
            if two < other.bucketNumbers.count, other.bucketNumbers[two] == number {
                held.1 = other.counts[two]
                two += 1
            }
            let result = operation(held.0, held.1)
            if result == 0 { continue }
            merged.bucketNumbers.append(number)
            merged.counts.append(result)
        }
        (bucketNumbers, counts) = merged
    }
}

extension Sketch.Scale {
    /// Returns the number of the bucket for a duration in nanoseconds.
    @inline(__always)
    func bucket(of nanoseconds: Int64) -> Int {
        let steps = nanoseconds / step
        guard steps > 1 << 10 else { return 0 }
        let value = UInt64(steps)
        let power = 63 - value.leadingZeroBitCount
        // The bits below the highest, as a fraction of 2³².
        let fraction = (value << UInt64(64 - power)) >> 32
        let bucket = (power - 10) * 50 + Int((fraction * 50) >> 32) + 1
        return min(bucket, Sketch.bucketCount - 1)
    }

    /// Returns the durations that belong to a bucket.
    func bounds(of bucket: Int) -> ClosedRange<Duration> {
        guard bucket > 0 else { return .zero ... .nanoseconds(step << 10) }
        let (power, step) = (bucket - 1).quotientAndRemainder(dividingBy: 50)
        let unit = Double(self.step << Int64(power + 10))
        func bound(_ step: Int) -> Duration { .nanoseconds(Int64(unit * (1 + Double(step) / 50))) }
        return bound(step)...bound(step + 1)
    }

    /// Returns the duration whose relative distance to both bounds of the bucket is the same.
    func middle(of bucket: Int) -> Duration {
        guard bucket > 0 else { return .nanoseconds(step * 1_000) }
        let bounds = bounds(of: bucket)
        let (low, high) = (Double(bounds.lowerBound.nanoseconds), Double(bounds.upperBound.nanoseconds))
        return .nanoseconds(Int64(2 * low * high / (low + high)))
    }
}
