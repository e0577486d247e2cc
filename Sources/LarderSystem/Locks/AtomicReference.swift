public import Synchronization

/// A reference to an object that many threads use all the time and that is rarely replaced.
///
/// A use takes no lock and changes no reference count, because threads would contend for both. Instead the thread marks
/// its own stripe while it uses the object. A replacement waits until no thread can still use the former object. The
/// marks of uses that begin meanwhile differ, so the wait ends however many there are.
///
/// `@unchecked Sendable`: the pointers point only to atomics and to an object that this reference keeps alive.
public final class AtomicReference<Object: AnyObject & Sendable>: @unchecked Sendable {
    @usableFromInline typealias Count = Atomic<Int>
    /// The distance between the stripes' counts, so that each stripe has a cache line of its own on most machines.
    @inlinable static var stride: Int { 8 }

    @usableFromInline let present = Atomic<UnsafeMutableRawPointer?>(nil)
    /// The mark of new uses, 1 or 2.
    @usableFromInline let phase = Atomic(1)
    /// Three words for each stripe: the mark of the thread that occupies the stripe, or 0, and for each mark the number of
    /// uses by other threads, which found the stripe occupied.
    @usableFromInline let counts: UnsafeMutablePointer<Count>

    /// A reference to nothing.
    public init() {
        counts = .allocate(capacity: ThreadStripe.count * Self.stride)
        for count in 0..<ThreadStripe.count * Self.stride { (counts + count).initialize(to: Count(0)) }
    }

    deinit {
        if let last = present.load(ordering: .relaxed) { Unmanaged<Object>.fromOpaque(last).release() }
        counts.deinitialize(count: ThreadStripe.count * Self.stride)
        counts.deallocate()
    }

    /// Runs `body` with the object. Returns nil if there is none.
    ///
    /// `body` must not wait for anything, because ``replace(with:)`` waits for it.
    @inlinable @inline(__always)
    public func use<Result>(_ body: (Object) -> Result?) -> Result? {
        let stripe = counts + ThreadStripe.own * Self.stride
        let mark = phase.load(ordering: .relaxed)
        // This and the exchange in `replace` are sequentially consistent: either this thread loads the new object, or
        // `replace` sees the mark.
        let isOwner = stripe[0].compareExchange(expected: 0, desired: mark, ordering: .sequentiallyConsistent).exchanged
        if !isOwner { stripe[mark].wrappingAdd(1, ordering: .sequentiallyConsistent) }
        defer {
            if isOwner {
                finishRetains()
                stripe[0].store(0, ordering: .releasing)
            } else {
                stripe[mark].wrappingSubtract(1, ordering: .releasing)
            }
        }
        guard let object = present.load(ordering: .sequentiallyConsistent) else { return nil }
        return Unmanaged<Object>.fromOpaque(object)._withUnsafeGuaranteedRef(body)
    }

    /// Replaces the object and waits until no thread uses the former one. Only one thread may replace it at a time.
    ///
    /// - Returns: the former object.
    public func replace(with object: Object?) -> Object? {
        let new = object.map { Unmanaged.passRetained($0).toOpaque() }
        guard let old = present.exchange(new, ordering: .sequentiallyConsistent) else { return nil }
        // Both marks are awaited, because a thread that read the phase long ago may use the other one late.
        for _ in 0..<2 {
            let last = phase.load(ordering: .relaxed)
            phase.store(3 - last, ordering: .sequentiallyConsistent)
            for stripe in 0..<ThreadStripe.count { wait(for: counts + stripe * Self.stride, marked: last) }
        }
        return Unmanaged<Object>.fromOpaque(old).takeRetainedValue()
    }

    private func wait(for stripe: UnsafeMutablePointer<Count>, marked mark: Int) {
        var round = 0
        while stripe[0].load(ordering: .sequentiallyConsistent) == mark
            || stripe[mark].load(ordering: .sequentiallyConsistent) > 0
        {
            ThreadStripe.wait(round)
            round += 1
        }
    }
}
