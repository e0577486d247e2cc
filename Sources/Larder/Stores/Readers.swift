// Publicly, so that what is inlined into other modules may use it.
public import Synchronization

/// Who reads in a ``Catalog`` at this moment, and what was read of late.
///
/// Each thread has a lane of its own, or shares one with a few. To read in a shard it writes the shard's number in its lane
/// and then looks whether somebody changes that shard; who changes it says so first and then looks into all lanes. So one
/// of the two sees the other, and as long as nobody changes anything, threads write to nothing but their own lanes.
///
/// Whoever is in a lane alone writes its counts and its ring of used places, too: what one thread notes stays in order, and
/// is complete if somebody reads the ring before it is full.
///
/// `@unchecked Sendable`: the pointers lead to atomics only.
@usableFromInline struct Readers: @unchecked Sendable {
    @usableFromInline typealias Word = Atomic<UInt32>
    @inlinable static var length: UInt32 { 64 }
    /// A lane's words: which shard is read, how many notes were ever written and how many of them were read, in one cache
    /// line; then the notes.
    @inlinable static var stride: Int { 16 + Int(length) }
    /// The flags of shards, each in a cache line of its own.
    @inlinable static var gap: Int { 16 }

    /// How many bytes it takes up for so many shards.
    @inlinable
    static func size(_ shards: Int) -> Int { (Lane.count * stride + shards * gap) * MemoryLayout<Word>.stride }

    @usableFromInline let lanes: UnsafeMutablePointer<Word>

    /// What lies at `memory`.
    @inlinable @inline(__always)
    init(_ memory: UnsafeMutableRawPointer) {
        lanes = memory.assumingMemoryBound(to: Word.self)
    }

    @inlinable @inline(__always)
    var flags: UnsafeMutablePointer<Word> { lanes + Lane.count * Self.stride }

    /// Makes memory what it should be for so many shards. There is nothing to be done when it is not needed any more.
    func prepare(_ shards: Int) {
        for word in 0..<Lane.count * Self.stride + shards * Self.gap { (lanes + word).initialize(to: Word(0)) }
    }

    /// Begins to read in a shard without its lock; nil when somebody else is in the lane, or changes the shard.
    @inlinable @inline(__always)
    func enter(_ shard: Int) -> UnsafeMutablePointer<Word>? {
        let lane = lanes + Lane.own * Self.stride
        let mine = UInt32(truncatingIfNeeded: shard + 1)
        guard lane[0].compareExchange(expected: 0, desired: mine, ordering: .sequentiallyConsistent).exchanged else {
            return nil
        }
        if flags[shard * Self.gap].load(ordering: .sequentiallyConsistent) == 0 { return lane }
        leave(lane)
        return nil
    }

    @inlinable @inline(__always)
    func leave(_ lane: UnsafeMutablePointer<Word>) {
        lane[0].store(0, ordering: .releasing)
    }

    /// Notes a use, before leaving.
    ///
    /// - Returns: whether it is time to read the notes.
    @inlinable @inline(__always)
    func note(_ place: UInt32, in lane: UnsafeMutablePointer<Word>) -> Bool {
        let count = lane[1].load(ordering: .relaxed)
        lane[16 + Int(count % Self.length)].store(place, ordering: .relaxed)
        lane[1].store(count &+ 1, ordering: .releasing)
        return count % (Self.length / 2) == Self.length / 2 - 1
    }

    /// Keeps readers out of a shard, and waits for those who are in it. Called with the shard's lock held.
    @usableFromInline
    func close(_ shard: Int) {
        flags[shard * Self.gap].store(1, ordering: .sequentiallyConsistent)
        let mine = UInt32(truncatingIfNeeded: shard + 1)
        for lane in 0..<Lane.count {
            var round = 0
            while lanes[lane * Self.stride].load(ordering: .sequentiallyConsistent) == mine {
                Lane.wait(round)
                round += 1
            }
        }
    }

    @inlinable @inline(__always)
    func open(_ shard: Int) {
        flags[shard * Self.gap].store(0, ordering: .releasing)
    }

    /// Reads on in every ring of notes. One reader at a time.
    func notes(_ body: (Int) -> Void) {
        for lane in 0..<Lane.count {
            let ring = lanes + lane * Self.stride
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

    /// Counts a hit, before leaving.
    @inlinable @inline(__always)
    func hit(in lane: UnsafeMutablePointer<Word>) {
        let low = lane[3].load(ordering: .relaxed) &+ 1
        lane[3].store(low, ordering: .relaxed)
        if low == 0 { lane[4].store(lane[4].load(ordering: .relaxed) &+ 1, ordering: .relaxed) }
    }

    /// The hits of all lanes.
    var hits: Int {
        (0..<Lane.count).reduce(0) { sum, lane in
            let words = lanes + lane * Self.stride
            return sum + Int(words[4].load(ordering: .relaxed)) << 32 + Int(words[3].load(ordering: .relaxed))
        }
    }
}
