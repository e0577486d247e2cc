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
}
