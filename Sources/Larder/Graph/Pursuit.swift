/// Work that is waited for with limited patience, and goes on when the patience ends.
///
/// One waiter at a time. Cancelling the waiter's task cancels the work; leaving it after the limit does not.
final class Pursuit<Value: Sendable>: Sendable {
    private enum Waiting {
        case nobody
        case somebody(CheckedContinuation<Result<Value, any Error>?, Never>)
        case over(Result<Value, any Error>)
    }
    private struct State {
        var waiting = Waiting.nobody
        var turn = 0
        var work: Task<Void, Never>?
        var timer: Task<Void, Never>?
    }
    private let world: any World
    private let state = Locked(State())

    /// A wait for work that is done elsewhere and ends with ``end(_:)``.
    init(in world: any World) {
        self.world = world
    }

    /// Starts the work; `then` hears how it ended, whether or not anybody waits for it.
    init(
        in world: any World, _ work: @escaping @Sendable () async throws -> Value,
        then: (@Sendable (Result<Value, any Error>) -> Void)? = nil
    ) {
        self.world = world
        let task = world.spawn {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            self.end(result)
            then?(result)
        }
        state.withLock { $0.work = task }
    }

    /// How the work ended; nil while it goes on.
    var outcome: Result<Value, any Error>? {
        state.withLock { if case .over(let result) = $0.waiting { result } else { nil } }
    }

    /// What the work gives; nil when `limit` passes first.
    ///
    /// - Throws: what the work throws; `CancellationError` at once when the waiter's task is cancelled.
    func value(within limit: Duration?) async throws -> Value? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { wait($0, limit: limit) }
        } onCancel: {
            cancel()
        }
        state.withLock { $0.timer.take() }?.cancel()
        return try result?.get()
    }

    /// Gives the work up: whoever waits gets a `CancellationError` now, even if the work does not heed its own
    /// cancellation.
    func cancel() {
        end(.failure(CancellationError()))
        state.withLock { $0.work }?.cancel()
    }

    /// Gives the work up after `limit`, unless it has ended by then.
    func cancel(after limit: Duration) {
        startTimer(limit) { $0.cancel() }
    }

    private func wait(_ continuation: CheckedContinuation<Result<Value, any Error>?, Never>, limit: Duration?) {
        let (over, turn) = state.withLock { state -> (Result<Value, any Error>?, Int) in
            if case .over(let result) = state.waiting { return (result, 0) }
            state.waiting = .somebody(continuation)
            state.turn += 1
            return (nil, state.turn)
        }
        if let over { return continuation.resume(returning: over) }
        guard let limit else { return }
        if limit <= .zero { return leave(turn) }
        startTimer(limit) { $0.leave(turn) }
    }

    private func leave(_ turn: Int) {
        let waiter = state.withLock { state -> CheckedContinuation<Result<Value, any Error>?, Never>? in
            guard case .somebody(let waiter) = state.waiting, state.turn == turn else { return nil }
            state.waiting = .nobody
            return waiter
        }
        waiter?.resume(returning: nil)
    }

    /// Ends the wait; what comes after the first end is ignored.
    func end(_ result: Result<Value, any Error>) {
        let (waiter, timer) = state.withLock {
            state -> (CheckedContinuation<Result<Value, any Error>?, Never>?, Task<Void, Never>?) in
            defer { state.timer = nil }
            switch state.waiting {
            case .over: return (nil, nil)
            case .nobody:
                state.waiting = .over(result)
                return (nil, state.timer)
            case .somebody(let waiter):
                state.waiting = .over(result)
                return (waiter, state.timer)
            }
        }
        timer?.cancel()
        waiter?.resume(returning: result)
    }

    private func startTimer(_ limit: Duration, _ action: @escaping @Sendable (Pursuit) -> Void) {
        let timer = world.spawn { [world] in
            do { try await world.sleep(for: limit) } catch { return }
            action(self)
        }
        let unneeded = state.withLock { state -> Bool in
            if case .over = state.waiting { return true }
            state.timer = timer
            return false
        }
        if unneeded { timer.cancel() }
    }
}
