package import LarderSystem
import Synchronization

/// Counts what happens to one resource under one revision of its policy.
package final class Meter: Sendable {
    struct State {
        /// The metrics up to the last update of the windows.
        var total = ResourceMetrics()
        /// The metrics since the last update of the windows, without the hits that needed no waiting.
        var added = ResourceMetrics()
        var windows: SlidingMetrics
        var inFlight = 0
        /// The time of the last update while the device has had no network; nil while it has one.
        var offlineSince: Duration?
        /// The refreshes whose result is not known to be used: for each place of ``HitMeter``, the end of freshness.
        var refreshes: [Int: Timestamp] = [:]

    }

    let resource: String
    /// The revision of the policy.
    let revision: String
    /// The name of the policy's strategy.
    let strategy: String
    /// The share of decisions that are logged, from 0 to 1.
    private let loggedShare: Double
    /// The metrics of the plugins that the policy names. Other metrics of plugins are ignored.
    let plugins: PluginMetrics
    let sinks: EventSinks
    let world: any World
    let hits = HitMeter()
    let state: Locked<State>
    /// The number of the interval of wall time, about 8.6 s long, in which something was counted last. The windows are
    /// updated when the interval changes.
    private let tick = Atomic<Int64>(.min)

    package init(
        resource: String = "", revision: String = "", strategy: String = "",
        loggedShare: Double = 1,
        plugins: PluginMetrics = PluginMetrics(), sinks: EventSinks = EventSinks(), world: any World
    ) {
        self.resource = resource
        self.loggedShare = loggedShare
        self.plugins = plugins
        self.sinks = sinks
        self.revision = revision
        self.strategy = strategy
        self.world = world
        state = Locked(State(windows: SlidingMetrics(uptime: world.uptime, now: world.now)))
    }

    // MARK: Reading

    /// The metrics up to now.
    package var current: ResourceMetrics {
        var current = withPlugins(readAfterUpdate { $0.total })
        current.revision = revision
        return current
    }

    /// Returns the metrics of the last `length`: see ``SlidingMetrics/last(_:uptime:)``.
    func last(_ length: Duration) -> ResourceMetrics {
        let uptime = world.uptime
        return withPlugins(readAfterUpdate { $0.windows.last(length, uptime: uptime) })
    }

    /// Returns metrics with the counters of the plugins, also those at zero.
    private func withPlugins(_ counted: ResourceMetrics) -> ResourceMetrics {
        var metrics = ResourceMetrics(counters: plugins.counters)
        metrics.merge(counted)
        return metrics
    }

    /// The counts in each five minutes of the last day.
    var periods: [FiveMinutes] { readAfterUpdate { $0.windows.periods } }

    /// The number of loads that have not ended.
    var inFlight: Int { state.withLock { $0.inFlight } }

    /// Updates the windows, then returns the result of `read`.
    private func readAfterUpdate<Result>(_ read: (State) -> Result) -> Result {
        let (uptime, now) = (world.uptime, world.now)
        return state.withLock { state in
            hits.drain(into: &state.added)
            for place in Array(state.refreshes.keys) { settle(place, at: now, &state) }
            if let since = state.offlineSince {
                // The rest of a millisecond is counted next time.
                let time = Duration.nanoseconds((uptime - since).nanoseconds / 1_000_000 * 1_000_000)
                state.added.countOffline(for: time)
                state.offlineSince = since + time
            }
            state.windows.record(state.added, uptime: uptime, now: now)
            if !state.added.isEmpty {
                state.total.merge(state.added)
                state.added = ResourceMetrics()
            }
            return read(state)
        }
    }

    // MARK: Counting

    /// Adds to one of Larder's own counters.
    func count(_ counter: Counter) { change { $0.count(counter) } }

    /// Adds to a counter that a plugin of the policy declares. Any other counter is ignored: Larder's own must not be
    /// falsified by a plugin, and the name of an undeclared one could be anything.
    func count(declared counter: Counter, _ times: UInt64) {
        guard counter.index == nil, plugins.counters.contains(counter) else { return }
        change { $0.count(counter, times) }
    }

    /// Records a duration of a timing that a plugin of the policy declares. Any other timing is ignored.
    func record(declared timing: Timing, _ duration: Duration) {
        guard plugins.timings.contains(timing) else { return }
        change { $0.timings[timing, default: Sketch()].record(max(.zero, duration)) }
    }

    /// Counts a load that was answered at once by a copy of known age, without a failed or slow call.
    @inline(__always)
    package func hit(_ copy: borrowing CopyFacts, hash: Int) {
        // The sum of the start of the age and the age is the present time, so that no clock is read.
        updateWindows(at: (copy.ageStart &+ copy.age) >> 33)
        hits.record(copy.age, copy.size, isFresh: copy.isFresh, hash: hash)
    }

    /// Updates the windows if a new interval has begun.
    @inline(__always)
    private func updateWindows(at present: Int64) {
        if tick.load(ordering: .relaxed) != present { moveWindows(to: present) }
    }

    private func moveWindows(to present: Int64) {
        // The rough clock of hits may still be in the interval that others have left.
        if tick.load(ordering: .relaxed) == present &+ 1 { return }
        tick.store(present, ordering: .relaxed)
        readAfterUpdate { _ in }
    }

    func change(_ change: (inout ResourceMetrics) -> Void) {
        // Earlier counts must go to the windows of the earlier time.
        updateWindows(at: world.now.nanoseconds >> 33)
        state.withLock { change(&$0.added) }
    }

    /// Notes that the network was lost, or has returned. The loads in between are counted as offline loads.
    ///
    /// - Parameter isNewSpell: whether the loss is counted. It is not if another meter has counted it.
    func setOffline(_ isOffline: Bool, isNewSpell: Bool = true) {
        readAfterUpdate { _ in }
        let uptime = world.uptime
        state.withLock { state in
            if isOffline, isNewSpell, state.offlineSince == nil { state.added.count(.offlineSpells) }
            state.offlineSince = isOffline ? uptime : nil
        }
    }

    /// Notes the start of a load that could not be answered at once.
    func loadBegan() { state.withLock { $0.inFlight += 1 } }

    /// Notes the end of a load that was not answered at once.
    func loadEnded() { state.withLock { $0.inFlight -= 1 } }

    /// Returns whether a plugin of the policy declares the level and the value.
    func knows(_ level: Level, at value: String) -> Bool {
        plugins.levels.contains { $0 == level && $0.values.contains(value) }
    }

    /// Returns whether a plugin of the policy declares the gauge.
    func knows(_ gauge: Gauge) -> Bool { plugins.gauges.contains(gauge) }

    /// Counts a load that ended with a value.
    ///
    /// - Parameter hash: the hash of its key.
    func ended(_ loaded: Loaded<Entry>, hash: Int, after duration: Duration) {
        let outcome = Outcome(of: loaded)
        if outcome == .fresh { hits.served(hash) }
        change { metrics in
            metrics.count(.loads)
            metrics.count(.bytesOut, UInt64(loaded.value.payload.bytes.count))
            if outcome == .fresh || outcome == .stale { metrics.count(.hits) }
            if loaded.fellBack { metrics.count(.fallbacks) }
            metrics.latency[outcome, default: Sketch()].record(duration)
            guard case .store = loaded.source else { return }
            if loaded.freshness == .stale { metrics.count(.stale) }
            if let age = loaded.age { metrics.ages[loaded.freshness, default: Sketch(.age)].record(age) }
        }
    }

    /// Counts a load that ended with an error other than cancellation.
    func failed(_ error: LoadError?, after duration: Duration) {
        change { metrics in
            metrics.count(.loads)
            metrics.count(.failures)
            if error?.code == .answer { metrics.count(.answers) }
            if error?.copyRefused == true { metrics.count(.staleErrors) }
            if let window = error?.neededWindow { metrics.alternatives.refusedForAge.record(window) }
            metrics.latency[.failed, default: Sketch()].record(duration)
        }
    }

    /// Counts a background refresh that ended.
    func refreshed(failed: Bool) {
        change { metrics in
            metrics.count(.refreshes)
            if failed { metrics.count(.refreshErrors) }
        }
    }

    /// Counts a call to the origin that ended with a value, an "unchanged" or a failure.
    func originCalled(
        failed: Bool, unchanged: Bool, conditional: Bool, bytes: Int, after duration: Duration
    ) {
        change { metrics in
            metrics.count(.originCalls)
            if failed { metrics.count(.originErrors) }
            if conditional { metrics.count(.revalidations) }
            if unchanged { metrics.count(.unchanged) }
            metrics.count(.bytesIn, UInt64(bytes))
            metrics.originLatency.record(duration)
            if failed { metrics.originFailureLatency.record(duration) }
        }
    }

    /// Counts a call to the origin that was cancelled. `duration` is nil unless a timeout cancelled the call.
    func originGivenUp(after duration: Duration?) {
        change { metrics in
            metrics.count(.originCalls)
            guard let duration else { return }
            metrics.originLatency.record(duration)
            metrics.originFailureLatency.record(duration)
        }
    }

    /// Counts failures of stores.
    func faulted(_ faults: [StoreFault], _ kind: StoreFaultKey.Kind) {
        change { metrics in
            for fault in faults {
                let fault = StoreFaultKey(tier: fault.tier, kind: kind)
                metrics.faults[fault] = (metrics.faults[fault] ?? 0).plus(1)
            }
        }
    }

    // MARK: Sending

    /// Returns whether anyone listens to reports of such a load. A plain load, which returned live or fresh data, is
    /// not logged.
    @inline(__always)
    func isReported(plain isPlain: Bool) -> Bool {
        !sinks.loads.isEmpty || !isPlain && logsDecisions
    }

    /// Whether decisions are logged, at least some of them.
    @inline(__always)
    var logsDecisions: Bool { !sinks.decisions.isEmpty && loggedShare > 0 }

    /// Sends the report of a load to its listeners, and the decision to the log.
    func send(_ report: LoadReport) {
        if !sinks.loads.isEmpty { sinks.loads.send(report) }
        if !sinks.decisions.isEmpty, let decision = Decision(report), isLogged { sinks.decisions.send(decision) }
    }

    /// Sends a decision to its listeners.
    func send(_ kind: Decision.Kind, _ note: @autoclosure () -> String) {
        guard !sinks.decisions.isEmpty, isLogged else { return }
        sinks.decisions.send(
            Decision(
                at: world.now, resource: resource.isEmpty ? nil : resource, revision: revision.isEmpty ? nil : revision,
                kind: kind, note: note()))
    }

    private var isLogged: Bool { loggedShare >= 1 || loggedShare > 0 && world.chance() < loggedShare }
}
