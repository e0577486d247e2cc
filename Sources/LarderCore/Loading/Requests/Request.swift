public import LarderFoundation
import LarderSystem

/// A request for one instance of a resource, for one account or none.
public struct Request: Hashable, Sendable {
    /// The ways in which a request may be answered.
    public enum Mode: String, Hashable, Sendable {
        /// The policy decides.
        case normal
        /// The origin is asked now, with every strategy (pull to refresh). A copy is shown only when the origin fails.
        case refresh
        /// The origin is not asked. The result is a copy or the error ``LoadError/Code/notCached``.
        case cachedOnly
    }

    /// The priority of a request when calls have to queue.
    public enum Priority: Int, Hashable, Sendable, Comparable {
        /// No user waits for the value, as with a prefetch.
        case low
        /// A user may be waiting.
        case normal
        /// A user is waiting in front of the screen.
        case high

        /// Returns whether `left` is less urgent than `right`.
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// The purpose of a request.
    public enum Purpose: String, Hashable, Sendable {
        /// A user wants the value.
        case user
        /// The value may be wanted later. Prefetches have a counter of their own and are part of no rate. This changes
        /// only what is counted: set ``Request/priority`` too.
        case prefetch
        /// The app brings its data up to date. This has no effect by itself; origins and wrappers can read it.
        case sync
    }

    // Calls are copied often, so a request is kept small: its smallest parts come last.

    /// The key of the request.
    public let key: Key
    /// The parts that few requests have; nil for a request that has none of them. A single reference keeps requests
    /// small.
    var details: Details? {
        didSet { isPlain = mode == .normal && purpose != .prefetch }
    }
    /// The parameters for the origin, which are read from the key on each access.
    public var parameters: Parameters { key.parameters }
    /// The time that the caller waits for the origin; nil for no limit.
    ///
    /// After that time the load returns a copy that may be shown, or else a fallback's value, or else the error
    /// ``LoadError/Code/deadline``. The time that fallbacks take is not limited. The call goes on for other callers.
    public var deadline: Duration?
    /// The way in which the request may be answered.
    public var mode: Mode {
        didSet { isPlain = mode == .normal && purpose != .prefetch }
    }
    /// The priority when calls have to queue. A request that joins a less urgent call raises that call to its own
    /// priority: see ``Call/priority``.
    public var priority: Priority
    /// Whether the mode is normal and the load is no prefetch. It is stored because hits read it.
    private(set) var isPlain: Bool

    /// Creates a request for one instance of `resource`.
    ///
    /// - Parameters:
    ///   - resource: the name of the resource.
    ///   - parameters: the parameters that identify the instance.
    ///   - scope: the account that the instance belongs to; nil for none.
    ///   - mode: the way in which the request may be answered.
    ///   - deadline: the longest time to wait for the origin.
    ///   - priority: the priority when calls have to queue.
    ///   - fields: see ``fields``.
    ///   - body: see ``body``.
    ///   - purpose: see ``purpose``.
    ///   - noOlderThan: see ``noOlderThan``.
    public init(
        _ resource: String, _ parameters: Parameters = [:], scope: String? = nil, mode: Mode = .normal,
        deadline: Duration? = nil, priority: Priority = .normal, fields: Fields = [:], body: Data? = nil,
        purpose: Purpose = .user, noOlderThan: Duration? = nil
    ) {
        self.init(
            Key.of(resource, scope: scope, parameters: parameters, bodyDigest: body.map { SHA256.hex($0) }), mode: mode,
            deadline: deadline,
            priority: priority, fields: fields, body: body, purpose: purpose, noOlderThan: noOlderThan)
    }

    /// Creates the request for a key. `body` must be the one whose digest the key has.
    init(
        _ key: Key, mode: Mode, deadline: Duration?, priority: Priority, fields: Fields, body: Data?, purpose: Purpose,
        noOlderThan: Duration?
    ) {
        self.key = key
        self.mode = mode
        self.deadline = deadline
        self.priority = priority
        isPlain = mode == .normal && purpose != .prefetch
        // Most requests have none of these.
        details =
            fields.isEmpty && body == nil && purpose == .user && noOlderThan == nil
            ? nil
            : Details.unlessEmpty(Content(fields: fields, body: body, purpose: purpose, noOlderThan: noOlderThan))
    }
}
