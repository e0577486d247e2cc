/// A source of the network's state for a ``SystemWorld``: the system, or an app that knows better.
///
/// - ``SystemNetwork`` asks the system.
/// - ``ManualNetwork`` has the state that an app or a test sets.
///
/// All members may be used from any thread.
public protocol NetworkSource: Sendable {
    /// The state of the network now. It is read by every load that depends on the network, so it should take nanoseconds.
    var state: NetworkState { get }

    /// A stream of the present state and then each new one. A slow reader misses states that were replaced, never the
    /// latest. Each access returns a new stream.
    var changes: AsyncStream<NetworkState> { get }

    /// Calls `changed` after each change of ``state``, on any thread, until the subscription ends. By default a task reads
    /// ``changes``.
    func onChange(_ changed: @escaping @Sendable () -> Void) -> Subscription
}

extension NetworkSource {
    /// Reads ``changes`` in a task.
    public func onChange(_ changed: @escaping @Sendable () -> Void) -> Subscription {
        let task = Task.detached { for await _ in changes { changed() } }
        return Subscription { task.cancel() }
    }
}
