import Synchronization

/// Counts hits that need no waiting: from any number of threads, without a lock, in a few nanoseconds each.
///
/// A hit is one of an age, so its bucket in a sketch of ages counts it and nothing else has to. There are several such
/// sketches, lanes, for fresh and for stale copies; threads that hit different keys mostly add to different ones. A part
/// of a lane's buckets is made when the first age falls into it.
///
/// `@unchecked Sendable`: the pointers lead to atomics only, are set once, and go with the meter.
final class HitMeter: @unchecked Sendable {
    private typealias Word = Atomic<UInt64>
    private static let stripes = 4
    private static let lanes = 2 * stripes
    private static let partSize = 64
    private static let partCount = Sketch.buckets / partSize + 1
    /// A lane's own words lie in a cache line of their own.
    private static let line = 8

    /// For each lane its parts.
    private let parts: UnsafeMutablePointer<Atomic<UnsafeMutableRawPointer?>>
    /// For each lane a word with a bit for each part that was added to since the last draining, and one with bytes.
    private let words: UnsafeMutablePointer<Word>

    init() {
        parts = .allocate(capacity: Self.lanes * Self.partCount)
        for part in 0..<Self.lanes * Self.partCount { (parts + part).initialize(to: Atomic(nil)) }
        words = .allocate(capacity: Self.lanes * Self.line)
        for word in 0..<Self.lanes * Self.line { (words + word).initialize(to: Word(0)) }
    }

    deinit {
        for part in 0..<Self.lanes * Self.partCount {
            (parts + part).pointee.load(ordering: .relaxed)?.deallocate()
        }
        parts.deinitialize(count: Self.lanes * Self.partCount).deallocate()
        words.deinitialize(count: Self.lanes * Self.line).deallocate()
    }

    /// A hit on the key with this hash, of so many nanoseconds of age.
    @inline(__always)
    func record(_ age: Int64, _ size: Int, isFresh: Bool, hash: Int) {
        let lane = hash & (Self.stripes - 1) | (isFresh ? 0 : Self.stripes)
        let bucket = Sketch.Scale.age.bucket(of: age)
        let part = bucket / Self.partSize
        words[lane * Self.line + 1].add(UInt64(truncatingIfNeeded: size), ordering: .relaxed)
        // In this order, and all threads see it in this order: whoever drains either finds the count or the bit.
        cells(lane, part)[bucket % Self.partSize].add(1, ordering: .sequentiallyConsistent)
        let bit: UInt64 = 1 << UInt64(part)
        if words[lane * Self.line].load(ordering: .sequentiallyConsistent) & bit == 0 {
            words[lane * Self.line].bitwiseOr(bit, ordering: .sequentiallyConsistent)
        }
    }

    @inline(__always)
    private func cells(_ lane: Int, _ part: Int) -> UnsafeMutablePointer<Word> {
        let place = lane * Self.partCount + part
        let cells = parts[place].load(ordering: .acquiring) ?? make(place)
        return cells.assumingMemoryBound(to: Word.self)
    }

    private func make(_ place: Int) -> UnsafeMutableRawPointer {
        let cells = UnsafeMutablePointer<Word>.allocate(capacity: Self.partSize)
        for cell in 0..<Self.partSize { (cells + cell).initialize(to: Word(0)) }
        let made = UnsafeMutableRawPointer(cells)
        let (isFirst, there) = parts[place].compareExchange(
            expected: nil, desired: made, ordering: .acquiringAndReleasing)
        if isFirst { return made }
        cells.deallocate()
        return there ?? made
    }

    /// Moves what was counted since the last time to `metrics`.
    func drain(into metrics: inout ResourceMetrics) {
        drain(0, .fresh, .fresh, into: &metrics)
        metrics[.stale] += drain(Self.stripes, .stale, .stale, into: &metrics)
    }

    @discardableResult
    private func drain(
        _ first: Int, _ freshness: Freshness, _ outcome: Outcome, into metrics: inout ResourceMetrics
    ) -> UInt64 {
        var sketch = Sketch(.age)
        for lane in first..<first + Self.stripes { metrics[.bytesOut] += drain(lane, into: &sketch) }
        guard sketch.count > 0 else { return 0 }
        metrics[.loads] += sketch.count
        metrics[.hits] += sketch.count
        metrics.latency[outcome, default: Sketch()].record(.zero, times: sketch.count)
        metrics.ages[freshness, default: Sketch(.age)].merge(sketch)
        return sketch.count
    }

    /// Moves a lane's counts to `sketch`.
    ///
    /// - Returns: its bytes.
    private func drain(_ lane: Int, into sketch: inout Sketch) -> UInt64 {
        var bits = words[lane * Self.line].exchange(0, ordering: .sequentiallyConsistent)
        while bits != 0 {
            let part = bits.trailingZeroBitCount
            bits &= bits - 1
            let cells = cells(lane, part)
            for cell in 0..<Self.partSize where cells[cell].load(ordering: .sequentiallyConsistent) > 0 {
                let bucket = part * Self.partSize + cell
                let count = cells[cell].exchange(0, ordering: .sequentiallyConsistent)
                sketch.add(count, at: bucket)
                // Nearly their sum: to keep it exactly would cost each hit as much again.
                sketch.add(sum: Sketch.Scale.age.middle(of: bucket) * Int(clamping: count))
            }
        }
        return words[lane * Self.line + 1].exchange(0, ordering: .relaxed)
    }
}
