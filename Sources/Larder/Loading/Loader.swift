/// Anything that can answer a call. A loader graph is made of loaders and of nothing else.
///
/// There are two ways through every loader. ``answer(_:codec:for:)`` asks "can you answer at once?"; only when the whole
/// graph says no is ``load(_:)`` awaited. So a copy in memory costs no task, no actor and no suspension, however deep the
/// graph.
public protocol Loader: Sendable {
    /// The answer, if it can be given at once, with a copy that may be used for one of `uses`; nil by default.
    ///
    /// Called on the caller's own thread, perhaps the main one: no blocking, no decoding. An answer of nil must leave
    /// no trace (no counter, no recency); an answer leaves each once.
    func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>?

    /// The answer, however long it takes. Runs off the caller's actor.
    ///
    /// - Throws: `CancellationError` when the task is cancelled; any other error means that the loader failed, except
    ///   a ``LoadError`` that is an answer (``LoadError/isAnswer``).
    func load(_ call: Call) async throws -> Loaded<Entry>
}

extension Loader {
    /// No: this loader needs time.
    public func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? { nil }
}

/// One request on its way through the graph.
public struct Call: Sendable {
    /// What the caller wants.
    public var request: Request
    /// How the payload becomes a value.
    public var codec: AnyCodec
    /// Where decisions are noted.
    public var trail: Trail.Recorder
    /// The copy that is known here, so that an origin may be asked "has it changed since?"
    public var known: Entry? { copy?.entry }
    /// Whether somebody has looked for a copy already, found or not.
    public private(set) var hasLooked = false
    /// The uptime at which the caller's patience with the origin ends.
    public var due: Duration?
    /// When the load began, and then the call for it, among the clearings and writes of its key.
    var ticket: Ticket?
    /// The number of its load among all of its resource; 0 for a call that no load made.
    var load: UInt64 { ticket?.since ?? 0 }
    /// The timeout that waits for it.
    var overrun: Overrun?
    /// Whether a copy may stand in unasked while the origin is left alone after a failure.
    var heedsRest = true
    /// To be told when its answer is there, before that is saved.
    var arrived: (@Sendable (Loaded<Entry>) -> Void)?
    private var copy: Copy?

    /// One reference: calls are copied a lot, and most know of no copy.
    private final class Copy: Sendable {
        let entry: Entry

        init(_ entry: Entry) { self.entry = entry }
    }

    /// A call for `request`.
    public init(
        _ request: Request, codec: AnyCodec = .raw, trail: Trail.Recorder = Trail.Recorder(), due: Duration? = nil
    ) {
        self.request = request
        self.codec = codec
        self.trail = trail
        self.due = due
    }

    /// What the copy is kept under.
    public var key: Key { request.key }

    /// The same call, with the copy that is known here, or the knowledge that there is none.
    public func knowing(_ entry: Entry?) -> Call {
        var call = self
        call.copy = entry.map(Copy.init)
        call.hasLooked = true
        return call
    }

    /// The same call for work that outlives its caller: no deadline, a trail of its own.
    public var inBackground: Call {
        var copy = self
        copy.due = nil
        copy.overrun = nil
        copy.arrived = nil
        copy.trail = Trail.Recorder()
        return copy
    }
}

extension Loaded where Value == Entry {
    /// The origin's answer that the copy named by the call is still current.
    ///
    /// - Throws: ``LoadError`` when the call named none.
    public static func unchanged(_ call: Call) throws -> Loaded<Entry> {
        guard let known = call.known else {
            throw LoadError(.failed, "the origin says unchanged, but was told of no copy")
        }
        return Loaded(known, from: .revalidated)
    }
}
