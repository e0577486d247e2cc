/// What a kept copy may be used for.
public struct Uses: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8

    /// The uses with these bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Served as fresh.
    public static let fresh = Uses(rawValue: 1)
    /// Served as stale while a refresh is under way.
    public static let whileRevalidating = Uses(rawValue: 2)
    /// Served as stale because the origin failed.
    public static let onError = Uses(rawValue: 4)
    /// Named to the origin as the version that is known here.
    public static let revalidation = Uses(rawValue: 8)

    /// Everything.
    public static let all: Uses = [.fresh, .whileRevalidating, .onError, .revalidation]
    /// What a caller may be shown at all.
    public static let showing: Uses = [.fresh, .whileRevalidating, .onError]
}

/// What validators allow a copy to be used for, and their reasons.
public struct Permissions: Sendable, Hashable {
    /// One validator's reason for allowing or refusing some uses: `age.onError 7d`.
    public struct Ground: Sendable, Hashable {
        /// The uses it is about.
        public var uses: Uses
        /// Whether it allows them.
        public var allows: Bool
        /// The reason, short enough for a line of a trail. It never holds a key or a payload.
        public var reason: String
    }

    /// What is allowed.
    public private(set) var uses: Uses
    /// How long the copy counts as fresh from its beginning, as far as anyone said.
    public var freshFor: Duration? {
        get { freshNanoseconds < 0 ? nil : .nanoseconds(freshNanoseconds) }
        set { freshNanoseconds = newValue.map { max(0, $0.nanoseconds) } ?? -1 }
    }
    /// Below zero where nobody said anything.
    var freshNanoseconds: Int64 = -1
    /// Why, as far as anyone said.
    public var grounds: [Ground] { noted ?? [] }
    /// Nil where nobody gave a reason, as on hits, which copy this.
    private var noted: [Ground]?

    var hasGrounds: Bool { noted != nil }

    init(_ uses: Uses, _ freshNanoseconds: Int64, _ grounds: [Ground]) {
        self.uses = uses
        self.freshNanoseconds = freshNanoseconds
        noted = grounds.isEmpty ? nil : grounds
    }

    /// Permission for `uses`, without a reason.
    public init(_ uses: Uses) {
        self.uses = uses
    }

    /// The same permissions with a reason for some of them.
    public func because(_ uses: Uses, _ reason: String) -> Permissions {
        var copy = self
        copy.noted = grounds + [Ground(uses: uses, allows: true, reason: reason)]
        return copy
    }

    /// The same permissions less `uses`, with the reason for the refusal.
    public func refusing(_ uses: Uses, _ reason: String) -> Permissions {
        var copy = self
        copy.uses.subtract(uses)
        copy.noted = grounds + [Ground(uses: uses, allows: false, reason: reason)]
        return copy
    }

    /// What both allow, with the reasons of both.
    public func intersection(_ other: Permissions) -> Permissions {
        var copy = self
        copy.uses.formIntersection(other.uses)
        let limit = other.freshNanoseconds
        if limit >= 0 { copy.freshNanoseconds = freshNanoseconds < 0 ? limit : min(limit, freshNanoseconds) }
        if let reasons = other.noted { copy.noted = grounds + reasons }
        return copy
    }

    /// Whether any of `uses` is allowed.
    public func allows(_ uses: Uses) -> Bool {
        !self.uses.isDisjoint(with: uses)
    }

    /// The reasons for allowing, or else for refusing, `uses`.
    public func reasons(for uses: Uses) -> [String] {
        let allowed = allows(uses)
        return grounds.filter { $0.allows == allowed && !$0.uses.isDisjoint(with: uses) }.map(\.reason)
    }
}
