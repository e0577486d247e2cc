public import Larder

/// A world in which everything happens on one thread, time jumps, and the same seed gives the same history.
///
/// ```swift
/// try SimulatedWorld(seed: 7).run { world in
///     let pantry = try await Pantry(policies: folder, cache: cache, world: world)
///     try await world.sleep(for: .seconds(3_600))   // takes no time at all
/// }
/// ```
///
/// Tasks started inside ``run(_:)`` run on this world as long as they are child tasks or were started with
/// ``spawn(_:)``; an unstructured `Task {}` leaves it. Time stands still while anything can run and then jumps to the
/// next sleeper. ``blocking(_:)`` blocks.
public final class SimulatedWorld: World, TaskExecutor {
    /// Which of several tasks that could run runs next.
    public enum Interleaving: Sendable {
        /// The one that could first.
        case inOrder
        /// Any of them, as the seed has it.
        case shuffled
    }

    /// A run that cannot end: nothing can run and nobody sleeps, yet the body has not returned.
    public struct Stuck: Error, CustomStringConvertible {
        /// Says so.
        public let description = "stuck: everybody waits for somebody else"
    }

    private struct Sleeper {
        var number: UInt64
        var until: Duration
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var dice: Dice
        var order: Dice
        var ready: [UnownedJob] = []
        var sleepers: [Sleeper] = []
        var next: UInt64 = 0
        var uptime: Duration = .zero
        var start: Timestamp
        var running: [UInt64: Task<Void, Never>] = [:]
    }

    private let interleaving: Interleaving
    private let state: Locked<State>

    /// A world whose history `seed` decides.
    ///
    /// - Parameters:
    ///   - start: wall time at the beginning; 2026-01-05 00:00 UTC, a Monday, by default.
    ///   - interleaving: which of several tasks that could run runs next.
    public init(
        seed: UInt64 = 1, start: Timestamp = Timestamp(seconds: 1_767_571_200), interleaving: Interleaving = .inOrder
    ) {
        self.interleaving = interleaving
        state = Locked(State(dice: Dice(seed: seed), order: Dice(seed: seed ^ 0xA5A5_5A5A), start: start))
    }

    // MARK: World

    /// Virtual wall time.
    public var now: Timestamp { state.withLock { $0.start + $0.uptime } }

    /// Virtual time since the world began.
    public var uptime: Duration { state.withLock { $0.uptime } }

    /// The next of the seed's random numbers.
    public func random() -> UInt64 { state.withLock { $0.dice.next() } }

    /// Lets the virtual clock jump ahead as soon as nobody else has anything to do.
    public func sleep(for duration: Duration) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { state in
                    let until = state.uptime + max(.zero, duration)
                    let place = state.sleepers.firstIndex { $0.until <= until } ?? state.sleepers.endIndex
                    state.sleepers.insert(
                        Sleeper(number: number, until: until, continuation: continuation), at: place)
                }
                if Task.isCancelled { wake(number) }
            }
        } onCancel: {
            wake(number)
        }
    }

    /// Starts a task of this world.
    @discardableResult
    public func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let task = Task(executorPreference: self) {
            await work()
            self.state.withLock { $0.running[number] = nil }
        }
        // The task cannot have run yet: this thread is the one that would run it.
        state.withLock { $0.running[number] = task }
        return task
    }

    /// Runs `work` at once.
    public func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try work()
    }

    // MARK: Running

    /// Sets the wall clock forward or back, as a user or a time server might. Uptime is not affected.
    public func stepClock(by step: Duration) {
        state.withLock { $0.start = $0.start + step }
    }

    /// How many tasks that were spawned have not ended.
    public var unfinished: Int { state.withLock { $0.running.count } }

    /// Runs `body` and everything it starts, in virtual time, until it returns. What is still under way then is
    /// cancelled.
    ///
    /// - Throws: what `body` throws; ``Stuck`` when it can never return.
    public func run<Value: Sendable>(
        _ body: @escaping @Sendable (SimulatedWorld) async throws -> Value
    ) throws -> Value {
        let result = Locked<Result<Value, any Error>?>(nil)
        let main = spawn {
            do {
                let value = try await body(self)
                result.withLock { $0 = .success(value) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
        }
        while result.withLock({ $0 == nil }) {
            if runNext() { continue }
            if wakeNext() { continue }
            main.cancel()
            finish()
            throw Stuck()
        }
        finish()
        guard let outcome = result.withLock({ $0 }) else { throw Stuck() }
        return try outcome.get()
    }

    /// Cancels what is left and lets it end.
    private func finish() {
        while runNext() {}
        for task in state.withLock({ $0.running.sorted { $0.key < $1.key }.map(\.value) }) { task.cancel() }
        while runNext() {}
    }

    /// Takes over a job that can run.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.ready.append(job) }
    }

    private func runNext() -> Bool {
        let job = state.withLock { state -> UnownedJob? in
            guard !state.ready.isEmpty else { return nil }
            switch interleaving {
            case .inOrder: return state.ready.removeFirst()
            case .shuffled: return state.ready.remove(at: state.order.roll(state.ready.count))
            }
        }
        job?.runSynchronously(on: asUnownedTaskExecutor())
        return job != nil
    }

    private func wakeNext() -> Bool {
        let sleeper = state.withLock { state -> Sleeper? in
            // Whoever sleeps forever waits to be cancelled, not for the end of time.
            guard let next = state.sleepers.last, next.until < .forever else { return nil }
            let sleeper = state.sleepers.removeLast()
            state.uptime = sleeper.until
            return sleeper
        }
        sleeper?.continuation.resume()
        return sleeper != nil
    }

    private func wake(_ number: UInt64) {
        let sleeper = state.withLock { state -> Sleeper? in
            state.sleepers.firstIndex { $0.number == number }.map { state.sleepers.remove(at: $0) }
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}

/// A stream of numbers that depends on nothing but its seed.
public struct Dice: Sendable, RandomNumberGenerator {
    private var state: UInt64

    /// The stream of `seed`.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// A number in 0 ..< sides.
    public mutating func roll(_ sides: Int) -> Int {
        Int(next() % UInt64(sides))
    }
}
