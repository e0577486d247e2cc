#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Everything a cache needs of its surroundings: time, randomness, background work and blocking I/O.
///
/// Larder reads no clock, starts no task and draws no random number except through a world. The real one is
/// ``SystemWorld``; the `LarderSimulation` library has one in which time is virtual and every run can be replayed.
///
/// All methods may be called from any thread.
public protocol World: Sendable {
    /// Wall time: for ages. It may jump in either direction.
    var now: Timestamp { get }

    /// Time since some fixed moment that never jumps: for timeouts and measurements.
    var uptime: Duration { get }

    /// Sixty-four random bits.
    func random() -> UInt64

    /// Returns when `duration` has passed.
    ///
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func sleep(for duration: Duration) async throws

    /// Starts work that outlives its caller.
    @discardableResult
    func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never>

    /// Runs `work` on a thread that may block, never on Swift's cooperative pool, and returns what it returns.
    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value

    /// What hashes begin with that must come out alike whenever a history is replayed; nil, the default, for the process's
    /// own hashes, which nobody can foresee.
    var hashSeed: UInt64? { get }

    /// Tells whenever something in a folder may have changed, and what, until nobody listens any more. By default the
    /// folder is looked at every second.
    func changes(in folder: String) -> AsyncStream<FolderChange>

    /// Tells whenever the process gets the signal of this name (`USR1`), which then does nothing else, until nobody listens
    /// any more. By default there are no signals.
    func signals(_ name: String) -> AsyncStream<Void>

    /// Holds back signals of these names that would end the process (`TERM`, `INT`, `HUP`, `QUIT`), and tells of each, until nobody
    /// listens any more. The listener releases a signal when it may have its effect. By default none are held.
    func heldSignals(_ names: [String]) -> AsyncStream<HeldSignal>
}

extension World {
    /// None.
    public func signals(_ name: String) -> AsyncStream<Void> { AsyncStream { $0.finish() } }

    /// None.
    public func heldSignals(_ names: [String]) -> AsyncStream<HeldSignal> { AsyncStream { $0.finish() } }

    /// None: hashes are the process's own.
    public var hashSeed: UInt64? { nil }

    /// What an eviction knows a text by, whose own hash is `hash`.
    func mark(of text: String, hash: Int) -> Int {
        guard let hashSeed else { return hash }
        return text.utf8.reduce(Int(truncatingIfNeeded: hashSeed)) { ($0 ^ Int($1)) &* 0x100_0000_01B3 }
    }

    /// A random number in 0 ..< 1.
    public func chance() -> Double {
        Double(random() >> 11) * 0x1p-53
    }

    /// Sixteen random hexadecimal digits.
    package func token() -> String {
        let digits = String(random(), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// A random log-normal time, such as calls over a network take: half of all are below `middle`, 99 of 100 below
    /// `slowest`.
    package func chance(around middle: Duration, slowest: Duration) -> Duration {
        let least = max(middle.inSeconds, 1e-6)
        let width = log(max(slowest.inSeconds, least) / least) / 2.326
        let normal = sqrt(-2 * log(max(chance(), 1e-12))) * cos(2 * .pi * chance())
        return middle.scaled(by: exp(width * normal))
    }
}
