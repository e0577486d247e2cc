import LarderSystem

/// The outcome of a load. Latency is measured for each outcome.
public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// The origin answered.
    case live
    /// A fresh copy was returned without waiting for a call.
    case fresh
    /// A stale copy was returned without waiting for a call.
    case stale
    /// A fallback's value was returned, or a copy because a call failed, was refused or was too slow.
    case fallback
    /// The load ended with an error.
    case failed
}

/// The metrics of one resource: counters, rates, latencies and ages.
///
/// Cancelled loads, loads with the mode ``Request/Mode/cachedOnly``, prefetches and sent changes have counters of their
/// own and are part of no rate.
public struct ResourceMetrics: Sendable, Hashable {
    private(set) var counts = Counts()
    /// The revision of the policy that is in effect.
    package var revision = ""
    /// The numbers of failures of stores.
    public var faults: [StoreFaultKey: UInt64] = [:]
    /// The times that callers waited, by outcome. A hit that needed no waiting counts in the first bucket.
    public var latency: [Outcome: Sketch] = [:]
    /// The durations of the calls to the origin.
    public var originLatency = Sketch()
    /// The durations of those calls to the origin that failed or had no answer in time.
    package var originFailureLatency = Sketch()
    /// The ages of the copies that callers got, separately for fresh and stale copies. The age of a fallback's value is
    /// not known.
    public var ages: [Freshness: Sketch] = [:]
    /// The durations that plugins recorded, by timing.
    public internal(set) var timings: [Timing: Sketch] = [:]
    /// Counts that tell what other settings would have brought.
    package var alternatives = WhatIfCounts()

    /// Creates empty metrics.
    package init() {}

    /// Creates empty metrics that include these counters of plugins.
    init(counters: [Counter]) {
        counts = Counts(counters)
    }

    /// Whether nothing was counted.
    package var isEmpty: Bool {
        counts.isEmpty && faults.values.allSatisfy { $0 == 0 } && timings.values.allSatisfy { $0.count == 0 }
            && alternatives.isEmpty
    }

    /// The included counters: Larder's own, then those of plugins, sorted by name.
    public var counters: [Counter] { Counter.core + pluginCounters }

    /// The included counters of plugins, sorted by name.
    package var pluginCounters: [Counter] { counts.plugins }

    /// The value of a counter.
    public subscript(counter: Counter) -> UInt64 {
        get { counts[counter] }
        set { counts[counter] = newValue }
    }

    /// The value of the counter with this name in dumps, such as `origin_calls`; zero if there is none.
    public subscript(name: String) -> UInt64 { self[Counter(name, "")] }

    /// Adds to a counter, up to the most that it can say.
    mutating func count(_ counter: Counter, _ times: UInt64 = 1) { counts[counter] = counts[counter].plus(times) }

    /// Counts these metrics, which were measured in some time without a network.
    mutating func countOffline(for time: Duration) {
        for (outcome, sketch) in latency { count(.offline(outcome), sketch.count) }
        count(.offlineTime, UInt64(clamping: time.nanoseconds / 1_000_000))
    }

    // MARK: Rates

    /// Returns one counter ÷ another, at most 1. Returns 0 if the divisor is 0.
    package func rate(_ part: Counter, of whole: Counter) -> Double {
        self[whole] == 0 ? 0 : min(1, Double(self[part]) / Double(self[whole]))
    }

    /// Returns the latency that the given share of all loads did not exceed, such as 0.95. Returns nil if there are no
    /// loads.
    public func load(percentile share: Double) -> Duration? {
        wholeLatency.percentile(share)
    }

    /// The durations of those calls to the origin that it answered.
    package var originAnswerLatency: Sketch { originLatency.since(originFailureLatency) }

    /// The times that callers waited, for all outcomes together.
    package var wholeLatency: Sketch { latency.values.reduce(into: Sketch()) { $0.merge($1) } }

    // MARK: Adding and subtracting

    /// Adds the metrics of another process or time.
    package mutating func merge(_ other: ResourceMetrics) {
        counts.merge(other.counts)
        faults.merge(other.faults) { $0.plus($1) }
        for (outcome, sketch) in other.latency { latency[outcome, default: Sketch()].merge(sketch) }
        for (freshness, sketch) in other.ages { ages[freshness, default: Sketch(.age)].merge(sketch) }
        for (timing, sketch) in other.timings { timings[timing, default: Sketch()].merge(sketch) }
        originLatency.merge(other.originLatency)
        originFailureLatency.merge(other.originFailureLatency)
        alternatives.merge(other.alternatives)
    }

    /// Returns the metrics since `earlier`, which is a former state of these metrics.
    package func since(_ earlier: ResourceMetrics) -> ResourceMetrics {
        var difference = self
        difference.counts = counts.since(earlier.counts)
        for (fault, count) in earlier.faults { difference.faults[fault]? -= min(faults[fault] ?? 0, count) }
        for (outcome, sketch) in earlier.latency { difference.latency[outcome] = latency[outcome]?.since(sketch) }
        for (freshness, sketch) in earlier.ages { difference.ages[freshness] = ages[freshness]?.since(sketch) }
        for (timing, sketch) in earlier.timings { difference.timings[timing] = timings[timing]?.since(sketch) }
        difference.originLatency = originLatency.since(earlier.originLatency)
        difference.originFailureLatency = originFailureLatency.since(earlier.originFailureLatency)
        difference.alternatives = alternatives.since(earlier.alternatives)
        return difference
    }
}

extension FixedWidthInteger {
    /// Returns the sum, or the largest number if the sum overflows. A dump may contain any numbers.
    package func plus(_ other: Self) -> Self {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? .max : sum
    }
}

extension ResourceMetrics {
    /// The number of loads, without those that are counted apart.
    public var loads: UInt64 { self[.loads] }
}
