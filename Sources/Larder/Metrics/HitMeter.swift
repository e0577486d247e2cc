import Synchronization

/// Counts hits that need no waiting: from any number of threads, without a lock, in a few nanoseconds each.
///
/// A hit is one of an age, so its bucket in the sketch of ages counts it and nothing else has to. Threads that hit
/// different keys mostly add to different stripes.
final class HitMeter: Sendable {
    private static let stripes = 4

    private let fresh: [SharedSketch]
    private let stale: [SharedSketch]

    init() {
        fresh = (0..<Self.stripes).map { _ in SharedSketch() }
        stale = (0..<Self.stripes).map { _ in SharedSketch() }
    }

    /// A hit on the key with this hash, of so many nanoseconds of age.
    @inline(__always)
    func record(_ age: Int64, _ bytes: Int, isFresh: Bool, hash: Int) {
        let stripe = hash & (Self.stripes - 1)
        (isFresh ? fresh[stripe] : stale[stripe]).record(age, bytes)
    }

    /// Moves what was counted since the last time to `metrics`.
    func drain(into metrics: inout ResourceMetrics) {
        drain(fresh, .fresh, .fresh, into: &metrics)
        metrics[.stale] += drain(stale, .stale, .stale, into: &metrics)
    }

    @discardableResult
    private func drain(
        _ stripes: [SharedSketch], _ freshness: Freshness, _ outcome: Outcome, into metrics: inout ResourceMetrics
    ) -> UInt64 {
        var sketch = Sketch(.age)
        for stripe in stripes { metrics[.bytesOut] += stripe.drain(into: &sketch) }
        guard sketch.count > 0 || sketch.sum > .zero else { return 0 }
        metrics[.loads] += sketch.count
        metrics[.hits] += sketch.count
        metrics.latency[outcome, default: Sketch()].record(.zero, times: sketch.count)
        metrics.ages[freshness, default: Sketch(.age)].merge(sketch)
        return sketch.count
    }
}

/// A sketch of ages that many threads add to at a time. A part of its buckets is made when the first age falls into it.
///
/// `@unchecked Sendable`: the pointers lead to atomics only, are set once, and go with the sketch.
private final class SharedSketch: @unchecked Sendable {
    private typealias Cell = Atomic<UInt64>
    private static let partSize = 64
    private static let partCount = Sketch.buckets / partSize + 1

    private let bytes = Atomic<UInt64>(0)
    private let milliseconds = Atomic<UInt64>(0)
    /// The parts that were added to since the last draining, a bit for each.
    private let touched = Atomic<UInt64>(0)
    private let parts: UnsafeMutablePointer<Atomic<UnsafeMutableRawPointer?>>

    init() {
        parts = .allocate(capacity: Self.partCount)
        for part in 0..<Self.partCount { (parts + part).initialize(to: Atomic(nil)) }
    }

    deinit {
        for part in 0..<Self.partCount {
            (parts + part).pointee.load(ordering: .relaxed)?.deallocate()
            (parts + part).deinitialize(count: 1)
        }
        parts.deallocate()
    }

    @inline(__always)
    func record(_ nanoseconds: Int64, _ size: Int) {
        let bucket = Sketch.Scale.age.bucket(of: nanoseconds)
        let part = bucket / Self.partSize
        milliseconds.add(UInt64(max(0, nanoseconds)) / 1_000_000, ordering: .relaxed)
        bytes.add(UInt64(size), ordering: .relaxed)
        // In this order, and all threads see it in this order: whoever drains either finds the count or the bit.
        cells(part)[bucket % Self.partSize].add(1, ordering: .sequentiallyConsistent)
        let bit: UInt64 = 1 << UInt64(part)
        if touched.load(ordering: .sequentiallyConsistent) & bit == 0 {
            touched.bitwiseOr(bit, ordering: .sequentiallyConsistent)
        }
    }

    @inline(__always)
    private func cells(_ part: Int) -> UnsafeMutablePointer<Cell> {
        let cells = (parts + part).pointee.load(ordering: .acquiring) ?? make(part)
        return cells.assumingMemoryBound(to: Cell.self)
    }

    private func make(_ part: Int) -> UnsafeMutableRawPointer {
        let cells = UnsafeMutablePointer<Cell>.allocate(capacity: Self.partSize)
        for cell in 0..<Self.partSize { (cells + cell).initialize(to: Cell(0)) }
        let made = UnsafeMutableRawPointer(cells)
        let (isFirst, there) = (parts + part).pointee.compareExchange(
            expected: nil, desired: made, ordering: .acquiringAndReleasing)
        if isFirst { return made }
        cells.deallocate()
        return there ?? made
    }

    /// Moves what was counted since the last time to `sketch`.
    ///
    /// - Returns: the bytes.
    func drain(into sketch: inout Sketch) -> UInt64 {
        var bits = touched.exchange(0, ordering: .sequentiallyConsistent)
        while bits != 0 {
            let part = bits.trailingZeroBitCount
            bits &= bits - 1
            let cells = cells(part)
            for cell in 0..<Self.partSize where cells[cell].load(ordering: .sequentiallyConsistent) > 0 {
                sketch.add(cells[cell].exchange(0, ordering: .sequentiallyConsistent), at: part * Self.partSize + cell)
            }
        }
        sketch.add(sum: .milliseconds(Int64(clamping: milliseconds.exchange(0, ordering: .relaxed))))
        return bytes.exchange(0, ordering: .relaxed)
    }
}
