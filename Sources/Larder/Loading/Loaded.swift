/// Where a value came from.
public enum Source: Hashable, Sendable, CustomStringConvertible {
    /// The origin has just sent it.
    case origin
    /// The origin has just said that the kept copy is still current.
    case revalidated
    /// A kept copy, from the named store or tier.
    case store(String)
    /// The named fallback.
    case fallback(String)

    /// `origin`, `revalidated`, `memory`, `fallback file`.
    public var description: String {
        switch self {
        case .origin: "origin"
        case .revalidated: "revalidated"
        case .store(let tier): tier
        case .fallback(let name): "fallback \(name)"
        }
    }
}

/// How current a value is.
public enum Freshness: String, Hashable, Sendable {
    /// The policy takes it as current.
    case fresh
    /// Its time is over; a window of the policy, or a fallback, allowed it all the same.
    case stale
}

/// What a load returns: a value, and an honest account of it.
public struct Loaded<Value: Sendable>: Sendable {
    /// The value.
    public var value: Value
    /// Where it came from.
    public var source: Source
    /// How current it is.
    public var freshness: Freshness
    /// How old it is; nil when nobody knows, as with a fallback.
    public var age: Duration?
    /// Whether it is kept by a store now.
    public var isStored: Bool
    /// Whether it stands in for a call that failed, was refused or took too long.
    public var fellBack: Bool
    /// What the copy may be used for, when it is one.
    public var permissions: Permissions
    /// The decisions that led here.
    public var trail: Trail

    /// A value with its account; by default, one that the origin has just sent.
    public init(
        _ value: Value, from source: Source = .origin, freshness: Freshness = .fresh, age: Duration? = .zero,
        isStored: Bool = false, fellBack: Bool = false, permissions: Permissions = Permissions(.all),
        trail: Trail = Trail()
    ) {
        self.value = value
        self.source = source
        self.freshness = freshness
        self.age = age
        self.isStored = isStored
        self.fellBack = fellBack
        self.permissions = permissions
        self.trail = trail
    }

    /// The same account of another value.
    public func map<Other: Sendable, Failure: Error>(
        _ transform: (Value) throws(Failure) -> Other
    ) throws(Failure) -> Loaded<Other> {
        Loaded<Other>(
            try transform(value), from: source, freshness: freshness, age: age, isStored: isStored, fellBack: fellBack,
            permissions: permissions, trail: trail)
    }
}
