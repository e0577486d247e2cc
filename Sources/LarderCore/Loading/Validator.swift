public import LarderSystem

/// Decides whether payloads may be kept and copies may be shown.
///
/// Both methods are synchronous. They may be called from any thread and at the same time.
public protocol Validator: Sendable {
    /// Checks a payload when it arrives, may note facts in the entry's metadata, and says whether it may be kept.
    ///
    /// - Parameters:
    ///   - entry: the payload and its metadata. Only notes and other facts of the metadata may be changed, never the
    ///     payload or the times.
    ///   - arrival: the source of the payload.
    ///   - request: the request that the payload answers. If callers share a call, it is the request of the first one.
    /// - Throws: ``Refusal`` if the payload must not be used.
    func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission

    /// Returns the permitted uses of a copy for a request at a time.
    ///
    /// It runs on every read, while the store may hold a lock. So it must use only the metadata, the request and the
    /// time, take constant time, and access no store. It can run several times in one load, so do not count there.
    func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions

    /// The rule by which the validator permits fresh copies; nil by default.
    ///
    /// The graph asks for it once. If all validators have a rule, hits on fresh copies do not call
    /// ``permit(_:for:at:)``. The rule must say the same as that method.
    var permitRule: PermitRule? { get }
}

/// The copies that a validator permits for every use, without a reason.
public struct PermitRule: Sendable, Hashable {
    /// The age from which copies are not permitted, in nanoseconds.
    package let length: Int64
    /// The ``Permissions/freshNanoseconds`` of a permitted copy.
    package let freshNanoseconds: Int64

    /// Every copy is permitted.
    public static let everything = PermitRule(length: .max, freshNanoseconds: -1)

    /// A copy is permitted while its age is at least zero and less than `length`, which is its
    /// ``Permissions/freshNanoseconds``.
    public static func fresh(for length: Duration) -> PermitRule {
        PermitRule(length: max(0, length.nanoseconds), freshNanoseconds: max(0, length.nanoseconds))
    }
}

extension Validator {
    /// Admits everything, to be kept.
    public func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission {
        .keep
    }

    /// Permits everything.
    public func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
        Permissions(.all)
    }

    /// Nil: the validator has no rule.
    public var permitRule: PermitRule? { nil }
}

/// A validator's decision about a payload that it does not refuse.
public enum Admission: Hashable, Sendable {
    /// The payload may be used and kept.
    case keep
    /// The payload may be used but not kept, as with the HTTP directive `no-store`.
    ///
    /// Every caller that waits for the answer gets it, and no store keeps it. A copy of an older answer stays, but is
    /// shown only when the origin fails. A copy about which a validator says this when it is read from a disk or
    /// confirmed by the origin is used once more and removed.
    case useOnly
}

/// The source of a payload that arrives.
public enum Arrival: Hashable, Sendable {
    /// The origin. The payload is new.
    case origin
    /// The origin said that the kept payload is still current. The entry has the notes that were made when its payload
    /// was new.
    case unchanged
    /// A fallback. The payload is new, and will not be kept.
    case fallback
    /// A store outside this process's memory. The entry has the notes that were made when its payload was new.
    case store

    /// Whether the payload is new, so that a validator should note its facts about it.
    public var isNew: Bool { self == .origin || self == .fallback }
}

/// A validator's refusal to admit a payload.
public struct Refusal: Error, Hashable, Sendable {
    /// The reason, without a key or payload in it.
    public var reason: String

    /// Creates a refusal with its reason.
    public init(_ reason: String) {
        self.reason = reason
    }

    /// The reason for removing a copy that may be used but not kept.
    static let mayNotBeKept = Refusal("it may not be kept")
}

/// A validator that combines several. A payload must be admitted by all of them, and a use must be permitted by all.
package struct Validators: Validator {
    /// The first validator. It is often the only one, and is then called without access to an array.
    private let first: any Validator
    private let others: [any Validator]
    /// The rule of all validators together. It permits nothing if one of them has no rule.
    private let rule: PermitRule

    private struct PermitsEverything: Validator {
        var permitRule: PermitRule? { .everything }
    }

    /// Creates a validator that calls these validators in this order.
    package init(_ members: [any Validator]) {
        first = members.first ?? PermitsEverything()
        others = Array(members.dropFirst())
        let rules = members.compactMap(\.permitRule)
        rule = PermitRule(
            length: rules.count < members.count ? 0 : rules.map(\.length).min() ?? .max,
            freshNanoseconds: rules.map(\.freshNanoseconds).filter { $0 >= 0 }.min() ?? -1)
    }

    /// Returns whether the rules of all validators permit a copy for every use, and it is neither expired nor an unused
    /// prefetch. If not, they must be called. The age may be 20 ms too low: see ``World/roughNow``.
    @inline(__always)
    func permitAll(_ metadata: borrowing Metadata, aged age: Int64, for request: borrowing Request) -> Bool {
        age >= 0 && age < rule.length &- 20_000_000 && !metadata.isMarked && request.details == nil
    }

    /// The ``Permissions/freshNanoseconds`` of a copy that the rules permit.
    @inline(__always) var freshNanoseconds: Int64 { rule.freshNanoseconds }

    /// Calls each validator in turn. The payload may be kept if all of them say so.
    public func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission {
        var admission = try first.admit(&entry, from: arrival, for: request)
        for member in others {
            if try member.admit(&entry, from: arrival, for: request) == .useOnly { admission = .useOnly }
        }
        return admission
    }

    /// Returns the uses that all validators permit, or all uses if there are no validators. An entry from the future is
    /// never fresh, because its age is not known. An expired entry is shown only when the origin fails. An entry that
    /// is older than the request allows is not shown.
    public func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
        var permissions = first.permit(metadata, for: request, at: now)
        for member in others { permissions = permissions.intersection(member.permit(metadata, for: request, at: now)) }
        if permissions.allows(.fresh), now < metadata.confirmedAt {
            permissions = permissions.refusing(.fresh, "it is from the future")
        }
        if metadata.isExpired {
            permissions = permissions.refusing([.fresh, .whileRevalidating], "it is expired")
        }
        if request.details != nil, let limit = request.noOlderThan {
            let age = metadata.age(at: now)
            // The age of an entry from the future is not known.
            if age < .zero || age >= limit {
                permissions = permissions.refusing(.showing, "older than the request allows")
            }
        }
        return permissions
    }
}

extension Validators {
    /// Returns the window after the end of freshness, in nanoseconds, in which the copy would have been shown on an error. Nil
    /// if it may be shown, or if a validator or the request refuses it for another reason than a window.
    func neededWindowOnError(of metadata: Metadata, for request: Request, at now: Timestamp) -> Int64? {
        let whole = permit(metadata, for: request, at: now)
        guard var needed = whole.neededWindowOnError else { return nil }
        // A validator may refuse the use without a reason.
        for member in [first] + others {
            let permissions = member.permit(metadata, for: request, at: now)
            if permissions.allows(.onError) { continue }
            guard let own = permissions.neededWindowOnError else { return nil }
            needed = max(needed, own)
        }
        return needed
    }
}
