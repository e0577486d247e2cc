// The import is public because functions that are inlined into other modules use it.
public import LarderBase
public import Synchronization

/// Keeps track of the threads that read a ``ShardedTable`` without a lock, and of the places they used.
///
/// Each thread has a stripe, which it may share with a few other threads. Before it reads a shard, a thread writes the
/// shard's number into its stripe and then checks whether the shard is being changed. A writer first sets the shard's
/// flag and then checks all stripes. So at least one of the two sees the other. As long as nothing changes, threads
/// write only to their own stripes.
///
/// The thread that occupies a stripe also writes the stripe's counts and its ring of used places. The notes of one
/// thread stay in order. They are complete if the ring is read before it is full.
///
/// `@unchecked Sendable`: the pointers point to atomics only.
@usableFromInline struct Readers: @unchecked Sendable {
    @usableFromInline typealias Word = Atomic<UInt32>
    @inlinable static var length: UInt32 { 64 }
    /// The number of words in a stripe. One cache line holds the shard that is being read, the number of notes written
    /// and the number of notes read; the notes follow.
    @inlinable static var stride: Int { 16 + Int(length) }
    /// The number of words between the flags of two shards, so that each flag has its own cache line.
    @inlinable static var gap: Int { 16 }

    /// Returns the number of bytes needed for this number of shards.
    @inlinable
    static func size(_ shards: Int) -> Int { (ThreadStripe.count * stride + shards * gap) * MemoryLayout<Word>.stride }

    @usableFromInline let stripes: UnsafeMutablePointer<Word>

    /// Creates a view of the readers that are stored at `memory`.
    @inlinable @inline(__always)
    init(_ memory: UnsafeMutableRawPointer) {
        stripes = memory.assumingMemoryBound(to: Word.self)
    }

    @inlinable @inline(__always)
    var flags: UnsafeMutablePointer<Word> { stripes + ThreadStripe.count * Self.stride }

    /// Initializes the memory for this number of shards. It needs no cleanup afterwards.
    func prepare(_ shards: Int) {
        for word in 0..<ThreadStripe.count * Self.stride + shards * Self.gap {
            (stripes + word).initialize(to: Word(0))
        }
    }

    /// Begins to read a shard without its lock. Returns nil if another thread occupies the stripe or changes the shard.
    @inlinable @inline(__always)
    func enter(_ shard: Int) -> UnsafeMutablePointer<Word>? {
        let stripe = stripes + ThreadStripe.own * Self.stride
        let mine = UInt32(truncatingIfNeeded: shard + 1)
        guard stripe[0].compareExchange(expected: 0, desired: mine, ordering: .sequentiallyConsistent).exchanged else {
            return nil
        }
        if flags[shard * Self.gap].load(ordering: .sequentiallyConsistent) == 0 { return stripe }
        leave(stripe)
        return nil
    }

    @inlinable @inline(__always)
    func leave(_ stripe: UnsafeMutablePointer<Word>) {
        stripe[0].store(0, ordering: .releasing)
    }

    /// Notes that a place was used. Call it before ``leave(_:)``.
    ///
    /// - Returns: whether the ring is full enough to be read.
    @inlinable @inline(__always)
    func note(_ place: UInt32, in stripe: UnsafeMutablePointer<Word>) -> Bool {
        let count = stripe[1].load(ordering: .relaxed)
        stripe[16 + Int(count % Self.length)].store(place, ordering: .relaxed)
        stripe[1].store(count &+ 1, ordering: .releasing)
        return count % (Self.length / 2) == Self.length / 2 - 1
    }

    /// Keeps readers out of a shard and waits until the present readers have left. The caller must hold the shard's
    /// lock.
    @usableFromInline
    func close(_ shard: Int) {
        flags[shard * Self.gap].store(1, ordering: .sequentiallyConsistent)
        let mine = UInt32(truncatingIfNeeded: shard + 1)
        for stripe in 0..<ThreadStripe.count {
            var round = 0
            while stripes[stripe * Self.stride].load(ordering: .sequentiallyConsistent) == mine {
                ThreadStripe.wait(round)
                round += 1
            }
        }
    }

    @inlinable @inline(__always)
    func open(_ shard: Int) {
        flags[shard * Self.gap].store(0, ordering: .releasing)
    }

    /// Calls `body` with each place that was noted since the last call. Only one thread at a time may call it.
    func notes(_ body: (Int) -> Void) {
        for stripe in 0..<ThreadStripe.count {
            let ring = stripes + stripe * Self.stride
            let count = ring[1].load(ordering: .acquiring)
            var next = ring[2].load(ordering: .relaxed)
            if count == next { continue }
            if count &- next > Self.length { next = count &- Self.length }
            while next != count {
                body(Int(ring[16 + Int(next % Self.length)].load(ordering: .relaxed)))
                next &+= 1
            }
            ring[2].store(count, ordering: .relaxed)
        }
    }

    /// Counts a hit. Call it before ``leave(_:)``.
    @inlinable @inline(__always)
    func hit(in stripe: UnsafeMutablePointer<Word>) {
        let low = stripe[3].load(ordering: .relaxed) &+ 1
        stripe[3].store(low, ordering: .relaxed)
        if low == 0 { stripe[4].store(stripe[4].load(ordering: .relaxed) &+ 1, ordering: .relaxed) }
    }

    /// The hits that all stripes have counted.
    var hits: Int {
        (0..<ThreadStripe.count).reduce(0) { sum, stripe in
            let words = stripes + stripe * Self.stride
            return sum + Int(words[4].load(ordering: .relaxed)) << 32 + Int(words[3].load(ordering: .relaxed))
        }
    }
}
