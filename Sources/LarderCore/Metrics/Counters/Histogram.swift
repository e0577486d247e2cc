import LarderSystem

/// Counts of durations or sizes, divided at round limits such as `12h` or `20MB`.
///
/// The counts are exact at each limit: ``count(below:)`` of 12 h is the number of durations that were shorter than 12 h.
/// So a setting with a round value can be judged without knowing each single duration.
package struct Histogram: Sendable, Hashable {
    /// The limits between which is counted.
    package enum Scale: Sendable, Hashable {
        /// From 10 ms to a year.
        case durations
        /// From 1 KB to 800 GB.
        case sizes

        /// The limits in nanoseconds or bytes, in order.
        var limits: [Int64] { self == .durations ? Self.durationLimits : Self.sizeLimits }

        private static let durationLimits = limits([
            (1_000_000, [10, 20, 50, 100, 150, 200, 300, 400, 500, 600, 800]),
            (1_000_000_000, [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50]),
            (60_000_000_000, [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50]),
            (3_600_000_000_000, [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20]),
            (86_400_000_000_000, [1, 2, 3, 4, 5, 7, 10, 14, 21, 30, 60, 90, 180, 365]),
        ])

        private static let sizeLimits = limits([
            (1_000, tens), (1_000_000, tens), (1_000_000_000, tens),
        ])

        private static let tens: [Int64] = [1, 10, 100].flatMap { ten in [1, 2, 3, 4, 5, 6, 8].map { $0 * ten } }

        private static func limits(_ steps: [(unit: Int64, counts: [Int64])]) -> [Int64] {
            steps.flatMap { step in step.counts.map { $0 * step.unit } }
        }
    }

    /// The limits between which is counted.
    package let scale: Scale
    /// The count below each limit and not below the one before it, then the count of all that is larger. Empty if nothing
    /// was counted.
    private(set) var counts: [UInt64] = []

    /// Creates empty counts.
    package init(_ scale: Scale) {
        self.scale = scale
    }

    /// The number of everything that was counted.
    package var count: UInt64 { counts.reduce(0) { $0.plus($1) } }

    /// Whether nothing was counted.
    package var isEmpty: Bool { counts.allSatisfy { $0 == 0 } }

    /// Counts a duration in nanoseconds, or a size in bytes.
    mutating func record(_ value: Int64, times: UInt64 = 1) { add(times, at: place(of: value)) }

    /// Counts a duration.
    package mutating func record(_ duration: Duration) { record(duration.nanoseconds) }

    private mutating func add(_ times: UInt64, at place: Int) {
        if counts.isEmpty { counts = Array(repeating: 0, count: scale.limits.count + 1) }
        counts[place] = counts[place].plus(times)
    }

    /// The number of the first limit that is larger than `value`.
    private func place(of value: Int64) -> Int {
        let limits = scale.limits
        var (first, end) = (0, limits.count)
        while first < end {
            let middle = (first + end) / 2
            if limits[middle] <= value { first = middle + 1 } else { end = middle }
        }
        return first
    }

    /// Adds the counts of `other`. Does nothing if the scales differ.
    package mutating func merge(_ other: Histogram) {
        guard scale == other.scale, !other.counts.isEmpty else { return }
        if counts.isEmpty { return counts = other.counts }
        for place in counts.indices { counts[place] = counts[place].plus(other.counts[place]) }
    }

    /// Returns the counts since `earlier`, which is a former state of these counts.
    func since(_ earlier: Histogram) -> Histogram {
        guard scale == earlier.scale, counts.count == earlier.counts.count else { return self }
        var difference = self
        for place in counts.indices { difference.counts[place] -= min(counts[place], earlier.counts[place]) }
        return difference
    }

    /// The parts that are not empty: the limits of each in nanoseconds or bytes, and its count. The last part has no end.
    package var parts: [(from: Int64, to: Int64?, count: UInt64)] {
        let limits = scale.limits
        return counts.indices.filter { counts[$0] > 0 }.map { place in
            (place == 0 ? 0 : limits[place - 1], place < limits.count ? limits[place] : nil, counts[place])
        }
    }

    /// Returns the number of durations or sizes that were smaller than `limit`. It is exact if `limit` is one of the
    /// limits, and else the number below the limit before it.
    package func count(below limit: Int64) -> UInt64 {
        parts.reduce(0) { sum, part in part.to.map { $0 <= limit } == true ? sum.plus(part.count) : sum }
    }

    /// Returns the number of durations that were shorter than `limit`. It is exact if `limit` is one of the limits.
    package func count(below limit: Duration) -> UInt64 { count(below: limit.nanoseconds) }
}

extension Histogram {
    /// The counts as a series of numbers: see ``PackedNumbers``.
    var json: JSON {
        let used = counts.lastIndex { $0 > 0 }.map { counts[...$0] } ?? []
        return .string(PackedNumbers.text(used.map { min($0, MetricsDump.mostCount) }))
    }

    /// Reads the counts of a dump.
    init(_ scale: Scale, reading node: Node, named name: String) throws(MetricsDump.Unreadable) {
        self.init(scale)
        for (place, count) in try node.series(named: name, most: scale.limits.count + 1).enumerated() where count > 0 {
            add(count, at: place)
        }
    }
}
