import Larder

/// A simulated world as the parts of one resource see it: the random numbers are the resource's own.
struct ResourceWorld: World {
    let resource: String
    let base: SimulatedWorld

    func random() -> UInt64 { base.random(of: resource) }

    func world(of resource: String) -> any World { base.world(of: resource) }

    var now: Timestamp { base.now }

    var uptime: Duration { base.uptime }

    var hashSeed: UInt64? { base.hashSeed }

    var network: NetworkState { base.network }

    var networkChanges: AsyncStream<NetworkState> { base.networkChanges }

    func onNetworkChange(_ changed: @escaping @Sendable () -> Void) -> Subscription { base.onNetworkChange(changed) }

    var isCharging: Bool? { base.isCharging }

    func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }

    func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        base.alarm(after: delay, action)
    }

    @discardableResult
    func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.spawn(work) }
    func begin(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.begin(work) }

    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await base.blocking(work)
    }

    func blocking<Value: Sendable>(
        on name: String, atMost limit: Int, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await base.blocking(on: name, atMost: limit, work)
    }

    var hasOtherProcesses: Bool { base.hasOtherProcesses }
    func changes(in folder: String) -> AsyncStream<FolderChange> { base.changes(in: folder) }

    func signals(_ name: String) -> AsyncStream<Void> { base.signals(name) }

    func heldSignals(_ names: [String]) -> AsyncStream<HeldSignal> { base.heldSignals(names) }
}
