import LarderSystem

extension AwaitableWork {
    /// Does work of a store within a limit. Work that takes longer fails for the caller and goes on in the background.
    ///
    /// - Parameters:
    ///   - tier: the name of the store that is named in the error; nil for none.
    ///   - isCancellable: whether the cancellation of the caller's task ends the wait at once, and cancels the work.
    /// - Throws: the error of the work; ``StoreError`` when `limit` passes first. Its unfinished operation ends when the
    ///   work and everything that the work gave up have ended.
    static func limited(
        to limit: Duration, of tier: String? = nil, in world: any World, isCancellable: Bool = true,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let rest = UnfinishedOperation()
        let running = AwaitableWork(in: world, work) { rest.end(after: $0) }
        if isCancellable {
            if let value = try await running.value(within: limit) { return value }
        } else {
            await running.waitUncancelled(within: limit)
            if let outcome = running.outcome { return try outcome.get() }
        }
        throw StoreError(lateAfter: limit, of: tier, leaving: rest)
    }
}

extension UnfinishedOperation {
    /// Ends this operation when everything that the finished work gave up has ended, too.
    fileprivate func end<Value>(after result: Result<Value, any Error>) {
        var givenUp: [UnfinishedOperation] = []
        if case .failure(let error as StoreError) = result { givenUp = error.unfinished }
        UnfinishedOperation.whenOver(givenUp) { self.end() }
    }
}

extension StoreError {
    /// Creates the error of work that has no result within its limit.
    @inline(never)
    fileprivate init(lateAfter limit: Duration, of tier: String?, leaving rest: UnfinishedOperation) {
        let error = StoreError("no answer within \(limit.brief)")
        self = tier.map { StoreError(error.message, faults: [StoreFault(tier: $0, error: error)]) } ?? error
        unfinished = [rest]
    }
}
