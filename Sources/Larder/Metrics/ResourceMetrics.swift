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

/// What happened to the loads of one resource: counters, rates, latencies and ages.
///
/// Cancelled loads and loads of mode ``Request/Mode/cachedOnly`` are counted apart and stand in no rate.
public struct ResourceMetrics: Sendable, Hashable {
    private static let zeros = [UInt64](repeating: 0, count: Counter.allCases.count)

    // Those of which nothing was counted share theirs.
    private var counts = Self.zeros
    /// The revision of the policy that is in effect.
    public internal(set) var revision = ""
    /// Failures of stores.
    public package(set) var faults: [Fault: UInt64] = [:]
    /// Latency as the caller felt it, by outcome. A hit that needed no waiting counts in the first bucket.
    public package(set) var latency: [Outcome: Sketch] = [:]
    /// Latency of the origin's calls.
    public package(set) var originLatency = Sketch()
    /// How old the copies were that callers got, fresh and stale ones apart. A fallback's age is not known.
    public package(set) var ages: [Freshness: Sketch] = [:]

    /// Metrics of nothing.
    public init() {}

    /// Whether nothing was counted.
    public var isEmpty: Bool { counts.allSatisfy { $0 == 0 } && faults.values.allSatisfy { $0 == 0 } }

    /// What a counter says.
    public package(set) subscript(counter: Counter) -> UInt64 {
        get { counts[counter.rawValue] }
        set { counts[counter.rawValue] = newValue }
    }

    // MARK: Rates

    /// Loads answered by a stand-in ÷ loads.
    public var fallbackRate: Double { rate(.fallbacks, of: .loads) }
    /// Loads answered by a store, no call failed ÷ loads.
    public var hitRate: Double { rate(.hits, of: .loads) }
    /// Loads answered with a stale entry ÷ loads.
    public var staleRate: Double { rate(.stale, of: .loads) }
    /// Loads that failed though there was a copy ÷ loads.
    public var staleErrorRate: Double { rate(.staleErrors, of: .loads) }
    /// Failed background refreshes ÷ background refreshes.
    public var revalidationErrorRate: Double { rate(.refreshErrors, of: .refreshes) }

    /// One counter ÷ another; zero where there is nothing to divide by.
    public func rate(_ part: Counter, of whole: Counter) -> Double {
        self[whole] == 0 ? 0 : min(1, Double(self[part]) / Double(self[whole]))
    }

    /// The latency that `share` of all loads did not exceed.
    public func load(percentile share: Double) -> Duration? {
        wholeLatency.percentile(share)
    }

    /// Latency as callers felt it, however loads ended.
    public var wholeLatency: Sketch { latency.values.reduce(into: Sketch()) { $0.merge($1) } }

    // MARK: Adding and subtracting

    /// Adds what happened elsewhere, or at another time.
    public mutating func merge(_ other: ResourceMetrics) {
        for counter in Counter.allCases { self[counter] = self[counter].plus(other[counter]) }
        faults.merge(other.faults) { $0.plus($1) }
        for (outcome, sketch) in other.latency { latency[outcome, default: Sketch()].merge(sketch) }
        for (freshness, sketch) in other.ages { ages[freshness, default: Sketch(.age)].merge(sketch) }
        originLatency.merge(other.originLatency)
    }

    /// What happened since `earlier`, a former state of these metrics.
    public func since(_ earlier: ResourceMetrics) -> ResourceMetrics {
        var difference = self
        for counter in Counter.allCases { difference[counter] -= min(self[counter], earlier[counter]) }
        for (fault, count) in earlier.faults { difference.faults[fault]? -= min(faults[fault] ?? 0, count) }
        for (outcome, sketch) in earlier.latency { difference.latency[outcome] = latency[outcome]?.since(sketch) }
        for (freshness, sketch) in earlier.ages { difference.ages[freshness] = ages[freshness]?.since(sketch) }
        difference.originLatency = originLatency.since(earlier.originLatency)
        return difference
    }

    /// Failures of stores, by tier.
    public var storeFaults: [String: UInt64] {
        faults.reduce(into: [:]) { tiers, fault in
            tiers[fault.key.tier] = (tiers[fault.key.tier] ?? 0).plus(fault.value)
        }
    }
}

extension FixedWidthInteger {
    /// The sum, or the most there can be: a dump may claim anything.
    package func plus(_ other: Self) -> Self {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? .max : sum
    }
}

extension ResourceMetrics {
    /// ``Counter/loads``.
    public var loads: UInt64 { self[.loads] }
    /// ``Counter/hits``.
    public var hits: UInt64 { self[.hits] }
    /// ``Counter/fallbacks``.
    public var fallbacks: UInt64 { self[.fallbacks] }
    /// ``Counter/stale``.
    public var stale: UInt64 { self[.stale] }
    /// ``Counter/failures``.
    public var failures: UInt64 { self[.failures] }
    /// ``Counter/staleErrors``.
    public var staleErrors: UInt64 { self[.staleErrors] }
    /// ``Counter/cancelled``.
    public var cancelled: UInt64 { self[.cancelled] }
    /// ``Counter/cachedOnly``.
    public var cachedOnly: UInt64 { self[.cachedOnly] }
    /// ``Counter/coalesced``.
    public var coalesced: UInt64 { self[.coalesced] }
    /// ``Counter/refreshes``.
    public var refreshes: UInt64 { self[.refreshes] }
    /// ``Counter/refreshErrors``.
    public var refreshErrors: UInt64 { self[.refreshErrors] }
    /// ``Counter/originCalls``.
    public var originCalls: UInt64 { self[.originCalls] }
    /// ``Counter/originErrors``.
    public var originErrors: UInt64 { self[.originErrors] }
    /// ``Counter/unchanged``.
    public var unchanged: UInt64 { self[.unchanged] }
    /// ``Counter/corrupt``.
    public var corrupt: UInt64 { self[.corrupt] }
}
