import Larder
import LarderSystem
import LarderSimulation

/// A simulated world in which blocking work takes a random time of up to 6 ms, part of it before and part of it after the
/// work. So other tasks go on before a file is read or changed, and before its caller hears of it.
struct SlowDiskWorld: World {
    private let base: SimulatedWorld
    private let count = Locked(0)

    init(_ base: SimulatedWorld) { self.base = base }

    /// The number of pieces of blocking work that have begun.
    var blocked: Int { count.withLock { $0 } }

    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        count.withLock { $0 += 1 }
        await pause()
        let result = Result { try work() }
        await pause()
        return try result.get()
    }

    private func pause() async {
        // Files are read and changed even if the caller's task is cancelled.
        try? await base.sleep(for: .milliseconds(3).scaled(by: base.chance()))
    }

    var now: Timestamp { base.now }
    var uptime: Duration { base.uptime }
    var network: NetworkState { base.network }
    var networkChanges: AsyncStream<NetworkState> { base.networkChanges }
    var hasOtherProcesses: Bool { false }
    var hashSeed: UInt64? { base.hashSeed }
    func random() -> UInt64 { base.random() }
    func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
    func changes(in folder: String) -> AsyncStream<FolderChange> { base.changes(in: folder) }
    func onNetworkChange(_ changed: @escaping @Sendable () -> Void) -> Subscription { base.onNetworkChange(changed) }

    func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        base.alarm(after: delay, action)
    }

    @discardableResult
    func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.spawn(work) }
}
