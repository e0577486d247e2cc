/// Anything that can answer a call. A loader graph is made of loaders and of nothing else.
///
/// A loader states by ``hitRule`` which copies it shows at once. So a hit in memory needs no task, no actor and no suspension,
/// even in a deep graph. Any other load is awaited: ``load(_:)``.
public protocol Loader: Sendable {
    /// The rule by which the loader shows copies at once; nil by default.
    ///
    /// The graph asks for it once, when it is composed. If all loaders above the store have a rule, the graph finds a copy
    /// in memory without calling any of them. A loader that only passes on the answers of another one returns that one's
    /// rule. A loader that must see each load has none, and every load is awaited then.
    var hitRule: HitRule? { get }

    /// Returns the answer, which may take any time. Runs off the caller's actor.
    ///
    /// - Throws: `CancellationError` if the task is cancelled. Any other error means that the loader failed, except a
    ///   ``LoadError`` that is an answer (``LoadError/isAnswer``).
    func load(_ call: Call) async throws -> Loaded<Entry>

    /// Whether the loader itself ends each call by the call's ``Call/limit``, with a ``LoadError`` of the code `timeout`,
    /// even if something that it waits for ignores cancellation. By default false.
    ///
    /// Such a loader never blocks its thread. That makes it cheaper: a timeout around it needs no task of its own, and
    /// its calls begin on the threads of their callers.
    var keepsLimit: Bool { get }
}

extension Loader {
    /// Nil: the loader has no rule.
    public var hitRule: HitRule? { nil }

    /// False.
    public var keepsLimit: Bool { false }
}

/// A request on its way through the graph.
public struct Call: Sendable {
    // Calls are copied often, so the order of the parts keeps a call small.

    /// The request of the caller.
    public var request: Request
    /// Whether a part of the graph has already looked for a copy.
    package private(set) var hasLooked = false
    /// Whether a copy may be shown, without a call, while the origin is left alone after a failure.
    var respectsPause = true
    /// The kind of change that the call sends; nil for a load.
    var sendMethod: SendMethod?
    /// The codec that decodes the payload.
    public var codec: AnyCodec
    /// The recorder for decisions.
    public var trail: Trail.Recorder
    /// The copy that the origin may confirm as unchanged; nil if there is none.
    public var known: Entry? { copy?.entry }
    /// The order of the load among the clearings and writes of its key, and later the order of the call.
    var ticket: Ticket?
    /// The number of the load among all loads of the resource; 0 for a call without a load.
    var load: UInt64 { ticket?.since ?? 0 }
    /// Returns whether a timeout has given up the call.
    var hasTimedOut: (@Sendable () -> Bool)?
    /// The number of calls that this one joined and that were answered for other fields than the request's.
    private(set) var mismatches = 0
    private var copy: Copy?
    /// The shared call that this is; nil for a call that is not shared.
    var shared: (any SharedCall)?
    /// The uptime at which the caller stops waiting for the origin; nil if there is no limit.
    public var deadline: Duration?
    /// The uptime by which a loader that keeps limits (``Loader/keepsLimit``) ends the call. Nil if there is no limit.
    public var limit: Duration?

    /// Holds the copy behind a single reference. Calls are copied often, and most have no copy.
    final class Copy: Sendable {
        let entry: Entry

        init(_ entry: Entry) { self.entry = entry }
    }

    /// Creates a call for the bytes that answer `request`, for a loader outside a graph. It has no copy: see
    /// ``knowing(_:)``.
    public init(_ request: Request) { self.init(request, codec: .raw) }

    /// Creates a call for `request`.
    package init(
        _ request: Request, codec: AnyCodec = .raw, trail: Trail.Recorder = Trail.Recorder(), deadline: Duration? = nil
    ) {
        self.request = request
        self.codec = codec
        self.trail = trail
        self.deadline = deadline
    }

    /// The key of the request.
    public var key: Key { request.key }

    /// Returns the same call with this copy. Pass nil if there is no copy.
    public func knowing(_ entry: Entry?) -> Call { knowing(copy: entry.map(Copy.init)) }

    @inline(never)
    func knowing(copy: Copy?) -> Call {
        var call = self
        (call.copy, call.hasLooked) = (copy, true)
        return call
    }

    /// The same call, after the answer of a call that it joined did not match the request.
    var afterMismatch: Call {
        var copy = self
        copy.mismatches += 1
        return copy
    }

    /// The same call for work that may go on after the caller has gone. It has no deadline, and has a trail of its own.
    public var inBackground: Call {
        var copy = self
        copy.deadline = nil
        copy.limit = nil
        copy.hasTimedOut = nil
        copy.shared = nil
        copy.trail = Trail.Recorder()
        return copy
    }
}

extension Loaded where Value == Entry {
    /// Returns the origin's answer that the copy of the call is still current.
    ///
    /// - Parameters:
    ///   - call: the call that the origin answers.
    ///   - update: changes the facts that the answer names, such as ``Metadata/fields`` or ``Metadata/initialAge``. All
    ///     others stay as they are, except that the initial age is zero unless it is set here. The graph sets the times.
    /// - Throws: ``LoadError`` if the call has no copy; the error of `update`.
    public static func unchanged(
        _ call: Call, updating update: (inout Metadata) throws -> Void = { _ in }
    ) throws -> Loaded<Entry> {
        guard var known = call.known else {
            throw LoadError(.failed, "the origin says unchanged, but was told of no copy")
        }
        known.metadata.initialAge = .zero
        try update(&known.metadata)
        return Loaded(known, from: .revalidated)
    }
}
