public import Synchronization

/// Sends events to any number of listeners and streams, in the order in which they were added.
///
/// While there are no listeners, ``isEmpty`` takes about a nanosecond. It is inlined, because each load asks it.
public final class Listeners<Event: Sendable>: Sendable {
    private struct Listener {
        let number: Int
        let handle: @Sendable (Event) -> Void
        /// Finishes the listener's stream; nil for a listener without a stream.
        let finish: (@Sendable () -> Void)?
    }

    private struct State {
        var last = 0
        var listeners: [Listener] = []
        var hasEnded = false
    }

    private let state = Locked(State())
    @usableFromInline let hasListener = Atomic(false)

    /// Creates an object without listeners.
    public init() {}

    deinit {
        for listener in state.withLock({ $0.listeners }) { listener.finish?() }
    }

    /// Whether there are no listeners.
    @inlinable public var isEmpty: Bool { !hasListener.load(ordering: .relaxed) }

    /// Calls `listener` for each event from now on, until the subscription ends. The calls are on the thread that sends
    /// the event.
    public func add(_ listener: @escaping @Sendable (Event) -> Void) -> Subscription {
        let number = add(listener, finish: nil)
        // A subscription that is kept does not keep the streams from ending.
        return Subscription { [weak self] in self?.remove(number) }
    }

    /// A stream of `first` and of the events from now on that `isWanted` accepts. Of events that nobody takes, it keeps the
    /// last `most`.
    ///
    /// - Parameters:
    ///   - most: the largest number of events that wait for the reader.
    ///   - isWanted: returns whether the stream has an event.
    ///   - first: describes the present state. It must be quick. No event that is sent by ``send(noting:)`` comes between
    ///     this description and the first event of the stream.
    public func stream(
        most: Int, where isWanted: @escaping @Sendable (Event) -> Bool = { _ in true },
        after first: () -> [Event] = { [] }
    ) -> AsyncStream<Event> {
        AsyncStream(bufferingPolicy: .bufferingNewest(most)) { stream in
            let number = add({ if isWanted($0) { stream.yield($0) } }, finish: { stream.finish() }) {
                for event in first() { stream.yield(event) }
            }
            stream.onTermination = { [weak self] _ in self?.remove(number) }
        }
    }

    /// Sends an event to all listeners.
    public func send(_ event: Event) {
        for listener in state.withLock({ $0.listeners }) { listener.handle(event) }
    }

    /// Changes the state that streams begin with, and sends the event of the change to all listeners. A stream that begins
    /// meanwhile either begins with the changed state or gets the event, never both.
    ///
    /// - Parameter note: changes the state, and returns the event, or nil if nothing changed. It must be quick.
    /// - Returns: the event.
    @discardableResult
    public func send(noting note: () -> Event?) -> Event? {
        let (event, listeners) = state.withLock { state in (note(), state.listeners) }
        guard let event else { return nil }
        for listener in listeners { listener.handle(event) }
        return event
    }

    /// Removes all listeners, and ends their streams. Listeners that are added later are never called, and their streams have
    /// ended after their first events.
    public func end() {
        let listeners = state.withLock { state in
            defer { (state.listeners, state.hasEnded) = ([], true) }
            hasListener.store(false, ordering: .relaxed)
            return state.listeners
        }
        for listener in listeners { listener.finish?() }
    }

    private func add(
        _ handle: @escaping @Sendable (Event) -> Void, finish: (@Sendable () -> Void)?, first: () -> Void = {}
    ) -> Int {
        let (number, hasEnded) = state.withLock { state in
            first()
            state.last += 1
            if !state.hasEnded {
                state.listeners.append(Listener(number: state.last, handle: handle, finish: finish))
                hasListener.store(true, ordering: .relaxed)
            }
            return (state.last, state.hasEnded)
        }
        if hasEnded { finish?() }
        return number
    }

    private func remove(_ number: Int) {
        _ = state.withLock { state -> Listener? in
            guard let index = state.listeners.firstIndex(where: { $0.number == number }) else { return nil }
            // The listener is released outside the lock, because its closure may own objects whose `deinit` runs any
            // code.
            let listener = state.listeners.remove(at: index)
            hasListener.store(!state.listeners.isEmpty, ordering: .relaxed)
            return listener
        }
    }
}
