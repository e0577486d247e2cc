public import LarderSystem

/// A call that callers share, as the parts of the graph that make it see it.
protocol SharedCall: AnyObject, Sendable {
    /// The priority of the most urgent request that has joined the call so far.
    var priority: Request.Priority { get }

    /// See ``Call/onRaise(_:)``.
    func onRaise(_ listener: @escaping CallPriority.Listener) -> Subscription

    /// Notes that the answer has arrived, and whether it may be kept. It is not saved yet.
    func arrived(_ loaded: Loaded<Entry>, _ admission: Admission)

    /// Notes that the origin's answer is an error. The copy is not dropped yet.
    func arrived(_ error: any Error)
}

/// The priority of a call that callers share. It rises when a more urgent request joins the call, and never falls.
struct CallPriority: Sendable {
    typealias Listener = @Sendable (Request.Priority) -> Void

    private let first: Request.Priority
    /// The present priority.
    private(set) var value: Request.Priority
    private var last = 0
    private var listeners: [Int: Listener] = [:]

    /// Creates the priority of a call that begins.
    init(_ priority: Request.Priority) {
        first = priority
        value = priority
    }

    /// Raises the priority. Does nothing if the priority is as high already.
    ///
    /// - Returns: the listeners to call with it.
    mutating func raise(to priority: Request.Priority) -> [Listener] {
        guard value < priority else { return [] }
        value = priority
        return listeners.isEmpty ? [] : listeners.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Adds a listener that is called each time the priority is raised.
    ///
    /// - Returns: the number of the listener, and the priority to call it with at once; nil if the priority has not been
    ///   raised before.
    mutating func add(_ listener: @escaping Listener) -> (number: Int, raised: Request.Priority?) {
        last += 1
        listeners[last] = listener
        return (last, first < value ? value : nil)
    }

    /// Removes a listener. Release it outside of locks, because its closure may own objects whose `deinit` runs any
    /// code.
    mutating func remove(_ number: Int) -> Listener? { listeners.removeValue(forKey: number) }
}

extension Call {
    /// The present priority of the call. It is that of the most urgent request which has joined the call so far.
    ///
    /// A wrapper that lets calls wait orders them by this, and listens with ``onRaise(_:)``.
    public var priority: Request.Priority { shared?.priority ?? request.priority }

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
        shared?.onRaise(listener) ?? Subscription {}
    }
}
