import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem

/// A process of a device: the simulated world with the device's clock and network. A process that has ended reads, writes and
/// calls nothing any more.
final class WorldProcess: World {
    /// The error of whatever a process that has ended does.
    struct Ended: Error {}

    let base: SimulatedWorld
    private let clock: Duration
    private let ended = Locked(false)
    /// Told after each transaction of the database of records.
    private let committed: @Sendable (WorldProcess) -> Void

    init(_ base: SimulatedWorld, clock: Int64, committed: @escaping @Sendable (WorldProcess) -> Void) {
        (self.base, self.clock, self.committed) = (base, .milliseconds(clock), committed)
    }

    var hasEnded: Bool { ended.withLock { $0 } }

    /// Ends the process at once, as a crash does.
    func end() { ended.withLock { $0 = true } }

    func check() throws { if hasEnded { throw Ended() } }

    var now: Timestamp { base.now + clock }
    var uptime: Duration { base.uptime }
    var hashSeed: UInt64? { base.hashSeed }
    var network: NetworkState { base.network }
    var networkChanges: AsyncStream<NetworkState> { base.networkChanges }
    var hasOtherProcesses: Bool { false }

    func random() -> UInt64 { base.random() }

    func onNetworkChange(_ changed: @escaping @Sendable () -> Void) -> Subscription { base.onNetworkChange(changed) }

    func sleep(for duration: Duration) async throws { try await base.sleep(for: hasEnded ? .forever : duration) }

    func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        base.alarm(after: delay) { [self] in if !hasEnded { action() } }
    }

    @discardableResult
    func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.spawn(work) }

    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try check()
        return try work()
    }

    func blocking<Value: Sendable>(
        on name: String, atMost limit: Int, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try check()
        let value = try work()
        if name.hasSuffix("/records.sqlite") { committed(self) }
        try check()
        return value
    }
}
