import LarderFoundation

/// The surroundings of a cache: time, randomness, background work and blocking I/O.
///
/// Larder reads no clock, starts no task and draws no random number except through a world. The real one is
/// ``SystemWorld``; the `LarderSimulation` library has one in which time is virtual and every run can be replayed.
///
/// All methods may be called from any thread.
public protocol World: Sendable {
    /// The wall time, used for ages. It may jump in either direction.
    var now: Timestamp { get }

    /// A wall time that may be up to 20 ms behind ``now``, if this makes it faster to read. By default ``now``.
    ///
    /// Hits use it for copies that become stale later than that.
    var roughNow: Timestamp { get }

    /// The time since some fixed moment, used for timeouts and measurements. It never jumps.
    var uptime: Duration { get }

    /// Returns 64 random bits.
    func random() -> UInt64

    /// Returns a random number in 0 ..< 1 for a decision that nobody gains from guessing. By default made of ``random()``.
    /// Every load that saves an entry draws one, so it should be quick.
    func chance() -> Double

    /// Returns the world for the parts of one resource. By default this world itself.
    ///
    /// A simulated world gives each resource random numbers of its own, so that the history of one resource does not
    /// depend on which others there are.
    func world(of resource: String) -> any World

    /// Returns when `duration` has passed.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(for duration: Duration) async throws

    /// Does `action` once when `delay` has passed, unless the alarm is cancelled first. The action must be quick and may not
    /// block. By default each alarm sleeps in a task of its own; both of Larder's worlds use one task for all of them.
    func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm

    /// Starts work that outlives its caller.
    @discardableResult
    func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never>

    /// Starts work that outlives its caller and never blocks. Runs it on the caller's thread until it first waits, which
    /// spares waking another thread. By default, the same as ``spawn(_:)``.
    @discardableResult
    func begin(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never>

    /// Runs `work` on a thread that may block, never on Swift's cooperative pool, and returns what it returns. The threads
    /// are shared by all callers and few, so work that hangs may hold up other work.
    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value

    /// Runs `work` on a thread that may block and that only this name uses, and returns what it returns. Work that hangs
    /// holds up no other name, and no work on the shared threads.
    ///
    /// Work under one name begins in the order of the calls. By default, runs the work on the shared threads, so work that
    /// must not overlap needs a lock as well.
    ///
    /// - Parameters:
    ///   - name: the name, such as the path of the folder that the work uses. It is shown nowhere.
    ///   - limit: the largest number of threads for this name. Every call for a name passes the same number.
    ///   - work: the work. It may block.
    func blocking<Value: Sendable>(
        on name: String, atMost limit: Int, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value

    /// The state of the network now. By default unknown.
    var network: NetworkState { get }

    /// A stream of the states of the network: the present one, then each new one. A slow reader misses states that were
    /// replaced, never the latest. Each access returns a new stream. By default it ends after the present state.
    var networkChanges: AsyncStream<NetworkState> { get }

    /// Calls `changed` after each change of ``network``, on any thread, until the subscription ends. By default a task reads
    /// ``networkChanges``.
    func onNetworkChange(_ changed: @escaping @Sendable () -> Void) -> Subscription

    /// Says whether the device is being charged or has no battery. Nil if it is not known, which is the default.
    /// Background work may ask this once a minute.
    var isCharging: Bool? { get }

    /// The seed of the hashes that evictions see, so that they are the same in every replay of a simulated run. By
    /// default nil: evictions see the process's own hashes, which are random.
    var hashSeed: UInt64? { get }

    /// Whether other processes may use the same files. By default true. A simulated world has one process, so that nothing
    /// needs to watch for others.
    var hasOtherProcesses: Bool { get }

    /// Returns a stream of the changes in a folder, until its reader stops. By default the folder is examined every
    /// second.
    func changes(in folder: String) -> AsyncStream<FolderChange>

    /// Returns a stream with an element each time the process receives the signal of this name, such as `USR1`, until
    /// its reader stops. The signal then has no other effect. By default there are no signals.
    func signals(_ name: String) -> AsyncStream<Void>

    /// Holds back signals that would end the process (`TERM`, `INT`, `HUP`, `QUIT`) and returns a stream of them, until
    /// its reader stops. A signal has its effect when the reader releases it. By default no signal is held.
    func heldSignals(_ names: [String]) -> AsyncStream<HeldSignal>
}

extension World {
    /// Starts a task.
    @discardableResult
    public func begin(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { spawn(work) }

    /// Runs `work` on the shared threads.
    public func blocking<Value: Sendable>(
        on name: String, atMost limit: Int, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await blocking(work)
    }

    /// Runs `work` on the one thread of `name`, after the work that waits for it already, and returns what it returns.
    /// See ``blocking(on:atMost:_:)``.
    public func blocking<Value: Sendable>(
        on name: String, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await blocking(on: name, atMost: 1, work)
    }

    /// This world itself.
    public func world(of resource: String) -> any World { self }

    /// The exact time.
    public var roughNow: Timestamp { now }

    /// An unknown state.
    public var network: NetworkState { .unknown }

    /// A stream that ends after the present state.
    public var networkChanges: AsyncStream<NetworkState> {
        AsyncStream { stream in
            stream.yield(network)
            stream.finish()
        }
    }

    /// Reads ``networkChanges`` in a task.
    public func onNetworkChange(_ changed: @escaping @Sendable () -> Void) -> Subscription {
        let task = spawn { for await _ in networkChanges { changed() } }
        return Subscription { task.cancel() }
    }

    /// Nil: nothing is known.
    public var isCharging: Bool? { nil }

    /// True.
    public var hasOtherProcesses: Bool { true }

    /// Returns an empty stream.
    public func signals(_ name: String) -> AsyncStream<Void> { AsyncStream { $0.finish() } }

    /// Returns an empty stream.
    public func heldSignals(_ names: [String]) -> AsyncStream<HeldSignal> { AsyncStream { $0.finish() } }

    /// No seed: evictions see the process's own hashes.
    public var hashSeed: UInt64? { nil }

    /// Returns the hash by which a store tells its eviction of a text. It is `processHash`, which nobody can foresee.
    /// If ``hashSeed`` is set, it is instead a hash that is the same in every run.
    public func evictionHash(of text: @autoclosure () -> String, processHash: Int) -> Int {
        guard let hashSeed else { return processHash }
        return text().utf8.reduce(Int(truncatingIfNeeded: hashSeed)) { ($0 ^ Int($1)) &* 0x100_0000_01B3 }
    }

    /// Returns a random number in 0 ..< 1, made of ``random()``.
    public func chance() -> Double { random().asChance }

    /// Returns 16 random hexadecimal digits.
    package func token() -> String {
        let digits = String(random(), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Returns a random time with the log-normal distribution that calls over a network have.
    ///
    /// Half of all results are below `middle`, and 99 of 100 are below `slowest`.
    public func chance(around middle: Duration, slowest: Duration) -> Duration {
        middle.varied(slowest: slowest, by: chance(), chance())
    }
}

extension UInt64 {
    /// Random bits as a random number in 0 ..< 1.
    var asChance: Double { Double(self >> 11) * 0x1p-53 }
}

extension Duration {
    /// Returns a time with the log-normal distribution that calls over a network have: half of all results are below this
    /// duration, and 99 of 100 are below `slowest`. The chances are random numbers in 0 ..< 1.
    package func varied(slowest: Duration, by first: Double, _ second: Double) -> Duration {
        let least = max(inSeconds, 1e-6)
        let width = log(max(slowest.inSeconds, least) / least) / 2.326
        let normal = sqrt(-2 * log(max(first, 1e-12))) * cos(2 * .pi * second)
        return scaled(by: exp(width * normal))
    }
}
