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
/// Tasks started inside ``run(leaving:_:)`` run on this world as long as they are child tasks or were started with
/// ``spawn(_:)``; an unstructured `Task {}` leaves it. Time stands still while anything can run and then jumps to the
/// next sleeper. ``blocking(_:)`` blocks. What is still under way when a run ends is a ``Leak``.
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

    private struct Running {
        var task: Task<Void, Never>
        var since: Duration
    }

    private struct State {
        var dice: Dice
        var order: Dice
        var ready = Jobs()
        /// Those who sleep. Who sleeps for ever waits to be cancelled, not for the end of time.
        var sleepers = Deadlines<CheckedContinuation<Void, any Error>>()
        var next: UInt64 = 0
        var uptime: Duration = .zero
        var start: Timestamp
        var running: [UInt64: Running] = [:]
        /// Whether what is left is being cancelled.
        var isOver = false
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
        hashSeed = seed
        state = Locked(State(dice: Dice(seed: seed), order: Dice(seed: seed ^ 0xA5A5_5A5A), start: start))
    }

    // MARK: World

    /// Virtual wall time.
    public var now: Timestamp { state.withLock { $0.start + $0.uptime } }

    /// Virtual time since the world began.
    public var uptime: Duration { state.withLock { $0.uptime } }

    /// The seed itself: what stores forget is part of the history it decides.
    public let hashSeed: UInt64?

    /// The next of the seed's random numbers.
    public func random() -> UInt64 { state.withLock { $0.dice.next() } }

    /// Lets the virtual clock jump ahead as soon as nobody else has anything to do.
    public func sleep(for duration: Duration) async throws {
        let (number, isOver) = state.withLock { state in
            state.next += 1
            return (state.next, state.isOver)
        }
        // A loop that heeds no cancellation would never let go of the thread.
        if isOver { await Task.yield() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { state in
                    state.sleepers.add(number, at: min(state.uptime + max(.zero, duration), .forever), continuation)
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
        state.withLock { $0.running[number] = Running(task: task, since: $0.uptime) }
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
    /// - Parameter leaving: what may be under way when `body` returns and nothing more can run without time passing.
    /// - Throws: what `body` throws; ``Stuck`` when it can never return; ``Leak`` when it returned and left behind what it
    ///   may not.
    public func run<Value: Sendable>(
        leaving: Leaving = .nothing, _ body: @escaping @Sendable (SimulatedWorld) async throws -> Value
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
            _ = finish()
            throw Stuck()
        }
        let leak = finish()
        guard let outcome = result.withLock({ $0 }) else { throw Stuck() }
        let value = try outcome.get()
        if let leak, leaving == .nothing { throw leak }
        return value
    }

    /// Cancels what is left and lets it end.
    ///
    /// - Returns: what there was; nil when nothing was left.
    private func finish() -> Leak? {
        settle()
        let (left, sleepers) = state.withLock { state in
            state.isOver = true
            return (state.running.sorted { $0.key < $1.key }, state.sleepers.times)
        }
        let steps = 10_000 + 100 * (left.count + sleepers.count)
        for (_, running) in left { running.task.cancel() }
        settle(atMost: steps)
        // Those whose task is not known here.
        for sleeper in state.withLock({ $0.sleepers.takeAll() }) { sleeper.resume(throwing: CancellationError()) }
        settle(atMost: steps)
        let deaf = state.withLock { state in
            state.isOver = false
            return left.count { state.running[$0.key] != nil }
        }
        if left.isEmpty, sleepers.isEmpty { return nil }
        return Leak(tasks: left.map(\.value.since), deaf: deaf, sleepers: sleepers)
    }

    /// Lets happen what can without time passing. Not for ever: some work goes round and round.
    private func settle(atMost steps: Int = 1_000_000) {
        var steps = steps
        while steps > 0, runNext() || wakeNext(by: uptime) { steps -= 1 }
    }

    /// Takes over a job that can run.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.ready.append(job) }
    }

    private func runNext() -> Bool {
        let job = state.withLock { state -> UnownedJob? in
            switch interleaving {
            case .inOrder: state.ready.takeFirst()
            case .shuffled: state.ready.takeAny { state.order.roll($0) }
            }
        }
        job?.runSynchronously(on: asUnownedTaskExecutor())
        return job != nil
    }

    private func wakeNext(by limit: Duration = .forever) -> Bool {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard let next = state.sleepers.takeNext(by: limit) else { return nil }
            state.uptime = next.time
            return next.item
        }
        continuation?.resume()
        return continuation != nil
    }

    private func wake(_ number: UInt64) {
        state.withLock { $0.sleepers.take(number) }?.resume(throwing: CancellationError())
    }
}
