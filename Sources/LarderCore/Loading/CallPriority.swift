import LarderBase

/// The priority of a call that callers share. It rises when a more urgent request joins the call, and never falls.
final class CallPriority: Sendable {
    typealias Listener = @Sendable (Request.Priority) -> Void

    private struct State {
        var priority: Request.Priority
        var last = 0
        var listeners: [Int: Listener] = [:]
    }

    private let first: Request.Priority
    private let state: Locked<State>

    /// Creates the priority of a call that begins.
    init(_ priority: Request.Priority) {
        first = priority
        state = Locked(State(priority: priority))
    }

    /// The present priority.
    var value: Request.Priority { state.withLock { $0.priority } }

    /// Raises the priority and tells all listeners. Does nothing if the priority is as high already.
    func raise(to priority: Request.Priority) {
        let listeners = state.withLock { state -> [Listener] in
            guard state.priority < priority else { return [] }
            state.priority = priority
            return state.listeners.sorted { $0.key < $1.key }.map(\.value)
        }
        for listener in listeners { listener(priority) }
    }

    /// Calls `listener` each time the priority is raised, and at once if it has been raised before.
    func onRaise(_ listener: @escaping Listener) -> Subscription {
        let (number, priority) = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = listener
            return (state.last, state.priority)
        }
        if first < priority { listener(priority) }
        return Subscription { [weak self] in self?.remove(number) }
    }

    private func remove(_ number: Int) {
        // The listener is released outside the lock, because its closure may own objects whose `deinit` runs any code.
        _ = state.withLock { $0.listeners.removeValue(forKey: number) }
    }
}

extension Call {
    /// The present priority of the call. It is that of the most urgent request which has joined the call so far.
    ///
    /// A wrapper that lets calls wait orders them by this, and listens with ``onRaise(_:)``.
    public var priority: Request.Priority { sharedPriority?.value ?? request.priority }

    /// Calls `listener` each time a more urgent request joins the call, until the subscription ends. If the
    /// priority has already risen, calls `listener` at once.
    ///
    /// Two requests that join at the same time can be told in either order: ignore a priority that is lower than one
    /// before.
    ///
    /// ```swift
    /// let number = queue.add(call.priority)
    /// let raising = call.onRaise { queue.raise(number, to: $0) }
    /// defer { raising.stop() }
    /// ```
    ///
    /// The listener may be called from any thread and several times with the same priority. It must be quick.
    public func onRaise(_ listener: @escaping @Sendable (Request.Priority) -> Void) -> Subscription {
        sharedPriority?.onRaise(listener) ?? Subscription {}
    }
}
