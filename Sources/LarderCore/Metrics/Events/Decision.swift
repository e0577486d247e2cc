public import LarderSystem

/// An event of a resource for the log: a load that was not answered with live or fresh data, a failure of a store, a
/// message of a plugin, or a change of the policy. It holds no key, parameter or payload.
public struct Decision: Sendable {
    /// The kind of an event. A plugin may have kinds of its own: see ``Context/tell(_:_:)``.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The name in the log: `storeFault`.
        public let rawValue: String

        /// Creates the kind with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A load was answered by a copy or a fallback because a call failed, was refused or was too slow.
        package static let fallback = Kind(rawValue: "fallback")
        /// A stale copy was served without waiting for a call.
        package static let stale = Kind(rawValue: "stale")
        /// A load ended with an error.
        package static let failed = Kind(rawValue: "failed")
        /// A change was sent to the origin, or failed.
        package static let send = Kind(rawValue: "send")
        /// A store failed.
        package static let storeFault = Kind(rawValue: "storeFault")
        /// Another policy took effect, or the policy was removed.
        package static let policy = Kind(rawValue: "policy")
        /// New policies were refused. The last valid policies stay in effect.
        package static let refused = Kind(rawValue: "refused")
        /// A part of the cache folder cannot be used: a store, the log, or the file of the dumps. The pantry goes on
        /// without it. The event is sent once until the part works again.
        package static let cacheUnusable = Kind(rawValue: "cacheUnusable")
        /// A part of the cache folder that could not be used works again.
        package static let cacheUsable = Kind(rawValue: "cacheUsable")
        /// Another program moved, deleted or emptied the log or the dump, so that a new file was begun, or lines are
        /// missing in the log.
        package static let interrupted = Kind(rawValue: "interrupted")
        /// The network was lost, or has returned.
        package static let network = Kind(rawValue: "network")
    }

    /// The wall time of the event.
    public let at: Timestamp
    /// The resource; nil if the event is about all resources.
    public let resource: String?
    /// The revision of the policy that made the decision; nil if there is none.
    public let revision: String?
    /// The kind of the event.
    public let kind: Kind
    /// A description of the event.
    public var note: String { load.map { $0.error?.message ?? $0.trail.description } ?? text }
    private let text: String
    /// The load; nil if the event is not about a load.
    public let load: LoadReport?

    init(at: Timestamp, resource: String?, revision: String?, kind: Kind, note: String) {
        (self.at, self.resource, self.revision, self.kind, text) = (at, resource, revision, kind, note)
        load = nil
    }

    /// Creates the event of a load. Returns nil if the load was cancelled, or was answered with live or fresh data.
    init?(_ load: LoadReport) {
        switch load.outcome {
        case .fallback: kind = .fallback
        case .stale: kind = .stale
        case .failed: kind = .failed
        case .live, .fresh, nil: return nil
        }
        at = load.began + load.took
        (resource, revision) = (load.resource, load.revision)
        text = ""
        self.load = load
    }

    /// The event as one line of the log.
    public var json: JSON {
        let head = JSON.present([
            "at": .number(at.inSeconds), "kind": .string(kind.rawValue), "resource": resource.map(JSON.string),
            "revision": revision.map(JSON.string),
        ])
        guard let load else { return .joined(head, ["note": .string(note)]) }
        return .joined(
            head,
            .present([
                "took": .number(load.took.inSeconds), "source": load.source.map { .string($0.description) },
                "age": load.age.map { .number($0.inSeconds) }, "error": load.error.map { .string($0.code.rawValue) },
                "status": load.error?.status.map(JSON.int), "trail": .list(load.trail.lines.map { .string($0) }),
                "steps": .list(load.trail.steps.map(\.json)),
            ]))
    }
}
