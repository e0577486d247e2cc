/// Several works for one result: the first that succeeds ends it, and the others are cancelled.
///
/// Like ``Pursuit`` it ends at once when its waiter is cancelled, even if the works do not heed their cancellation.
final class Contest<Value: Sendable>: Sendable {
    private struct State {
        var next = 0
        /// Works that have begun or will.
        var entered: [Int: Task<Void, Never>] = [:]
        var begun: Set<Int> = []
        var firstFailure: (any Error)?
        var isOver = false
    }

    private let world: any World
    private let state = Locked(State())
    private let outcome: Pursuit<Value>

    init(in world: any World) {
        self.world = world
        outcome = Pursuit(in: world)
    }

    /// Adds a work that begins after `delay`, if the contest is not over by then and somebody else still tries.
    func enter(after delay: Duration = .zero, _ work: @escaping @Sendable () async throws -> Value) {
        let number = state.withLock { state in
            state.next += 1
            if delay == .zero { state.begun.insert(state.next) }
            return state.next
        }
        let task = world.spawn { [self, world] in
            if delay > .zero {
                do { try await world.sleep(for: delay) } catch { return }
                let isLate = state.withLock { state in
                    if !state.isOver { state.begun.insert(number) }
                    return state.isOver
                }
                if isLate { return }
            }
            do {
                end(.success(try await work()))
            } catch {
                fail(number, error)
            }
        }
        let isLate = state.withLock { state in
            state.entered[number] = task
            return state.isOver
        }
        if isLate { task.cancel() }
    }

    /// The first success; when every work that has begun failed, the first failure.
    ///
    /// - Throws: that failure; `CancellationError` at once when the waiter's task is cancelled.
    func result() async throws -> Value {
        defer { end(.failure(CancellationError())) }
        guard let value = try await outcome.value(within: nil) else { throw CancellationError() }
        return value
    }

    private func fail(_ number: Int, _ error: any Error) {
        // An answer is an answer, even if it is an error.
        if LoadError.meaning(of: error)?.isAnswer == true { return end(.failure(error)) }
        let failure = state.withLock { state -> (any Error)? in
            state.begun.remove(number)
            state.firstFailure = state.firstFailure ?? error
            return state.begun.isEmpty ? state.firstFailure : nil
        }
        if let failure { end(.failure(failure)) }
    }

    private func end(_ result: Result<Value, any Error>) {
        let tasks = state.withLock { state -> [Task<Void, Never>] in
            state.isOver = true
            defer { state.entered = [:] }
            return state.entered.sorted { $0.key < $1.key }.map(\.value)
        }
        outcome.end(result)
        for task in tasks { task.cancel() }
    }
}
