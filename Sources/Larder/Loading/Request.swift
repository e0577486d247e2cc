/// Which instance of a resource is wanted, for whom and how.
public struct Request: Hashable, Sendable {
    /// How a request may be answered.
    public enum Mode: String, Hashable, Sendable {
        /// As the policy says.
        case normal
        /// Ask the origin now, whatever the strategy (pull to refresh). A kept copy stands in only when the origin fails.
        case refresh
        /// Never ask the origin: a kept copy, or the error ``LoadError/Code/notCached``.
        case cachedOnly
    }

    /// How urgent a request is, where calls have to queue.
    public enum Priority: Int, Hashable, Sendable, Comparable {
        /// Nobody waits for it: a prefetch.
        case low
        /// Somebody may be waiting.
        case normal
        /// Somebody is looking at the screen.
        case high

        /// Which is less urgent.
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// What the copy is kept under.
    public let key: Key
    /// The parameters, as the origin needs them.
    public let parameters: [String: String]
    /// How the request may be answered.
    public var mode: Mode
    /// How long the caller is willing to wait for the origin. Then a copy that may be shown is, else fallbacks, which
    /// take the time they take, else the error ``LoadError/Code/deadline``. The call itself goes on for others.
    public var deadline: Duration?
    /// How urgent it is, where calls have to queue. Who joins a call under way does not move it up.
    public var priority: Priority

    /// A request for one instance of `resource`.
    public init(
        _ resource: String, _ parameters: [String: String] = [:], scope: String? = nil, mode: Mode = .normal,
        deadline: Duration? = nil, priority: Priority = .normal
    ) {
        self.key = Key(resource: resource, scope: scope, parameters: parameters)
        self.parameters = parameters
        self.mode = mode
        self.deadline = deadline
        self.priority = priority
    }
}
