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

    /// A hit on the key with this hash.
    @inline(__always)
    func record(_ age: Duration, _ bytes: Int, isFresh: Bool, hash: Int) {
        let stripe = hash & (Self.stripes - 1)
        (isFresh ? fresh[stripe] : stale[stripe]).record(age, bytes)
    }

    /// Adds what was counted so far.
    func add(to metrics: inout ResourceMetrics) {
        add(fresh, .fresh, .fresh, to: &metrics)
        let count = add(stale, .stale, .stale, to: &metrics)
        metrics[.stale] += count
    }

    @discardableResult
    private func add(
        _ stripes: [SharedSketch], _ freshness: Freshness, _ outcome: Outcome, to metrics: inout ResourceMetrics
    ) -> UInt64 {
        var sketch = Sketch(.age)
        for stripe in stripes {
            stripe.add(to: &sketch)
            metrics[.bytesOut] += stripe.bytes.load(ordering: .relaxed)
        }
        guard sketch.count > 0 else { return 0 }
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

    let bytes = Atomic<UInt64>(0)
    private let milliseconds = Atomic<UInt64>(0)
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
    func record(_ age: Duration, _ size: Int) {
        let nanoseconds = age.components.seconds < 1 << 33 ? age.nanoseconds : .max
        let bucket = Sketch.Scale.age.bucket(of: nanoseconds)
        cells(bucket / Self.partSize)[bucket % Self.partSize].add(1, ordering: .relaxed)
        milliseconds.add(UInt64(max(0, nanoseconds)) / 1_000_000, ordering: .relaxed)
        bytes.add(UInt64(size), ordering: .relaxed)
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

    func add(to sketch: inout Sketch) {
        for part in 0..<Self.partCount {
            guard let raw = (parts + part).pointee.load(ordering: .acquiring) else { continue }
            let cells = raw.assumingMemoryBound(to: Cell.self)
            for cell in 0..<Self.partSize {
                let count = cells[cell].load(ordering: .relaxed)
                if count > 0 { sketch.add(count, at: part * Self.partSize + cell) }
            }
        }
        sketch.add(sum: .milliseconds(Int64(clamping: milliseconds.load(ordering: .relaxed))))
    }
}
