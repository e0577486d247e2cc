import LarderSystem

extension World {
    /// Does work of a store within a limit. Work that takes longer fails for the caller and goes on in the background.
    ///
    /// - Parameters:
    ///   - tier: the name of the store that is named in the error; nil for none.
    ///   - isCancellable: whether the cancellation of the caller's task ends the wait at once, and cancels the work.
    /// - Throws: the error of the work; ``StoreError`` when `limit` passes first. Its unfinished operation ends when the
    ///   work and everything that the work gave up have ended.
    func limited<Value: Sendable>(
        to limit: Duration, of tier: String? = nil, isCancellable: Bool = true,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let rest = UnfinishedOperation()
        let wait = AwaitableWork(in: self, work) { result in
            var givenUp: [UnfinishedOperation] = []
            if case .failure(let error as StoreError) = result { givenUp = error.unfinished }
            UnfinishedOperation.whenOver(givenUp) { rest.end() }
        }
        if isCancellable {
            if let value = try await wait.value(within: limit) { return value }
        } else {
            await waitUncancelled(for: wait, within: limit)
            if let outcome = wait.outcome { return try outcome.get() }
        }
        let error = StoreError("no answer within \(limit.brief)")
        var failure = tier.map { StoreError(error.message, faults: [StoreFault(tier: $0, error: error)]) } ?? error
        failure.unfinished = [rest]
        throw failure
    }

    /// Waits for the end of some work within a limit, even if the caller's task is cancelled.
    func waitUncancelled<Value: Sendable>(for work: AwaitableWork<Value>, within limit: Duration) async {
        await spawn { _ = try? await work.value(within: limit) }.value
    }
}
