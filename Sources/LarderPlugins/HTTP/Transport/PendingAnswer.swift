import LarderSystem

/// An answer that one task awaits. The first result counts, and any thread may give it.
final class PendingAnswer: Sendable {
    private struct State {
        /// The result, until it is returned.
        var result: Result<HTTPAnswer, any Error>?
        var isOver = false
        var waiter: Suspension<Result<HTTPAnswer, any Error>>?
    }

    private let state = Locked(State())

    /// Returns the answer when it has arrived. It may be asked for once.
    ///
    /// When the task is cancelled, its canceller must give a result with ``fail(_:)``.
    func answer() async throws -> HTTPAnswer {
        try await Suspension.wait { waiter in
            state.withLock { state in
                if state.result == nil { state.waiter = waiter }
                return state.result.take()
            }
        }.get()
    }

    /// Gives the answer, unless there is a result already.
    func succeed(_ answer: HTTPAnswer) { resolve(.success(answer)) }

    /// Gives an error, unless there is a result already.
    func fail(_ error: any Error) { resolve(.failure(error)) }

    private func resolve(_ result: Result<HTTPAnswer, any Error>) {
        let waiter = state.withLock { state -> Suspension<Result<HTTPAnswer, any Error>>? in
            guard !state.isOver else { return nil }
            state.isOver = true
            if state.waiter == nil { state.result = result }
            return state.waiter.take()
        }
        waiter?.resume(returning: result)
    }
}
