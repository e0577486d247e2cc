#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
#if canImport(SwiftOverlayShims)
    // Where `timespec` comes from once another module has imported it.
    import SwiftOverlayShims
#endif

/// The real world: the system's clocks, its random numbers, Swift's tasks, and a few threads of its own for blocking I/O.
public struct SystemWorld: World {
    private let threads: BlockingThreads

    /// A world with at most `blockingThreads` threads for blocking I/O, each started when first needed.
    public init(blockingThreads: Int = 4) {
        threads = BlockingThreads(limit: max(1, blockingThreads))
    }

    /// The system's wall clock.
    public var now: Timestamp { Timestamp(nanoseconds: Self.read(CLOCK_REALTIME)) }

    /// The system's monotonic clock.
    public var uptime: Duration { .nanoseconds(Self.read(CLOCK_MONOTONIC)) }

    /// The system's random numbers.
    public func random() -> UInt64 { .random(in: .min ... .max) }

    /// Sleeps in real time.
    public func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: min(duration, .seconds(Int64(1) << 31)))
    }

    /// Starts a task of Swift's default executor.
    @discardableResult
    public func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task.detached { await work() }
    }

    /// Runs `work` on one of this world's own threads.
    public func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            threads.run { continuation.resume(with: Result { try work() }) }
        }
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
