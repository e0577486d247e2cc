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
    private typealias Part = Atomic<UnsafeMutableRawPointer?>
    private static let stripes = 4
    private static let lanes = 2 * stripes
    private static let partSize = 64
    private static let partCount = Sketch.buckets / partSize + 1
    /// A lane's own words lie in a cache line of their own.
    private static let line = 8

    private static let words = lanes * line

    /// Made for the first hit. For each lane a word with a bit for each part that was added to since the last draining, and
    /// one with bytes; then for each lane its parts.
    private let block = Atomic<UnsafeMutableRawPointer?>(nil)

    deinit {
        guard let block = block.load(ordering: .acquiring) else { return }
        for part in 0..<Self.lanes * Self.partCount {
            Self.part(block, part).pointee.load(ordering: .relaxed)?.deallocate()
        }
        block.deallocate()
    }

    @inline(__always)
    private static func word(_ block: UnsafeMutableRawPointer, _ place: Int) -> UnsafeMutablePointer<Word> {
        block.assumingMemoryBound(to: Word.self) + place
    }

    @inline(__always)
    private static func part(_ block: UnsafeMutableRawPointer, _ place: Int) -> UnsafeMutablePointer<Part> {
        (block + words * MemoryLayout<Word>.stride).assumingMemoryBound(to: Part.self) + place
    }

    private func makeBlock() -> UnsafeMutableRawPointer {
        let parts = Self.lanes * Self.partCount
        let made = UnsafeMutableRawPointer.allocate(
            byteCount: Self.words * MemoryLayout<Word>.stride + parts * MemoryLayout<Part>.stride, alignment: 64)
        for place in 0..<Self.words { Self.word(made, place).initialize(to: Word(0)) }
        for place in 0..<parts { Self.part(made, place).initialize(to: Part(nil)) }
        let (isFirst, there) = block.compareExchange(expected: nil, desired: made, ordering: .acquiringAndReleasing)
        if isFirst { return made }
        made.deallocate()
        return there ?? made
    }

    /// A hit on the key with this hash, of so many nanoseconds of age.
    @inline(__always)
    func record(_ age: Int64, _ size: Int, isFresh: Bool, hash: Int) {
        let block = block.load(ordering: .acquiring) ?? makeBlock()
        let lane = hash & (Self.stripes - 1) | (isFresh ? 0 : Self.stripes)
        let bucket = Sketch.Scale.age.bucket(of: age)
        let part = bucket / Self.partSize
        Self.word(block, lane * Self.line + 1).pointee.add(UInt64(truncatingIfNeeded: size), ordering: .relaxed)
        // In this order, and all threads see it in this order: whoever drains either finds the count or the bit.
        cells(block, lane, part)[bucket % Self.partSize].add(1, ordering: .sequentiallyConsistent)
        let bit: UInt64 = 1 << UInt64(part)
        let bits = Self.word(block, lane * Self.line)
        if bits.pointee.load(ordering: .sequentiallyConsistent) & bit == 0 {
            bits.pointee.bitwiseOr(bit, ordering: .sequentiallyConsistent)
        }
    }

    @inline(__always)
    private func cells(_ block: UnsafeMutableRawPointer, _ lane: Int, _ part: Int) -> UnsafeMutablePointer<Word> {
        let place = Self.part(block, lane * Self.partCount + part)
        let cells = place.pointee.load(ordering: .acquiring) ?? make(place)
        return cells.assumingMemoryBound(to: Word.self)
    }

    private func make(_ place: UnsafeMutablePointer<Part>) -> UnsafeMutableRawPointer {
        let cells = UnsafeMutablePointer<Word>.allocate(capacity: Self.partSize)
        for cell in 0..<Self.partSize { (cells + cell).initialize(to: Word(0)) }
        let made = UnsafeMutableRawPointer(cells)
        let (isFirst, there) = place.pointee.compareExchange(
            expected: nil, desired: made, ordering: .acquiringAndReleasing)
        if isFirst { return made }
        cells.deallocate()
        return there ?? made
    }

    /// Moves what was counted since the last time to `metrics`.
    func drain(into metrics: inout ResourceMetrics) {
        guard let block = block.load(ordering: .acquiring) else { return }
        drain(block, 0, .fresh, .fresh, into: &metrics)
        metrics[.stale] += drain(block, Self.stripes, .stale, .stale, into: &metrics)
    }

    @discardableResult
    private func drain(
        _ block: UnsafeMutableRawPointer, _ first: Int, _ freshness: Freshness, _ outcome: Outcome,
        into metrics: inout ResourceMetrics
    ) -> UInt64 {
        var sketch = Sketch(.age)
        for lane in first..<first + Self.stripes { metrics[.bytesOut] += drain(block, lane, into: &sketch) }
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
    private func drain(_ block: UnsafeMutableRawPointer, _ lane: Int, into sketch: inout Sketch) -> UInt64 {
        var bits = Self.word(block, lane * Self.line).pointee.exchange(0, ordering: .sequentiallyConsistent)
        while bits != 0 {
            let part = bits.trailingZeroBitCount
            bits &= bits - 1
            let cells = cells(block, lane, part)
            for cell in 0..<Self.partSize where cells[cell].load(ordering: .sequentiallyConsistent) > 0 {
                let bucket = part * Self.partSize + cell
                let count = cells[cell].exchange(0, ordering: .sequentiallyConsistent)
                sketch.add(count, at: bucket)
                // Nearly their sum: to keep it exactly would cost each hit as much again.
                sketch.add(sum: Sketch.Scale.age.middle(of: bucket) * Int(clamping: count))
            }
        }
        return Self.word(block, lane * Self.line + 1).pointee.exchange(0, ordering: .relaxed)
    }
}
