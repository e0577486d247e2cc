import Larder
import LarderSystem
import LarderSimulation

/// The world of a device that sleeps now and then. While it sleeps, no alarm rings; each rings when the device wakes. The
/// monotonic clock goes on or stands still, as on different systems.
final class SleepyWorld: World {
    private struct State {
        var asleepSince: Duration?
        var slept = Duration.zero
        var missed: [@Sendable () -> Void] = []
    }

    private let base: SimulatedWorld
    private let stopsClock: Bool
    private let state = Locked(State())

    init(_ base: SimulatedWorld, stopsClock: Bool) {
        (self.base, self.stopsClock) = (base, stopsClock)
    }

    /// Lets the device sleep for a time.
    func doze(for time: Duration) async throws {
        state.withLock { $0.asleepSince = base.uptime }
        try await base.sleep(for: time)
        let missed = state.withLock { state in
            if stopsClock { state.slept += time }
            state.asleepSince = nil
            defer { state.missed = [] }
            return state.missed
        }
        for action in missed { action() }
    }

    var now: Timestamp { base.now }
    var network: NetworkState { base.network }
    var hasOtherProcesses: Bool { false }
    var hashSeed: UInt64? { base.hashSeed }

    var uptime: Duration {
        state.withLock { state in (stopsClock ? state.asleepSince ?? base.uptime : base.uptime) - state.slept }
    }

    func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        // The present alarm of the simulated world; nil if this one is cancelled.
        let present = Locked<Alarm?>(Alarm {})
        set(at: uptime + delay, present, action)
        return Alarm { present.withLock { $0.take() }?.cancel() }
    }

    private func set(at end: Duration, _ present: Locked<Alarm?>, _ action: @escaping @Sendable () -> Void) {
        let alarm = base.alarm(after: max(.zero, end - uptime)) { [weak self] in self?.ring(at: end, present, action) }
        present.withLock { $0 = alarm }
    }

    private func ring(at end: Duration, _ present: Locked<Alarm?>, _ action: @escaping @Sendable () -> Void) {
        let isAsleep = state.withLock { state in
            if state.asleepSince != nil { state.missed.append { [weak self] in self?.ring(at: end, present, action) } }
            return state.asleepSince != nil
        }
        if isAsleep || present.withLock({ $0 == nil }) { return }
        if uptime < end { set(at: end, present, action) } else { action() }
    }

    func random() -> UInt64 { base.random() }
    func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
    func changes(in folder: String) -> AsyncStream<FolderChange> { base.changes(in: folder) }

    func onNetworkChange(_ changed: @escaping @Sendable () -> Void) -> Subscription { base.onNetworkChange(changed) }

    @discardableResult
    func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.spawn(work) }

    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await base.blocking(work)
    }
}
