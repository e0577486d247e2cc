import Synchronization

/// An object that is used all the time, by many threads, and replaced now and then.
///
/// Who uses it takes no lock and counts no reference, both of which threads would fight for: it notes in a lane of its own
/// that it is there and, when it has done, that it is gone. Who replaces the object waits until everybody has gone who may
/// still use the one before: those who come meanwhile are counted apart, so that the wait ends however many they are.
///
/// `@unchecked Sendable`: the pointers lead to atomics only, and to an object that is kept alive here.
final class Swapped<Object: AnyObject & Sendable>: @unchecked Sendable {
    private typealias Count = Atomic<Int>
    /// Each count lies in a cache line of its own, on most machines.
    private static var stride: Int { 8 }

    private let present = Atomic<UnsafeMutableRawPointer?>(nil)
    /// In which of a lane's two counts who comes now is counted.
    private let phase = Atomic(0)
    private let counts: UnsafeMutablePointer<Count>

    init() {
        counts = .allocate(capacity: Lane.count * Self.stride)
        for count in 0..<Lane.count * Self.stride { (counts + count).initialize(to: Count(0)) }
    }

    deinit {
        if let last = present.load(ordering: .relaxed) { Unmanaged<Object>.fromOpaque(last).release() }
        counts.deinitialize(count: Lane.count * Self.stride)
        counts.deallocate()
    }

    /// Uses the object, if there is one. `body` must not wait for anything: somebody may wait for it.
    @inline(__always)
    func use<Result>(_ body: (Object) -> Result?) -> Result? {
        let count = counts + Lane.own * Self.stride + phase.load(ordering: .relaxed)
        // In one order with the exchange below: either this object is the new one, or the count is seen.
        count[0].add(1, ordering: .sequentiallyConsistent)
        defer { count[0].subtract(1, ordering: .releasing) }
        guard let object = present.load(ordering: .sequentiallyConsistent) else { return nil }
        return Unmanaged<Object>.fromOpaque(object)._withUnsafeGuaranteedRef(body)
    }

    /// Puts another object in place, or none, and waits until nobody uses the one before.
    ///
    /// - Returns: the one before.
    func replace(with object: Object?) -> Object? {
        let new = object.map { Unmanaged.passRetained($0).toOpaque() }
        guard let old = present.exchange(new, ordering: .sequentiallyConsistent) else { return nil }
        // Both, since somebody may be counted late where the phase was long ago; one replaces at a time.
        for _ in 0..<2 {
            let last = phase.load(ordering: .relaxed)
            phase.store(1 - last, ordering: .sequentiallyConsistent)
            for lane in 0..<Lane.count { wait(for: counts + lane * Self.stride + last) }
        }
        return Unmanaged<Object>.fromOpaque(old).takeRetainedValue()
    }

    private func wait(for count: UnsafeMutablePointer<Count>) {
        var round = 0
        while count[0].load(ordering: .sequentiallyConsistent) > 0 {
            Lane.wait(round)
            round += 1
        }
    }
}
