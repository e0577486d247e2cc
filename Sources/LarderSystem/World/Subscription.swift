/// An activity that goes on until ``stop()`` is called or the subscription is deallocated, such as listening to events
/// or watching a folder.
public final class Subscription: Sendable {
    private let end: Locked<(@Sendable () -> Void)?>

    /// Creates a subscription, for a world, a sink or a part of your own.
    ///
    /// - Parameter end: ends the activity. It is called once.
    public init(_ end: @escaping @Sendable () -> Void) {
        self.end = Locked(end)
    }

    /// Ends the activity. Further calls do nothing.
    public func stop() { end.withLock { $0.take() }?() }

    deinit { stop() }
}
