import LarderSystem

/// The possible uses of a copy.
public struct Uses: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: UInt8

    /// Creates the set with these bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The copy is served as fresh.
    public static let fresh = Uses(rawValue: 1)
    /// The copy is served as stale while a refresh is running.
    public static let whileRevalidating = Uses(rawValue: 2)
    /// The copy is served as stale because the origin failed.
    public static let onError = Uses(rawValue: 4)
    /// The copy's version is sent to the origin, which may confirm it.
    public static let revalidation = Uses(rawValue: 8)
    /// The copy is fresh, and a refresh may start before its freshness ends. A validator refuses this for a copy that
    /// its origin does not change while it is fresh.
    public static let earlyRefresh = Uses(rawValue: 16)

    /// All uses.
    public static let all: Uses = [.fresh, .whileRevalidating, .onError, .revalidation, .earlyRefresh]
    /// The uses in which the copy is shown to a caller.
    public static let showing: Uses = [.fresh, .whileRevalidating, .onError]
}

/// The uses of a copy that validators allow, and their reasons.
public struct Permissions: Sendable, Hashable {
    /// A validator's reason for allowing or refusing some uses: `age.onError 7d`.
    package struct StatedReason: Sendable, Hashable {
        /// The uses that are allowed or refused.
        package var uses: Uses
        /// Whether the uses are allowed.
        package var allows: Bool
        /// The reason, short enough for a line of a trail. It never holds a key or a payload.
        package var text: String
        /// The window after the end of freshness, in nanoseconds, that would have been needed to allow the uses; negative if
        /// no window is the reason.
        package var neededWindow: Int64 = -1
    }

    /// The allowed uses.
    package private(set) var uses: Uses
    /// The time of ``freshNanoseconds``; nil if no validator set it.
    package var freshFor: Duration? {
        get { freshNanoseconds < 0 ? nil : .nanoseconds(freshNanoseconds) }
        set { freshNanoseconds = newValue.map { max(0, $0.nanoseconds) } ?? -1 }
    }
    /// The time in nanoseconds that a copy stays fresh after it was fetched or validated; negative if no validator set it.
    /// A number costs less than a duration, which matters to validators because they run on every read.
    public var freshNanoseconds: Int64 = -1
    /// The reasons that validators gave.
    package var statedReasons: [StatedReason] { stated ?? [] }
    /// The reasons; nil if there are none, as on most hits. Hits copy this value, and nil is cheap to copy.
    private var stated: [StatedReason]?

    var hasReasons: Bool { stated != nil }

    init(_ uses: Uses, freshNanoseconds: Int64, statedReasons: [StatedReason]) {
        self.uses = uses
        self.freshNanoseconds = freshNanoseconds
        stated = statedReasons.isEmpty ? nil : statedReasons
    }

    /// Creates a permission for `uses`, without a reason.
    public init(_ uses: Uses) {
        self.uses = uses
    }

    /// Returns the same permissions with a reason for allowing `uses`.
    public func because(_ uses: Uses, _ reason: String) -> Permissions {
        var copy = self
        copy.stated = statedReasons + [StatedReason(uses: uses, allows: true, text: reason)]
        return copy
    }

    /// Returns the permissions without `uses`, with the reason for the refusal.
    public func refusing(_ uses: Uses, _ reason: String) -> Permissions {
        var copy = self
        copy.uses.subtract(uses)
        copy.stated = statedReasons + [StatedReason(uses: uses, allows: false, text: reason)]
        return copy
    }

    /// Returns the permissions without `uses`, with the reason for the refusal: the window after the end of the copy's
    /// freshness, which the policy sets, is too short.
    ///
    /// - Parameter needed: the time since the end of freshness, in nanoseconds. A longer window would have allowed the
    ///   uses. Metrics count it, so that they can tell what a longer window would have brought.
    public func refusing(_ uses: Uses, _ reason: String, neededWindow needed: Int64) -> Permissions {
        var copy = refusing(uses, reason)
        if let last = copy.stated?.indices.last { copy.stated?[last].neededWindow = max(0, needed) }
        return copy
    }

    /// The window after the end of freshness, in nanoseconds, that would have been needed to show the copy on an error. Nil
    /// if it may be shown, or was refused for another reason, too.
    var neededWindowOnError: Int64? {
        if allows(.onError) { return nil }
        let refusals = statedReasons.filter { !$0.allows && $0.uses.contains(.onError) }
        guard refusals.allSatisfy({ $0.neededWindow >= 0 }) else { return nil }
        return refusals.map(\.neededWindow).max()
    }

    /// Returns the uses that both allow, with the reasons of both.
    func intersection(_ other: Permissions) -> Permissions {
        var copy = self
        copy.uses.formIntersection(other.uses)
        let limit = other.freshNanoseconds
        if limit >= 0 { copy.freshNanoseconds = freshNanoseconds < 0 ? limit : min(limit, freshNanoseconds) }
        if let reasons = other.stated { copy.stated = statedReasons + reasons }
        return copy
    }

    /// Returns whether any of `uses` is allowed.
    public func allows(_ uses: Uses) -> Bool {
        !self.uses.isDisjoint(with: uses)
    }

    /// The reasons of the validators that refused every use in which the copy is shown.
    var reasonsAgainstShowing: [String] {
        statedReasons.filter { !$0.allows && $0.uses.isSuperset(of: .showing) }.map(\.text)
    }

    /// Returns the reasons for allowing `uses`, or the reasons for refusing them if none is allowed.
    package func reasons(for uses: Uses) -> [String] {
        let allowed = allows(uses)
        return statedReasons.filter { $0.allows == allowed && !$0.uses.isDisjoint(with: uses) }.map(\.text)
    }
}
