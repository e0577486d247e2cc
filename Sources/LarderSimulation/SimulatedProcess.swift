import LarderFoundation
package import LarderSystem

/// A process in a simulated world, with a clock of its own, which can end at any moment as by a crash. A process that has ended
/// reads, writes and calls nothing any more.
package final class SimulatedProcess: World {
    /// The error of whatever a process that has ended does.
    package struct Ended: Error {
        package init() {}
    }

    package let base: SimulatedWorld
    private let clock: Duration
    private let ended = Locked(false)
    /// Told after each use of a thread that may block, with its name.
    private let used: @Sendable (_ name: String, SimulatedProcess) -> Void

    /// - Parameters:
    ///   - base: the world.
    ///   - clock: how far its clock is ahead of the world's, in milliseconds.
    ///   - used: is told after each use of a thread that may block, with its name.
    package init(
        _ base: SimulatedWorld, clock: Int64 = 0,
        used: @escaping @Sendable (_ name: String, SimulatedProcess) -> Void = { _, _ in }
    ) {
        (self.base, self.clock, self.used) = (base, .milliseconds(clock), used)
    }

    package var hasEnded: Bool { ended.withLock { $0 } }

    /// Ends the process at once, as a crash does.
    package func end() { ended.withLock { $0 = true } }

    /// - Throws: ``Ended`` if the process has ended.
    package func check() throws { if hasEnded { throw Ended() } }

    package var now: Timestamp { base.now + clock }
    package var uptime: Duration { base.uptime }
    package var hashSeed: UInt64? { base.hashSeed }
    package var network: NetworkState { base.network }
    package var networkChanges: AsyncStream<NetworkState> { base.networkChanges }
    package var hasOtherProcesses: Bool { false }

    package func random() -> UInt64 { base.random() }

    package func onNetworkChange(_ changed: @escaping @Sendable () -> Void) -> Subscription {
        base.onNetworkChange(changed)
    }

    package func sleep(for duration: Duration) async throws {
        try await base.sleep(for: hasEnded ? .forever : duration)
    }

    package func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        base.alarm(after: delay) { [self] in if !hasEnded { action() } }
    }

    @discardableResult
    package func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.spawn(work) }

    package func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try check()
        return try work()
    }

    package func blocking<Value: Sendable>(
        on name: String, atMost limit: Int, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try check()
        let value = try work()
        used(name, self)
        try check()
        return value
    }
}
