public import LarderSystem

extension Loader {
    /// Returns the answer to a call, or nil when there is none within `limit`. A timeout can be built from it:
    ///
    /// ```swift
    /// guard let loaded = try await inner.load(call, within: .seconds(8), in: context.world) else {
    ///     throw LoadError(.timeout, "timed out")
    /// }
    /// ```
    ///
    /// A load that has no answer within `limit` is cancelled, and this method does not wait for its end. The origin's
    /// calls that it has under way count as failed.
    ///
    /// - Throws: what the load throws; `CancellationError` at once when the task is cancelled.
    public func load(_ call: Call, within limit: Duration, in world: any World) async throws -> Loaded<Entry>? {
        let isOver = Locked(false)
        let loading = begin(call, in: world, isOver: isOver)
        if let loaded = try await loading.value(within: limit) { return loaded }
        isOver.withLock { $0 = true }
        loading.cancel()
        return nil
    }

    /// Begins a load. This is apart from the wait for it: see ``MeasuredLoader``.
    @inline(never)
    private func begin(_ call: Call, in world: any World, isOver: Locked<Bool>) -> AwaitableWork<Loaded<Entry>> {
        var call = call
        call.hasTimedOut = { [outer = call.hasTimedOut] in isOver.withLock { $0 } || outer?() == true }
        return AwaitableWork(in: world) { [call] in try await load(call) }
    }
}
