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
///
/// Origins and wrappers make accounts of their own. A strategy hands on what its two sides gave it: the graph shows no
/// value that is accounted for by anybody else.
public struct Loaded<Value: Sendable>: Sendable {
    /// The value.
    public internal(set) var value: Value {
        @inlinable get { content }
        set { content = newValue }
    }
    @usableFromInline var content: Value
    @usableFromInline package var account: Account

    /// A value with its account; by default, one that the origin has just sent.
    public init(
        _ value: Value, from source: Source = .origin, freshness: Freshness = .fresh, age: Duration? = .zero,
        isStored: Bool = false, fellBack: Bool = false, permissions: Permissions = Permissions(.all),
        trail: Trail = Trail()
    ) {
        content = value
        account = Account(
            source: source, freshness: freshness, isStored: isStored, fellBack: fellBack, permissions: permissions,
            nanoseconds: age?.nanoseconds ?? .min, trail: trail)
    }

    @inlinable
    init(_ value: Value, account: Account) {
        content = value
        self.account = account
    }

    /// Where it came from.
    public internal(set) var source: Source {
        get { account.source }
        set { account.source = newValue }
    }
    /// How current it is.
    public internal(set) var freshness: Freshness {
        get { account.freshness }
        set { account.freshness = newValue }
    }
    /// How old it is; nil when nobody knows, as with a fallback.
    public internal(set) var age: Duration? {
        get { account.nanoseconds == .min ? nil : .nanoseconds(account.nanoseconds) }
        set { account.nanoseconds = newValue?.nanoseconds ?? .min }
    }
    /// Whether it is kept by a store now.
    public internal(set) var isStored: Bool {
        get { account.isStored }
        set { account.isStored = newValue }
    }
    /// Whether it stands in for a call that failed, was refused or took too long.
    public internal(set) var fellBack: Bool {
        get { account.fellBack }
        set { account.fellBack = newValue }
    }
    /// What the copy may be used for, when it is one.
    public var permissions: Permissions { account.permissions }
    /// The decisions that led here.
    public internal(set) var trail: Trail {
        get { account.trail }
        set { account.trail = newValue }
    }

    /// The same account of another value. A strategy cannot return it: neither of its sides gave it out.
    @inlinable
    public consuming func map<Other: Sendable, Failure: Error>(
        _ transform: (Value) throws(Failure) -> Other
    ) throws(Failure) -> Loaded<Other> {
        Loaded<Other>(try transform(value), account: account.unsealed)
    }
}

extension Uses {
    /// The use of these that does a copy most honour.
    var best: Uses? {
        if contains(.fresh) { return .fresh }
        return [.whileRevalidating, .onError].first { !isDisjoint(with: $0) }
    }
}
