public import Synchronization

/// A reference to an object that many threads use all the time and that is rarely replaced.
///
/// A use takes no lock and changes no reference count, because threads would contend for both. Instead the thread adds
/// one to a counter of its own stripe while it uses the object. A replacement waits until no thread can still use the
/// former object. It counts the uses that begin meanwhile separately, so the wait ends however many there are.
///
/// `@unchecked Sendable`: the pointers point only to atomics and to an object that this reference keeps alive.
public final class AtomicReference<Object: AnyObject & Sendable>: @unchecked Sendable {
    @usableFromInline typealias Count = Atomic<Int>
    /// The distance between the stripes' counts, so that each stripe has a cache line of its own on most machines.
    @inlinable static var stride: Int { 8 }

    @usableFromInline let present = Atomic<UnsafeMutableRawPointer?>(nil)
    /// The index of the count, of the two in each stripe, to which new uses are added.
    @usableFromInline let phase = Atomic(0)
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
        let count = counts + ThreadStripe.own * Self.stride + phase.load(ordering: .relaxed)
        // Both this and the exchange in `replace` are sequentially consistent: either this thread loads the new object,
        // or `replace` sees the count.
        count[0].add(1, ordering: .sequentiallyConsistent)
        defer { count[0].subtract(1, ordering: .releasing) }
        guard let object = present.load(ordering: .sequentiallyConsistent) else { return nil }
        return Unmanaged<Object>.fromOpaque(object)._withUnsafeGuaranteedRef(body)
    }

    /// Replaces the object and waits until no thread uses the former one. Only one thread may replace it at a time.
    ///
    /// - Returns: the former object.
    public func replace(with object: Object?) -> Object? {
        let new = object.map { Unmanaged.passRetained($0).toOpaque() }
        guard let old = present.exchange(new, ordering: .sequentiallyConsistent) else { return nil }
        // Both counts are awaited, because a thread that read the phase long ago may add to the other one late.
        for _ in 0..<2 {
            let last = phase.load(ordering: .relaxed)
            phase.store(1 - last, ordering: .sequentiallyConsistent)
            for stripe in 0..<ThreadStripe.count { wait(for: counts + stripe * Self.stride + last) }
        }
        return Unmanaged<Object>.fromOpaque(old).takeRetainedValue()
    }

    private func wait(for count: UnsafeMutablePointer<Count>) {
        var round = 0
        while count[0].load(ordering: .sequentiallyConsistent) > 0 {
            ThreadStripe.wait(round)
            round += 1
        }
    }
}
