public import LarderSystem

/// The reason why a wait ended.
private enum WaitEnd {
    /// The work has an outcome.
    case outcome
    /// The limit has passed.
    case limit
    /// The waiter's task was cancelled.
    case cancelled
}

/// A caller that waits for work. It knows nothing of the value, because a dictionary of generic waiters takes several times
/// as long.
private struct Waiter {
    /// Nil until the wait has begun.
    var task: Suspension<WaitEnd>?
    var alarm: Alarm?

    /// Ends this wait, outside the lock.
    func end(_ end: WaitEnd) {
        alarm?.cancel()
        task?.resume(returning: end)
    }
}

/// Runs work that a caller can wait for with limited patience. The work goes on when the patience ends.
///
/// ```swift
/// let search = AwaitableWork(in: sides.world) { try await sides.copy(call) }
/// if let copy = try await search.value(within: .milliseconds(20)) { … }   // else it goes on
/// ```
///
/// Any number may wait, and wait again. Cancelling a waiter's task ends its wait at once; if nobody else waits then, it also
/// cancels the work, even if the work ignores its cancellation. May be used from any thread.
public final class AwaitableWork<Value: Sendable>: Sendable {
    private struct State {
        /// Those who wait, by the numbers of their turns.
        var waiters: [Int: Waiter] = [:]
        var turn = 0
        var work: Task<Void, Never>?
        var outcome: Result<Value, any Error>?
    }

    private let world: any World
    private let state = Locked(State())

    /// Starts the work.
    public convenience init(in world: any World, _ work: @escaping @Sendable () async throws -> Value) {
        self.init(in: world, work) { _ in }
    }

    /// Starts the work, and calls `then` with its result, even if no caller waits for it.
    init(
        in world: any World, _ work: @escaping @Sendable () async throws -> Value,
        then: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        self.world = world
        let task = world.spawn {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            self.end(result)
            then(result)
        }
        state.withLock { $0.work = task }
    }

    /// Creates a wait for work that ``begin(_:)`` starts later.
    public init(in world: any World) {
        self.world = world
    }

    /// Starts the work of a wait that was created without one. If all who waited have been cancelled, the work is
    /// cancelled, too.
    public func begin(_ work: @escaping @Sendable () async throws -> Value) {
        let task = world.spawn {
            do { self.end(.success(try await work())) } catch { self.end(.failure(error)) }
        }
        let isOver = state.withLock { state in
            state.work = task
            return state.outcome != nil
        }
        if isOver { task.cancel() }
    }

    /// The result of the work; nil while it goes on.
    public var outcome: Result<Value, any Error>? { state.withLock { $0.outcome } }

    /// Returns the value of the work, or nil when `limit` passes first. Waits until the work ends if `limit` is nil.
    ///
    /// - Throws: the error of the work; `CancellationError` at once when the waiter's task is cancelled.
    public func value(within limit: Duration? = nil) async throws -> Value? {
        let turn = state.withLock { state in
            state.turn += 1
            state.waiters[state.turn] = Waiter()
            return state.turn
        }
        let end = await withTaskCancellationHandler {
            await Suspension.wait { wait(turn, $0, limit: limit) }
        } onCancel: {
            giveUp(turn)
        }
        switch end {
        case .outcome: return try outcome?.get()
        case .limit: return nil
        case .cancelled: throw CancellationError()
        }
    }

    /// Waits for the end of the work within a limit, even if the caller's task is cancelled.
    func waitUncancelled(within limit: Duration) async {
        await world.spawn { [self] in _ = try? await value(within: limit) }.value
    }

    /// Cancels the work. Those who wait get a `CancellationError` at once, even if the work ignores its cancellation.
    public func cancel() {
        end(.failure(CancellationError()))
        state.withLock { $0.work }?.cancel()
    }

    /// Ends the wait with a result. Only the first call has an effect.
    public func end(_ result: Result<Value, any Error>) {
        let waiters = state.withLock { state -> [Int: Waiter] in
            if state.outcome != nil { return [:] }
            state.outcome = result
            defer { state.waiters = [:] }
            return state.waiters
        }
        for (_, waiter) in waiters.sorted(by: { $0.key < $1.key }) { waiter.end(.outcome) }
    }

    /// Begins the wait of a task. Returns its end if it is over at once.
    private func wait(_ turn: Int, _ task: Suspension<WaitEnd>, limit: Duration?) -> WaitEnd? {
        let end = state.withLock { state -> WaitEnd? in
            if state.outcome != nil {
                state.waiters[turn] = nil
                return .outcome
            }
            // It was given up before it began.
            if state.waiters[turn] == nil { return .cancelled }
            if let limit, limit <= .zero {
                state.waiters[turn] = nil
                return .limit
            }
            state.waiters[turn]?.task = task
            return nil
        }
        guard end == nil, let limit else { return end }
        let alarm = world.alarm(after: limit) { self.leave(turn) }
        let isNeeded = state.withLock { state -> Bool in
            state.waiters[turn]?.alarm = alarm
            return state.waiters[turn] != nil
        }
        if !isNeeded { alarm.cancel() }
        return nil
    }

    private func leave(_ turn: Int) {
        state.withLock { $0.waiters.removeValue(forKey: turn) }?.end(.limit)
    }

    /// Ends the wait of a task that is cancelled. Cancels the work if nobody else waits for it.
    private func giveUp(_ turn: Int) {
        let (waiter, work) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            let waiter = state.waiters.removeValue(forKey: turn)
            guard waiter != nil, state.waiters.isEmpty, state.outcome == nil else { return (waiter, nil) }
            state.outcome = .failure(CancellationError())
            return (waiter, state.work)
        }
        waiter?.end(.cancelled)
        work?.cancel()
    }
}
