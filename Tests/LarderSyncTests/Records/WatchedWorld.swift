import Larder
import LarderSimulation
import LarderSystem

/// A simulated world with other processes, which counts the watches of the folder by which they tell of their changes, and
/// uses of the disk.
struct WatchedWorld: World {
    let base: SimulatedWorld
    let watches = Locked(0)
    let uses = Locked(0)

    var now: Timestamp { base.now }
    var uptime: Duration { base.uptime }
    func random() -> UInt64 { base.random() }
    func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
    func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.spawn(work) }
    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        uses.withLock { $0 += 1 }
        return try await base.blocking(work)
    }

    func changes(in folder: String) -> AsyncStream<FolderChange> {
        let (stream, continuation) = AsyncStream<FolderChange>.makeStream()
        guard folder.hasSuffix("-users") else { return stream }
        watches.withLock { $0 += 1 }
        continuation.onTermination = { [watches] _ in watches.withLock { $0 -= 1 } }
        return stream
    }
}
