/// A kind of failure of one store or tier. Metrics count failures by this value.
public struct StoreFaultKey: Hashable, Sendable, Comparable {
    /// An operation that failed.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Reading an entry.
        case read
        /// Writing an entry.
        case write
        /// Removing entries.
        case remove
    }

    /// The name of the store or tier.
    public var tier: String
    /// The operation that failed.
    public var kind: Kind

    /// Creates a failure of `tier`.
    package init(tier: String, kind: Kind) {
        self.tier = tier
        self.kind = kind
    }

    /// Orders failures by tier, then by kind.
    public static func < (one: StoreFaultKey, other: StoreFaultKey) -> Bool {
        (one.tier, one.kind.rawValue) < (other.tier, other.kind.rawValue)
    }
}
