/// How a load ended, as far as latency is told apart.
public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// With the origin's answer.
    case live
    /// With a fresh copy, no call waited for.
    case fresh
    /// With a stale copy, no call waited for.
    case stale
    /// With a fallback, or with a copy that stood in for a call.
    case fallback
    /// With an error.
    case failed
}

/// What happened to the loads of one resource: counters, rates and latencies.
///
/// Cancelled loads and loads of mode ``Request/Mode/cachedOnly`` are counted apart and stand in no rate.
public struct ResourceMetrics: Sendable, Hashable {
    /// The revision of the policy that is in effect.
    public internal(set) var revision = ""
    /// Loads that ended, cancelled and cached-only ones aside.
    public internal(set) var loads: UInt64 = 0
    /// Loads answered by a store without waiting for a call that failed or was too slow.
    public internal(set) var hits: UInt64 = 0
    /// Loads answered by a copy or a fallback because a call failed, was refused or took too long.
    public internal(set) var fallbacks: UInt64 = 0
    /// Loads answered with a stale entry.
    public internal(set) var stale: UInt64 = 0
    /// Loads that ended with an error.
    public internal(set) var failures: UInt64 = 0
    /// Loads that failed because the origin did and the validators refused the copy.
    public internal(set) var staleErrors: UInt64 = 0
    /// Loads that were cancelled.
    public internal(set) var cancelled: UInt64 = 0
    /// Loads that asked for a copy only.
    public internal(set) var cachedOnly: UInt64 = 0
    /// Loads that joined a call already under way.
    public internal(set) var coalesced: UInt64 = 0
    /// Background refreshes that ended.
    public internal(set) var refreshes: UInt64 = 0
    /// Background refreshes that failed.
    public internal(set) var refreshErrors: UInt64 = 0
    /// Calls the origin was sent, retries included.
    public internal(set) var originCalls: UInt64 = 0
    /// Calls the origin failed, or did not answer before a timeout gave them up.
    public internal(set) var originErrors: UInt64 = 0
    /// Answers that said the copy is still current.
    public internal(set) var unchanged: UInt64 = 0
    /// Failures of stores, by tier.
    public internal(set) var storeFaults: [String: UInt64] = [:]
    /// Copies that were found damaged and removed.
    public internal(set) var corrupt: UInt64 = 0
    /// Latency as the caller felt it, by outcome. A hit that needed no waiting counts in the first bucket.
    public internal(set) var latency: [Outcome: Sketch] = [:]
    /// Latency of the origin's calls.
    public internal(set) var originLatency = Sketch()

    /// Metrics of nothing.
    public init() {}

    /// Loads answered by a stand-in ÷ loads.
    public var fallbackRate: Double { rate(fallbacks, of: loads) }
    /// Loads answered by a store, no call failed ÷ loads.
    public var hitRate: Double { rate(hits, of: loads) }
    /// Loads answered with a stale entry ÷ loads.
    public var staleRate: Double { rate(stale, of: loads) }
    /// Loads that failed though there was a copy ÷ loads.
    public var staleErrorRate: Double { rate(staleErrors, of: loads) }
    /// Failed background refreshes ÷ background refreshes.
    public var revalidationErrorRate: Double { rate(refreshErrors, of: refreshes) }

    /// The latency that `share` of all loads did not exceed.
    public func load(percentile share: Double) -> Duration? {
        latency.values.reduce(into: Sketch()) { $0.merge($1) }.percentile(share)
    }

    private func rate(_ part: UInt64, of whole: UInt64) -> Double {
        whole == 0 ? 0 : Double(part) / Double(whole)
    }

    /// What happened since `earlier`, a former state of these metrics.
    public func since(_ earlier: ResourceMetrics) -> ResourceMetrics {
        var difference = self
        for counter in Self.counters {
            difference[keyPath: counter] -= min(self[keyPath: counter], earlier[keyPath: counter])
        }
        difference.storeFaults.merge(earlier.storeFaults) { $0 - min($0, $1) }
        difference.latency.merge(earlier.latency) { $0.since($1) }
        difference.originLatency = originLatency.since(earlier.originLatency)
        return difference
    }

    private static var counters: [WritableKeyPath<ResourceMetrics, UInt64>] {
        [
            \.loads, \.hits, \.fallbacks, \.stale, \.failures, \.staleErrors, \.cancelled, \.cachedOnly, \.coalesced,
            \.refreshes, \.refreshErrors, \.originCalls, \.originErrors, \.unchanged, \.corrupt,
        ]
    }
}
