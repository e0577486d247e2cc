public import LarderSystem
public import Synchronization

/// The places of a ``ShardedTable`` that were used and of which the eviction has not been told.
///
/// Each thread notes in a ring of its own, so the notes of one thread stay in order. Threads that share a ring may lose
/// or repeat notes, at most a ring full, which does not harm the eviction. All notes are read if the ring is read before it
/// is full.
///
/// `@unchecked Sendable`: the pointer points to atomics only.
@usableFromInline struct UseNotes: @unchecked Sendable {
    @usableFromInline typealias Word = Atomic<UInt32>
    @inlinable static var length: UInt32 { 64 }
    /// The number of words in a ring: a cache line with the numbers of notes written and read, and the notes.
    @inlinable static var stride: Int { 16 + Int(length) }

    /// The number of bytes of all rings.
    @inlinable static var size: Int { ThreadStripe.count * stride * MemoryLayout<Word>.stride }

    @usableFromInline let words: UnsafeMutablePointer<Word>

    /// Creates a view of the notes that are stored at `memory`.
    @inlinable @inline(__always)
    init(_ memory: UnsafeMutableRawPointer) {
        words = memory.assumingMemoryBound(to: Word.self)
    }

    /// Initializes the memory. It needs no cleanup afterwards.
    func prepare() {
        for word in 0..<ThreadStripe.count * Self.stride { (words + word).initialize(to: Word(0)) }
    }

    /// Notes that a place was used. Uses of a place that follow each other count as one, because they do not tell how soon
    /// it will be used after others.
    ///
    /// - Returns: whether the ring is full enough to be read.
    @inlinable @inline(__always)
    func note(_ place: UInt32) -> Bool {
        let ring = words + ThreadStripe.own * Self.stride
        let count = ring[0].load(ordering: .relaxed)
        if count != ring[1].load(ordering: .relaxed),
            ring[16 + Int((count &- 1) % Self.length)].load(ordering: .relaxed) == place
        {
            return false
        }
        ring[16 + Int(count % Self.length)].store(place, ordering: .relaxed)
        ring[0].store(count &+ 1, ordering: .releasing)
        return count % (Self.length / 2) == Self.length / 2 - 1
    }

    /// Calls `body` with each place that was noted since the last call. Only one thread at a time may call it.
    func read(_ body: (Int) -> Void) {
        for stripe in 0..<ThreadStripe.count {
            let ring = words + stripe * Self.stride
            let count = ring[0].load(ordering: .acquiring)
            var next = ring[1].load(ordering: .relaxed)
            if count == next { continue }
            if count &- next > Self.length { next = count &- Self.length }
            while next != count {
                body(Int(ring[16 + Int(next % Self.length)].load(ordering: .relaxed)))
                next &+= 1
            }
            ring[1].store(count, ordering: .relaxed)
        }
    }
}
