import LarderSystem

/// The source of a value.
public enum Source: Hashable, Sendable, CustomStringConvertible {
    /// The origin has just sent the value.
    case origin
    /// The origin has just said that the kept copy is still current.
    case revalidated
    /// The value is a copy from the store or tier with this name.
    case store(String)
    /// The value comes from the fallback with this name.
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

/// The freshness of a value.
public enum Freshness: String, Hashable, Sendable {
    /// The policy regards the value as current.
    case fresh
    /// The value is no longer current, but a window of the policy allowed it, or it comes from a fallback.
    case stale
}

/// The result of a load: a value, its source, its freshness, its age and the trail of decisions.
///
/// Origins and wrappers may create results. A strategy must return a result that it got from its sides. The graph
/// rejects any other result of a strategy.
public struct Loaded<Value: Sendable>: Sendable {
    /// The value.
    public internal(set) var value: Value {
        @inlinable get { content }
        set { content = newValue }
    }
    @usableFromInline var content: Value
    @usableFromInline package var provenance: Provenance

    /// Creates a result. By default, the origin has just sent the value.
    public init(
        _ value: Value, from source: Source = .origin, freshness: Freshness = .fresh, age: Duration? = .zero,
        isStored: Bool = false, fellBack: Bool = false, permissions: Permissions = Permissions(.all),
        trail: Trail = Trail()
    ) {
        content = value
        provenance = Provenance(
            source: source, freshness: freshness, isStored: isStored, fellBack: fellBack, permissions: permissions,
            nanoseconds: age?.nanoseconds ?? .min, trail: trail)
    }

    @inlinable
    init(_ value: Value, provenance: Provenance) {
        content = value
        self.provenance = provenance
    }

    /// The facts about the payload from which the value was decoded: its tag, its type, its fields, the notes of
    /// plugins. Nil if the result was created without an entry.
    ///
    /// The metadata of a decoded value lack ``Metadata/askedAt`` and ``Metadata/spread``, which only validators need.
    public var metadata: Metadata? {
        if let entry = content as? Entry { return entry.metadata.withoutVariantTag }
        return provenance.metadata?.withoutVariantTag
    }

    /// The source of the value.
    public internal(set) var source: Source {
        get { provenance.source }
        set { provenance.source = newValue }
    }
    /// The freshness of the value.
    public internal(set) var freshness: Freshness {
        get { provenance.freshness }
        set { provenance.freshness = newValue }
    }
    /// The age of the value; nil if it is not known, as with a fallback. The age of a copy in memory may be up to 20 ms too
    /// low, because hits read a clock that advances in steps.
    public internal(set) var age: Duration? {
        get { provenance.nanoseconds == .min ? nil : .nanoseconds(provenance.nanoseconds) }
        set { provenance.nanoseconds = newValue?.nanoseconds ?? .min }
    }
    /// Whether a store now keeps the value.
    public internal(set) var isStored: Bool {
        get { provenance.isStored }
        set { provenance.isStored = newValue }
    }
    /// Whether the value is a copy or a fallback that was returned because a call failed, was refused or was too slow.
    public internal(set) var fellBack: Bool {
        get { provenance.fellBack }
        set { provenance.fellBack = newValue }
    }
    /// The permissions of the copy, if the value is one. For an answer of the origin, only ``Permissions/freshFor`` is
    /// set.
    package internal(set) var permissions: Permissions {
        get { provenance.permissions }
        set { provenance.permissions = newValue }
    }
    /// The decisions that led to this result.
    public internal(set) var trail: Trail {
        get { provenance.trail }
        set { provenance.trail = newValue }
    }

    /// Returns the same result with another value. A strategy cannot return it, because it does not come from one of
    /// its sides.
    @inlinable
    public consuming func map<Other: Sendable, Failure: Error>(
        _ transform: (Value) throws(Failure) -> Other
    ) throws(Failure) -> Loaded<Other> {
        let provenance = provenance.passedOn(from: content, to: Other.self)
        return Loaded<Other>(try transform(value), provenance: provenance)
    }
}

extension Uses {
    /// The best of these uses for showing a copy: fresh, then while revalidating, then on error. Empty if there is none.
    @inline(__always) var best: Uses {
        if contains(.fresh) { return .fresh }
        if contains(.whileRevalidating) { return .whileRevalidating }
        return intersection(.onError)
    }
}
