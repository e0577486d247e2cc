import LarderSystem

/// An answer that one task awaits. The first result counts, and any thread may give it.
final class PendingAnswer: Sendable {
    private struct State {
        var result: Result<HTTPAnswer, any Error>?
        var isOver = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    /// Returns the answer when it has arrived. It may be asked for once.
    ///
    /// When the task is cancelled, its canceller must give a result with ``fail(_:)``.
    func answer() async throws -> HTTPAnswer {
        await withCheckedContinuation { waiter in
            let mustWait = state.withLock { state in
                if state.result == nil { state.waiter = waiter }
                return state.result == nil
            }
            if !mustWait { waiter.resume() }
        }
        let result = state.withLock { state in
            defer { state.result = nil }
            return state.result
        }
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    /// Gives the answer, unless there is a result already.
    func succeed(_ answer: HTTPAnswer) { resolve(.success(answer)) }

    /// Gives an error, unless there is a result already.
    func fail(_ error: any Error) { resolve(.failure(error)) }

    private func resolve(_ result: Result<HTTPAnswer, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.isOver else { return nil }
            (state.isOver, state.result) = (true, result)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
