import Synchronization

/// Counts hits that need no waiting. Any number of threads may count at the same time. Counting a hit takes no lock and
/// a few nanoseconds.
///
/// Every hit has an age, so a hit is counted only in a bucket of a sketch of ages. There are several sketches for fresh
/// copies and several for stale ones, so that threads which hit different keys mostly add to different sketches. Memory
/// for a part of a sketch's buckets is allocated when the first age falls into that part.
///
/// `@unchecked Sendable`: all pointers point to atomics, are set once, and are freed by `deinit`.
final class HitMeter: @unchecked Sendable {
    private typealias Word = Atomic<UInt64>
    private typealias Cells = Atomic<UnsafeMutableRawPointer?>
    private static let stripes = 4
    private static let sketches = 2 * stripes
    private static let partSize = 64
    private static let partCount = Sketch.bucketCount / partSize + 1
    /// The number of words in a cache line. The words of each sketch have a cache line of their own.
    private static let line = 8

    private static let words = sketches * line

    /// The memory of all sketches, allocated at the first hit. It begins with a cache line for each sketch: the
    /// first word has a bit for each part that changed since the last ``drain(into:)``, and the second word counts
    /// bytes. The others are the keys whose
    /// next hit is awaited. The pointers to the parts follow.
    private let block = Atomic<UnsafeMutableRawPointer?>(nil)

    deinit {
        guard let block = block.load(ordering: .acquiring) else { return }
        for part in 0..<Self.sketches * Self.partCount {
            Self.part(block, part).pointee.load(ordering: .relaxed)?.deallocate()
        }
        block.deallocate()
    }

    @inline(__always)
    private static func word(_ block: UnsafeMutableRawPointer, _ index: Int) -> UnsafeMutablePointer<Word> {
        block.assumingMemoryBound(to: Word.self) + index
    }

    @inline(__always)
    private static func part(_ block: UnsafeMutableRawPointer, _ index: Int) -> UnsafeMutablePointer<Cells> {
        (block + words * MemoryLayout<Word>.stride).assumingMemoryBound(to: Cells.self) + index
    }

    private func makeBlock() -> UnsafeMutableRawPointer {
        let parts = Self.sketches * Self.partCount
        let made = UnsafeMutableRawPointer.allocate(
            byteCount: Self.words * MemoryLayout<Word>.stride + parts * MemoryLayout<Cells>.stride, alignment: 64)
        for index in 0..<Self.words { Self.word(made, index).initialize(to: Word(0)) }
        for index in 0..<parts { Self.part(made, index).initialize(to: Cells(nil)) }
        let (isFirst, there) = block.compareExchange(expected: nil, desired: made, ordering: .acquiringAndReleasing)
        if isFirst { return made }
        made.deallocate()
        return there ?? made
    }

    /// Counts a hit on the key with this hash. `age` is in nanoseconds, `size` in bytes.
    @inline(__always)
    func record(_ age: Int64, _ size: Int, isFresh: Bool, hash: Int) {
        let block = block.load(ordering: .acquiring) ?? makeBlock()
        let number = hash & (Self.stripes - 1) | (isFresh ? 0 : Self.stripes)
        let bucket = Sketch.Scale.age.bucket(of: age)
        let part = Int(UInt(bitPattern: bucket) / UInt(Self.partSize))
        Self.word(block, number * Self.line + 1).pointee.wrappingAdd(
            UInt64(truncatingIfNeeded: size), ordering: .relaxed)
        if isFresh { served(hash, block) }
        // The count is changed before the bit, and sequential consistency makes all threads see this order. So a thread
        // that drains finds the count now, or the bit the next time.
        cells(block, number: number, part: part)[bucket % Self.partSize].wrappingAdd(
            1, ordering: .sequentiallyConsistent)
        let bit: UInt64 = 1 << UInt64(part)
        let bits = Self.word(block, number * Self.line)
        if bits.pointee.load(ordering: .sequentiallyConsistent) & bit == 0 {
            bits.pointee.bitwiseOr(bit, ordering: .sequentiallyConsistent)
        }
    }

    @inline(__always)
    private func cells(_ block: UnsafeMutableRawPointer, number: Int, part: Int) -> UnsafeMutablePointer<Word> {
        let pointer = Self.part(block, number * Self.partCount + part)
        let cells = pointer.pointee.load(ordering: .acquiring) ?? make(pointer)
        return cells.assumingMemoryBound(to: Word.self)
    }

    private func make(_ pointer: UnsafeMutablePointer<Cells>) -> UnsafeMutableRawPointer {
        let cells = UnsafeMutablePointer<Word>.allocate(capacity: Self.partSize)
        for cell in 0..<Self.partSize { (cells + cell).initialize(to: Word(0)) }
        let made = UnsafeMutableRawPointer(cells)
        let (isFirst, there) = pointer.pointee.compareExchange(
            expected: nil, desired: made, ordering: .acquiringAndReleasing)
        if isFirst { return made }
        cells.deallocate()
        return there ?? made
    }

    /// Moves the counts since the last call to `metrics`.
    func drain(into metrics: inout ResourceMetrics) {
        guard let block = block.load(ordering: .acquiring) else { return }
        drain(block, first: 0, freshness: .fresh, outcome: .fresh, into: &metrics)
        metrics.count(.stale, drain(block, first: Self.stripes, freshness: .stale, outcome: .stale, into: &metrics))
    }

    @discardableResult
    private func drain(
        _ block: UnsafeMutableRawPointer, first: Int, freshness: Freshness, outcome: Outcome,
        into metrics: inout ResourceMetrics
    ) -> UInt64 {
        var sketch = Sketch(.age)
        for number in first..<first + Self.stripes { metrics.count(.bytesOut, drain(block, number, into: &sketch)) }
        guard sketch.count > 0 else { return 0 }
        metrics.count(.loads, sketch.count)
        metrics.count(.hits, sketch.count)
        metrics.latency[outcome, default: Sketch()].record(.zero, times: sketch.count)
        metrics.ages[freshness, default: Sketch(.age)].merge(sketch)
        return sketch.count
    }

    /// Moves the counts of one sketch to `sketch`.
    ///
    /// - Returns: the bytes that the sketch's hits delivered.
    private func drain(_ block: UnsafeMutableRawPointer, _ number: Int, into sketch: inout Sketch) -> UInt64 {
        var bits = Self.word(block, number * Self.line).pointee.exchange(0, ordering: .sequentiallyConsistent)
        while bits != 0 {
            let part = bits.trailingZeroBitCount
            bits &= bits - 1
            let cells = cells(block, number: number, part: part)
            for cell in 0..<Self.partSize where cells[cell].load(ordering: .sequentiallyConsistent) > 0 {
                let bucket = part * Self.partSize + cell
                let count = cells[cell].exchange(0, ordering: .sequentiallyConsistent)
                sketch.add(count, at: bucket)
                // The sum is approximate. An exact sum would double the cost of a hit.
                sketch.add(sum: Sketch.Scale.age.middle(of: bucket) * Int(clamping: count))
            }
        }
        return Self.word(block, number * Self.line + 1).pointee.exchange(0, ordering: .relaxed)
    }
}

// Keys whose next fresh hit is awaited. Their words are in the cache lines of the counts, so that looking for a key costs
// a hit about a nanosecond.
extension HitMeter {
    /// Returns the place in which the next fresh hit of a key is awaited. Keys share places.
    static func place(of hash: Int) -> Int {
        let number = UInt(bitPattern: hash)
        return Int(number % UInt(stripes)) * line + 2 + Int(number / UInt(stripes) % UInt(line - 2))
    }

    /// The hash of the key whose hit is awaited in a place; 0 if there is none.
    subscript(awaitedAt place: Int) -> Int {
        get {
            guard let block = block.load(ordering: .acquiring) else { return 0 }
            return Int(Int64(bitPattern: Self.word(block, place).pointee.load(ordering: .relaxed)))
        }
        set {
            let block = block.load(ordering: .acquiring) ?? makeBlock()
            Self.word(block, place).pointee.store(UInt64(bitPattern: Int64(newValue)), ordering: .relaxed)
        }
    }

    /// Notes a fresh hit that ``record(_:_:isFresh:hash:)`` does not count.
    func served(_ hash: Int) {
        if let block = block.load(ordering: .acquiring) { served(hash, block) }
    }

    @inline(__always)
    private func served(_ hash: Int, _ block: UnsafeMutableRawPointer) {
        let awaited = Self.word(block, Self.place(of: hash))
        let key = UInt64(bitPattern: Int64(hash))
        guard awaited.pointee.load(ordering: .relaxed) == key else { return }
        _ = awaited.pointee.compareExchange(expected: key, desired: 0, ordering: .relaxed)
    }
}
