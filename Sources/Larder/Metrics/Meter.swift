import Synchronization

/// Counts what happens to one resource under one revision of its policy.
package final class Meter: Sendable {
    private struct State {
        /// What the windows know of.
        var total = ResourceMetrics()
        /// What was counted since they were told the last time, but for the hits that needed no waiting.
        var added = ResourceMetrics()
        var windows: Windows
        var inFlight = 0
        var breaker: BreakerLevel?
    }

    let resource: String
    /// The revision of the policy.
    let revision: String
    /// The name of its strategy.
    let strategy: String
    /// The share of decisions that are told.
    private let told: Double
    let hearing: Hearing
    let world: any World
    private let hits = HitMeter()
    private let state: Locked<State>
    /// Which eight seconds of wall time were last seen: in others, windows may have to move on.
    private let tick = Atomic<Int64>(.min)

    package init(
        resource: String = "", revision: String = "", strategy: String = "", told: Double = 1,
        hearing: Hearing = Hearing(), world: any World
    ) {
        self.resource = resource
        self.told = told
        self.hearing = hearing
        self.revision = revision
        self.strategy = strategy
        self.world = world
        state = Locked(State(windows: Windows(uptime: world.uptime, now: world.now)))
    }

    // MARK: Reading

    /// What was counted so far.
    package var current: ResourceMetrics {
        var current = moved { $0.total }
        current.revision = revision
        return current
    }

    /// What happened in the last `length`, as ``Windows`` tells it.
    func last(_ length: Duration) -> ResourceMetrics {
        let uptime = world.uptime
        return moved { $0.windows.last(length, uptime: uptime) }
    }

    /// What was counted in each five minutes of the last day.
    var periods: [Period] { moved { $0.windows.periods } }

    /// Loads that have not ended.
    var inFlight: Int { state.withLock { $0.inFlight } }

    /// What the breaker is at that changed last; nil if there is none.
    var breaker: BreakerLevel? { state.withLock { $0.breaker } }

    /// Brings the windows up to date and reads what is wanted.
    private func moved<Result>(_ read: (State) -> Result) -> Result {
        let (uptime, now) = (world.uptime, world.now)
        return state.withLock { state in
            hits.drain(into: &state.added)
            state.windows.note(state.added, uptime: uptime, now: now)
            if !state.added.isEmpty {
                state.total.merge(state.added)
                state.added = ResourceMetrics()
            }
            return read(state)
        }
    }

    // MARK: Counting

    /// Adds to a counter.
    func count(_ counter: Counter, _ times: UInt64 = 1) {
        change { $0[counter] += times }
    }

    /// A load was answered at once by a copy of a known age, which stands in for nothing.
    @inline(__always)
    package func hit(_ account: Account.Facts, _ copy: Entry.Facts, hash: Int) {
        // The copy's own time and its age tell what time it is, so no clock is read.
        keepUp((copy.since &+ account.nanoseconds) >> 33)
        hits.record(account.nanoseconds, copy.size, isFresh: account.isFresh, hash: hash)
    }

    /// Moves the windows on when time has.
    @inline(__always)
    private func keepUp(_ present: Int64) {
        if tick.load(ordering: .relaxed) != present { moveOn(present) }
    }

    private func moveOn(_ present: Int64) {
        tick.store(present, ordering: .relaxed)
        moved { _ in }
    }

    private func change(_ change: (inout ResourceMetrics) -> Void) {
        // What was counted before belongs to the time before.
        keepUp(world.now.nanoseconds >> 33)
        state.withLock { change(&$0.added) }
    }

    /// A load could not be answered at once and goes on.
    func began() { state.withLock { $0.inFlight += 1 } }

    /// A load that went on is over.
    func over() { state.withLock { $0.inFlight -= 1 } }

    /// A breaker is at this now.
    func breaker(is level: BreakerLevel) { state.withLock { $0.breaker = level } }

    /// A load ended with a value.
    func ended(_ loaded: Loaded<Entry>, after duration: Duration) {
        let outcome = Outcome(of: loaded)
        change { metrics in
            metrics[.loads] += 1
            metrics[.bytesOut] += UInt64(loaded.value.payload.bytes.count)
            if outcome == .fresh || outcome == .stale { metrics[.hits] += 1 }
            if loaded.fellBack { metrics[.fallbacks] += 1 }
            metrics.latency[outcome, default: Sketch()].record(duration)
            guard case .store = loaded.source else { return }
            if loaded.freshness == .stale { metrics[.stale] += 1 }
            if let age = loaded.age { metrics.ages[loaded.freshness, default: Sketch(.age)].record(age) }
        }
    }

    /// A load ended with an error that is no cancellation.
    func failed(_ error: LoadError?, after duration: Duration) {
        change { metrics in
            metrics[.loads] += 1
            metrics[.failures] += 1
            if error?.isAnswer == true { metrics[.answers] += 1 }
            if error?.copyRefused == true { metrics[.staleErrors] += 1 }
            metrics.latency[.failed, default: Sketch()].record(duration)
        }
    }

    /// A background refresh ended.
    func refreshed(failed: Bool) {
        change { metrics in
            metrics[.refreshes] += 1
            if failed { metrics[.refreshErrors] += 1 }
        }
    }

    /// A call of the origin ended: with a value of so many bytes, unchanged, or with a failure.
    func originCalled(
        failed: Bool, unchanged: Bool, conditional: Bool, bytes: Int, after duration: Duration
    ) {
        change { metrics in
            metrics[.originCalls] += 1
            if failed { metrics[.originErrors] += 1 }
            if conditional { metrics[.revalidations] += 1 }
            if unchanged { metrics[.unchanged] += 1 }
            metrics[.bytesIn] += UInt64(bytes)
            metrics.originLatency.record(duration)
        }
    }

    /// A call of the origin was cancelled: by a timeout after so long, or by who wanted it.
    func originGivenUp(after duration: Duration?) {
        change { metrics in
            metrics[.originCalls] += 1
            if let duration { metrics.originLatency.record(duration) }
        }
    }

    /// Stores failed.
    func faulted(_ faults: [StoreFault], _ kind: Fault.Kind) {
        change { metrics in
            for fault in faults { metrics.faults[Fault(tier: fault.tier, kind: kind), default: 0] += 1 }
        }
    }

    // MARK: Telling

    /// Whether anybody wants to hear of a load; of one that was plain the log wants not.
    @inline(__always)
    func isHeard(plain isPlain: Bool) -> Bool {
        !hearing.loads.isEmpty || !isPlain && told > 0 && !hearing.decisions.isEmpty
    }

    /// Tells those who want to hear of loads.
    func tell(_ report: LoadReport) {
        if !hearing.loads.isEmpty { hearing.loads.send(report) }
        if !hearing.decisions.isEmpty, let decision = Decision(report), isTold { hearing.decisions.send(decision) }
    }

    /// Tells those who want to hear of decisions.
    func tell(_ kind: Decision.Kind, _ note: @autoclosure () -> String) {
        guard !hearing.decisions.isEmpty, isTold else { return }
        hearing.decisions.send(
            Decision(at: world.now, resource: resource, revision: revision, kind: kind, note: note()))
    }

    private var isTold: Bool { told >= 1 || told > 0 && world.chance() < told }
}
