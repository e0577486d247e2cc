public import Larder
import LarderSystem

/// A world that runs everything on one thread in virtual time. The same seed always gives the same history.
///
/// ```swift
/// try SimulatedWorld(seed: 7).run { world in
///     let pantry = try await Pantry(policies: folder, cache: cache, world: world)
///     try await world.sleep(for: .seconds(3_600))   // takes no time at all
/// }
/// ```
///
/// Tasks started inside ``run(leaving:_:)`` run in this world if they are child tasks or were started with
/// ``spawn(_:)``. An unstructured `Task {}` does not. Time stands still while anything can run and then jumps to the
/// next sleeper. ``blocking(_:)`` runs its work at once. Work that is left when a run ends is a ``Leak``.
public final class SimulatedWorld: World, TaskExecutor {
    /// The order in which tasks run that could run at the same time.
    public enum Interleaving: Sendable {
        /// In the order in which they became able to run.
        case inOrder
        /// In a random order that the seed decides.
        case shuffled
    }

    /// The error that a run cannot end: no task can run and none sleeps, but the body has not returned.
    public struct Stuck: Error, CustomStringConvertible {
        /// The error in words.
        public let description = "stuck: everybody waits for somebody else"
    }

    private struct Running {
        var task: Task<Void, Never>
        var since: Duration
    }

    private struct State {
        var dice: SeededGenerator
        /// The random numbers of resources, by name.
        var resourceDice: [String: SeededGenerator] = [:]
        /// The number that every draw returns; nil for the numbers of the seed.
        var fixed: UInt64?
        var order: SeededGenerator
        var ready = Jobs()
        /// The sleeping tasks. A task that sleeps for ever can only be cancelled.
        var sleepers = DeadlineQueue<CheckedContinuation<Void, any Error>>()
        var next: UInt64 = 0
        var uptime: Duration = .zero
        var start: Timestamp
        var running: [UInt64: Running] = [:]
        var isCharging: Bool?
        /// Whether the run is over and its remaining tasks are being cancelled.
        var isOver = false
    }

    private let seed: UInt64
    private let interleaving: Interleaving
    private let state: Locked<State>
    private let timer = SharedTimer()
    private let simulatedNetwork = ManualNetwork()

    /// Creates a world. The same seed always gives the same history.
    ///
    /// - Parameters:
    ///   - seed: the seed of all randomness.
    ///   - start: the wall time at the beginning; Monday, 2026-01-05 00:00 UTC, by default.
    ///   - interleaving: the order of tasks that could run at the same time.
    public init(
        seed: UInt64 = 1, start: Timestamp = Timestamp(seconds: 1_767_571_200), interleaving: Interleaving = .inOrder
    ) {
        self.seed = seed
        self.interleaving = interleaving
        hashSeed = seed
        state = Locked(
            State(dice: SeededGenerator(seed: seed), order: SeededGenerator(seed: seed ^ 0xA5A5_5A5A), start: start))
    }

    // MARK: World

    /// Virtual wall time.
    public var now: Timestamp { state.withLock { $0.start + $0.uptime } }

    /// Virtual time since the world began.
    public var uptime: Duration { state.withLock { $0.uptime } }

    /// The seed. It also decides the evictions of stores, which are part of the history.
    public let hashSeed: UInt64?

    /// Returns the next random number of the seed.
    public func random() -> UInt64 { state.withLock { $0.fixed ?? $0.dice.next() } }

    /// Returns the next random number of a resource. The numbers depend only on the seed and the name.
    func random(of resource: String) -> UInt64 {
        state.withLock { state in
            state.fixed ?? state.resourceDice[resource, default: SeededGenerator(seed: seed, stream: resource)].next()
        }
    }

    /// Makes every random number from now on the same share of the largest one, to play the extremes of chance.
    ///
    /// - Parameter share: the share, from 0 to 1.
    package func fixChances(at share: Double) {
        let bits = share >= 1 ? .max : UInt64(max(0, share) * 18_446_744_073_709_551_616)
        state.withLock { $0.fixed = bits }
    }

    /// Returns this world with random numbers that belong to one resource.
    public func world(of resource: String) -> any World { ResourceWorld(resource: resource, base: self) }

    /// Suspends the task for a virtual time. The clock jumps ahead when no other task can run.
    public func sleep(for duration: Duration) async throws {
        let (number, isOver) = state.withLock { state in
            state.next += 1
            return (state.next, state.isOver)
        }
        // The yield keeps a loop that ignores cancellation from blocking the thread.
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

    /// Sets an alarm. All alarms of this world sleep in one task.
    public func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        timer.set(after: delay, in: self, action)
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
        // The task cannot have run yet: it would run on this thread.
        state.withLock { $0.running[number] = Running(task: task, since: $0.uptime) }
        return task
    }

    /// Runs `work` at once.
    public func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try work()
    }

    /// Runs `work` at once.
    public func blocking<Value: Sendable>(
        on name: String, atMost limit: Int, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try work()
    }

    /// False: a simulated world has one process.
    public var hasOtherProcesses: Bool { false }

    /// The state of the network: what a test sets, and unknown before.
    ///
    /// ```swift
    /// world.network = .offline
    /// try await world.sleep(for: .seconds(30))   // half a minute in a tunnel
    /// world.network = NetworkState(.online, kind: .cellular, isExpensive: true)
    /// ```
    public var network: NetworkState {
        get { simulatedNetwork.state }
        set { simulatedNetwork.state = newValue }
    }

    /// A stream of the present state of the network and of each state that a test sets, as far as its reader keeps up.
    public var networkChanges: AsyncStream<NetworkState> { simulatedNetwork.changes }

    /// Calls `changed` while a test sets another state, until the subscription ends.
    public func onNetworkChange(_ changed: @escaping @Sendable () -> Void) -> Subscription {
        simulatedNetwork.onChange(changed)
    }

    /// Whether the device is being charged or has no battery: what a test sets, and unknown before.
    public var isCharging: Bool? {
        get { state.withLock { $0.isCharging } }
        set { state.withLock { $0.isCharging = newValue } }
    }

    // MARK: Running

    /// Sets the wall clock forward or back, as a user or a time server can. Uptime is not affected.
    public func stepClock(by step: Duration) {
        state.withLock { $0.start = $0.start + step }
    }

    /// The number of spawned tasks that have not ended.
    public var unfinished: Int { state.withLock { $0.running.count } }

    /// Runs `body` and everything it starts in virtual time, until it returns. Work that is left then is cancelled.
    ///
    /// - Parameters:
    ///   - leaving: the work that may be under way when `body` returns and nothing more can run without time passing.
    ///   - body: the work to run, which is given this world.
    /// - Throws: the error of `body`. ``Stuck`` if it can never return. ``Leak`` if it returned and left work behind
    ///   that `leaving` does not allow.
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

    /// Cancels all remaining work and lets it end.
    ///
    /// - Returns: the remaining work, or nil if there was none.
    private func finish() -> Leak? {
        runPending()
        let (left, sleepers) = state.withLock { state in
            state.isOver = true
            return (state.running.sorted { $0.key < $1.key }, state.sleepers.times)
        }
        let steps = 10_000 + 100 * (left.count + sleepers.count)
        // Work that ends may begin other work, such as an operation that waited for it.
        var endings = 1
        while !cancelRest(within: steps), endings < Self.mostEndings { endings += 1 }
        let deaf = state.withLock { state in
            state.isOver = false
            return left.count { state.running[$0.key] != nil }
        }
        if left.isEmpty, sleepers.isEmpty { return nil }
        return Leak(tasks: left.map(\.value.since), deaf: deaf, sleepers: sleepers)
    }

    /// The number of times that work which others begin at their end is cancelled.
    private static let mostEndings = 5

    /// Cancels the remaining work, and lets it end.
    ///
    /// - Returns: whether none is left.
    private func cancelRest(within steps: Int) -> Bool {
        for (_, running) in state.withLock({ $0.running.sorted { $0.key < $1.key } }) { running.task.cancel() }
        runPending(atMost: steps)
        // The remaining sleepers belong to tasks that this world did not spawn.
        for sleeper in state.withLock({ $0.sleepers.takeAll() }) { sleeper.resume(throwing: CancellationError()) }
        runPending(atMost: steps)
        return state.withLock { $0.running.isEmpty }
    }

    /// Runs everything that can run without time passing. The number of steps is limited, because some work never ends.
    private func runPending(atMost steps: Int = 1_000_000) {
        var steps = steps
        while steps > 0, runNext() || wakeNext(by: uptime) { steps -= 1 }
    }

    /// Adds a job that can run.
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
