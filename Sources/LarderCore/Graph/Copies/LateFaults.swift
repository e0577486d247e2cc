import LarderSystem

/// Passes the faults and evictions that a store reports by itself to the graph, which counts and logs the faults like
/// others.
final class LateFaults: Sendable {
    private struct State {
        weak var storeAccess: StoreAccess?
        /// The faults that were reported while the store was being made.
        var early: [(StoreFault, StoreFaultKey.Kind)] = []
        var isAttached = false
    }

    /// The largest number of faults that are remembered while the store is being made.
    private static let mostEarly = 100

    private let state = Locked(State())

    /// Reports a fault.
    func report(_ fault: StoreFault, _ kind: StoreFaultKey.Kind) {
        let storeAccess = state.withLock { state -> StoreAccess? in
            if !state.isAttached, state.early.count < Self.mostEarly { state.early.append((fault, kind)) }
            return state.storeAccess
        }
        storeAccess?.meter.report([fault], kind)
    }

    /// Reports evicted entries.
    func report(_ evicted: some Collection<EvictedEntry>) { state.withLock { $0.storeAccess }?.noteEvicted(evicted) }

    /// Passes the faults on to the graph's side of the store from now on.
    func attach(to storeAccess: StoreAccess) {
        let early = state.withLock { state in
            state.storeAccess = storeAccess
            state.isAttached = true
            defer { state.early = [] }
            return state.early
        }
        for (fault, kind) in early { storeAccess.meter.report([fault], kind) }
    }
}
