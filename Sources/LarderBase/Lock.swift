public import Synchronization

/// A lock for work that takes nanoseconds. It begins free.
///
/// A thread that finds it taken lets other threads run, and after a while sleeps 50 µs at a time: see
/// ``ThreadStripe/wait(_:)``. So a lock costs one exclusive operation, where the system's locks cost two and two calls.
public struct Lock {
    @usableFromInline var word: UInt32 = 0

    /// A free lock.
    @inlinable
    public init() {}
}

/// A lock at a fixed address.
extension UnsafeMutablePointer where Pointee == Lock {
    @inlinable @inline(__always)
    var word: UnsafeMutablePointer<Atomic<UInt32>> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Atomic<UInt32>.self)
    }

    /// Waits for the lock and takes it.
    @inlinable @inline(__always)
    public func lock() {
        if !tryLock() { takeLater() }
    }

    /// Takes the lock if it is free. Returns whether it was.
    @inlinable @inline(__always)
    public func tryLock() -> Bool {
        word.pointee.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
    }

    @usableFromInline @inline(never)
    func takeLater() {
        var round = 0
        while !takeWhenFree(round) { round += 1 }
    }

    /// Waits for the lock for a few milliseconds at most. Returns whether it was taken.
    @inline(never)
    public func takeSoon() -> Bool {
        (0..<200).contains { takeWhenFree($0) }
    }

    private func takeWhenFree(_ round: Int) -> Bool {
        // Reading does not disturb the thread that has the lock. It mostly gives it back within these reads.
        for _ in 0..<64 where word.pointee.load(ordering: .relaxed) == 0 {
            if tryLock() { return true }
        }
        ThreadStripe.wait(round)
        return false
    }

    /// Gives the lock back.
    @inlinable @inline(__always)
    public func unlock() {
        word.pointee.store(0, ordering: .releasing)
    }
}
