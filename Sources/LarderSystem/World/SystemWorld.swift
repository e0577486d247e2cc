import LarderFoundation

/// The real world, with the system's clocks, random numbers and network, Swift's tasks, and threads of its own for blocking
/// I/O: a few that are shared, and a few for each name.
public struct SystemWorld: World {
    private let threads: BlockingThreads
    private let named = NamedThreads()
    private let timer = SharedTimer(keepsSleeper: true)
    private let chances = Chances()
    private let networkSource: any NetworkSource
    private let powerSource: any PowerSource

    /// Makes a world.
    ///
    /// - Parameters:
    ///   - blockingThreads: the largest number of shared threads for blocking I/O. Each starts when it is first needed.
    ///   - network: the source of the state of the network: by default the system, which is asked when the state is first
    ///     needed. Pass a ``ManualNetwork`` if the app knows better.
    ///   - power: the source that tells whether the device is being charged: by default the system. Pass a ``ManualPower``
    ///     if the app knows better.
    public init(
        blockingThreads: Int = 4, network: any NetworkSource = SystemNetwork(), power: any PowerSource = SystemPower()
    ) {
        threads = BlockingThreads(limit: max(1, blockingThreads))
        networkSource = network
        powerSource = power
    }

    /// The system's wall clock.
    public var now: Timestamp { Timestamp(nanoseconds: Self.read(CLOCK_REALTIME)) }

    #if !canImport(Darwin)
        /// The system's wall clock at its last tick, at most 10 ms ago.
        public var roughNow: Timestamp { Timestamp(nanoseconds: Self.read(CLOCK_REALTIME_COARSE)) }
    #endif

    /// The system's monotonic clock.
    public var uptime: Duration { .nanoseconds(Self.read(CLOCK_MONOTONIC)) }

    /// Returns a random number from the system.
    public func random() -> UInt64 { .random(in: .min ... .max) }

    /// Returns a random number without a system call.
    public func chance() -> Double { chances.next().asChance }

    /// The state of the network, as the source of this world tells it.
    public var network: NetworkState { networkSource.state }

    /// A stream of the present state of the network and then each new one, until its reader stops.
    public var networkChanges: AsyncStream<NetworkState> { networkSource.changes }

    /// Calls `changed` after each change of ``network``, on any thread, until the subscription ends.
    public func onNetworkChange(_ changed: @escaping @Sendable () -> Void) -> Subscription {
        networkSource.onChange(changed)
    }

    /// Whether the device is being charged, as the source of this world tells it.
    public var isCharging: Bool? { powerSource.isCharging }

    /// Sleeps in real time.
    public func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: min(duration, .seconds(Int64(1) << 31)))
    }

    /// Sets an alarm. All alarms of this world sleep in one task.
    public func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        timer.set(after: delay, in: self, action)
    }

    /// Starts a task of Swift's default executor.
    @discardableResult
    public func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task.detached { await work() }
    }

    /// Starts a task on the caller's thread, where the system can.
    @discardableResult
    public func begin(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return spawn(work) }
        return Task.immediateDetached { await work() }
    }

    /// Runs `work` on one of this world's shared threads.
    public func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await Suspension<Result<Value, any Error>>.wait { task in
            threads.run { task.resume(returning: Result { try work() }) }
            return nil
        }.get()
    }

    /// Runs `work` on one of the threads of `name`. A thread ends when it has been idle for ten seconds, or when the world
    /// is gone and its work is done.
    public func blocking<Value: Sendable>(
        on name: String, atMost limit: Int, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await Suspension<Result<Value, any Error>>.wait { task in
            named.run(on: name, atMost: limit) { task.resume(returning: Result { try work() }) }
            return nil
        }.get()
    }

    @inline(__always)
    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
