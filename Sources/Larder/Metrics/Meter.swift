/// Counts what happens to one resource. It outlives the graphs that report to it.
public final class Meter: Sendable {
    private let metrics = Locked(ResourceMetrics())

    /// A meter that has counted nothing.
    public init() {}

    /// What was counted so far.
    public var current: ResourceMetrics { metrics.withLock { $0 } }

    /// A load ended with a value.
    func ended(_ loaded: Loaded<Entry>, after duration: Duration) {
        let outcome = Outcome(of: loaded)
        let isStale: Bool
        if case .store = loaded.source { isStale = loaded.freshness == .stale } else { isStale = false }
        metrics.withLock {
            $0.loads += 1
            if outcome == .fresh || outcome == .stale { $0.hits += 1 }
            if loaded.fellBack { $0.fallbacks += 1 }
            if isStale { $0.stale += 1 }
            $0.latency[outcome, default: Sketch()].record(duration)
        }
    }

    /// A load ended with an error that is no cancellation.
    func failed(_ error: LoadError?, after duration: Duration) {
        metrics.withLock {
            $0.loads += 1
            $0.failures += 1
            if error?.copyRefused == true { $0.staleErrors += 1 }
            $0.latency[.failed, default: Sketch()].record(duration)
        }
    }

    func cancelled() { metrics.withLock { $0.cancelled += 1 } }

    func cachedOnly() { metrics.withLock { $0.cachedOnly += 1 } }

    func coalesced() { metrics.withLock { $0.coalesced += 1 } }

    func refreshed(failed: Bool) {
        metrics.withLock {
            $0.refreshes += 1
            if failed { $0.refreshErrors += 1 }
        }
    }

    func originCalled(failed: Bool, unchanged: Bool, after duration: Duration) {
        metrics.withLock {
            $0.originCalls += 1
            if failed { $0.originErrors += 1 }
            if unchanged { $0.unchanged += 1 }
            $0.originLatency.record(duration)
        }
    }

    func originCancelled() { metrics.withLock { $0.originCalls += 1 } }

    /// A call that the origin has not answered was given up; it is counted as a call where it ends.
    func originTimedOut() { metrics.withLock { $0.originErrors += 1 } }

    func faulted(_ faults: [StoreFault]) {
        metrics.withLock {
            for fault in faults { $0.storeFaults[fault.tier, default: 0] += 1 }
        }
    }

    func foundCorrupt() { metrics.withLock { $0.corrupt += 1 } }
}
