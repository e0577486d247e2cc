/// Decides what may be kept and what may be shown.
///
/// Both methods are synchronous, called from any thread and at the same time.
public protocol Validator: Sendable {
    /// Looks at a payload once, when it arrives, and may note something in its metadata.
    ///
    /// - Throws: ``Refusal`` when the payload must not be used.
    func admit(_ entry: inout Entry, from arrival: Arrival) throws(Refusal)

    /// Says what a kept copy may be used for now, from its metadata alone and in constant time: it is asked on every
    /// read, while the store cannot change: it must touch no store.
    func permit(_ metadata: Metadata, at now: Timestamp) -> Permissions
}

extension Validator {
    /// Admits everything.
    public func admit(_ entry: inout Entry, from arrival: Arrival) throws(Refusal) {}

    /// Permits everything.
    public func permit(_ metadata: Metadata, at now: Timestamp) -> Permissions { Permissions(.all) }
}

/// Where a payload arrives from.
public enum Arrival: Hashable, Sendable {
    /// The origin: the payload is new.
    case origin
    /// A fallback: the payload is new, and will not be kept.
    case fallback
    /// A store outside this process's memory: what was noted when the payload was new is there.
    case store
}

/// A validator's refusal to admit a payload.
public struct Refusal: Error, Hashable, Sendable {
    /// The reason, without a key or payload in it.
    public var reason: String

    /// A refusal with its reason.
    public init(_ reason: String) {
        self.reason = reason
    }
}

/// Several validators as one: all must admit, and what all permit is permitted.
public struct Validators: Validator {
    /// Most often the only one, which is then asked without a look into an array.
    private let first: any Validator
    private let others: [any Validator]

    private struct Everything: Validator {}

    /// The validators in the order in which they are asked.
    public init(_ members: [any Validator]) {
        first = members.first ?? Everything()
        others = Array(members.dropFirst())
    }

    /// Asks each in turn.
    public func admit(_ entry: inout Entry, from arrival: Arrival) throws(Refusal) {
        try first.admit(&entry, from: arrival)
        for member in others { try member.admit(&entry, from: arrival) }
    }

    /// Returns what all permit; everything when there are none. An entry from the future is never fresh, because its age is
    /// not known, and an expired one is shown only when the origin fails.
    public func permit(_ metadata: Metadata, at now: Timestamp) -> Permissions {
        var permissions = first.permit(metadata, at: now)
        for member in others { permissions = permissions.intersection(member.permit(metadata, at: now)) }
        if permissions.allows(.fresh), metadata.nanoseconds(at: now) < 0 {
            permissions = permissions.refusing(.fresh, "it is from the future")
        }
        if metadata.isExpired {
            permissions = permissions.refusing([.fresh, .whileRevalidating], "a newer answer could not be saved")
        }
        return permissions
    }
}
