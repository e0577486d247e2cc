import LarderCore

/// The numbers that tests ask for by name.
extension ResourceMetrics {
    var fallbackRate: Double { self[.fallbackRate] }
    var hitRate: Double { self[.hitRate] }
    var staleRate: Double { self[.staleRate] }
    var staleErrorRate: Double { self[.staleErrorRate] }
    var revalidationErrorRate: Double { self[.revalidationErrorRate] }

    var hits: UInt64 { self[.hits] }
    var fallbacks: UInt64 { self[.fallbacks] }
    var stale: UInt64 { self[.stale] }
    var failures: UInt64 { self[.failures] }
    var staleErrors: UInt64 { self[.staleErrors] }
    var cancelled: UInt64 { self[.cancelled] }
    var cachedOnly: UInt64 { self[.cachedOnly] }
    var coalesced: UInt64 { self[.coalesced] }
    var refreshes: UInt64 { self[.refreshes] }
    var refreshErrors: UInt64 { self[.refreshErrors] }
    var originCalls: UInt64 { self[.originCalls] }
    var originErrors: UInt64 { self[.originErrors] }
    var unchanged: UInt64 { self[.unchanged] }
    var corrupt: UInt64 { self[.corrupt] }
    var prefetches: UInt64 { self[.prefetches] }
    var sends: UInt64 { self[.sends] }
    var failedSends: UInt64 { self[.failedSends] }

    /// The prefetched copies that are neither used nor wasted yet. In a window it may be zero because copies of earlier
    /// times were used.
    var prefetchedWaiting: UInt64 {
        let ended = self[.prefetchedUsed] + self[.prefetchedWasted]
        return self[.prefetched] - min(self[.prefetched], ended)
    }

    /// The numbers of failures of stores, by tier.
    var storeFaults: [String: UInt64] {
        faults.reduce(into: [:]) { tiers, fault in tiers[fault.key.tier, default: 0] += fault.value }
    }
}
