/// An entry that a store in memory removed by itself.
public struct EvictedEntry: Sendable {
    /// The reason for the removal of an entry.
    public enum Reason: String, Sendable {
        /// The store was full.
        case capacity
        /// The entry was older than the store's maximum age.
        case age
        /// Memory is short: see ``Pantry/relieve()``.
        case pressure
    }

    /// The key of the entry. It names the resource, and may hold private data that must not leave the process.
    public var key: Key
    /// The name of the store or tier.
    public var tier: String
    /// The reason for the removal.
    public var reason: Reason

    /// The metadata of the entry. Metrics need it and ``size`` to tell what a larger capacity would bring; nil if the
    /// store does not know it.
    public var metadata: Metadata?
    /// The bytes of the store's capacity that the entry took; nil if the store does not know it.
    public var size: Int?

    /// Creates the record of a removed entry.
    public init(key: Key, tier: String, reason: Reason, metadata: Metadata? = nil, size: Int? = nil) {
        (self.key, self.tier, self.reason) = (key, tier, reason)
        (self.metadata, self.size) = (metadata, size)
    }
}
