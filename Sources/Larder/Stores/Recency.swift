// Publicly, so that what is inlined into other modules may use them.
public import Synchronization

/// Which places of a ``Catalog`` were used of late, noted without a lock.
///
/// Each thread writes in a ring of its own, or shares one with a few. What one thread notes stays in order and is
/// complete, if somebody reads the ring before it is full; two that write in one ring at the same moment may lose a note,
/// which an eviction can bear.
///
/// `@unchecked Sendable`: the pointer leads to atomics only.
@usableFromInline struct Recency: @unchecked Sendable {
    @usableFromInline typealias Word = Atomic<UInt32>
    @inlinable static var length: UInt32 { 64 }
    /// A ring and, in a cache line before it, how many notes were ever written in it.
    @inlinable static var stride: Int { 16 + Int(length) }

    @usableFromInline let words: UnsafeMutablePointer<Word>

    init() {
        words = .allocate(capacity: Lane.count * Self.stride)
        for word in 0..<Lane.count * Self.stride { (words + word).initialize(to: Word(0)) }
    }

    func dispose() {
        words.deinitialize(count: Lane.count * Self.stride)
        words.deallocate()
    }

    /// Notes a use.
    ///
    /// - Returns: whether it is time to read.
    @inlinable @inline(__always)
    func note(_ place: UInt32) -> Bool {
        let ring = words + Lane.own * Self.stride
        let count = ring[0].load(ordering: .relaxed)
        ring[16 + Int(count % Self.length)].store(place, ordering: .relaxed)
        ring[0].store(count &+ 1, ordering: .releasing)
        return count % (Self.length / 2) == Self.length / 2 - 1
    }

    /// Reads on in every ring. One reader at a time.
    func read(_ body: (Int) -> Void) {
        for lane in 0..<Lane.count {
            let ring = words + lane * Self.stride
            let count = ring[0].load(ordering: .acquiring)
            // How far was read is written beside the ring: only readers look.
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
