/// An entry that a store found.
public struct Found: Sendable {
    /// The entry.
    public var entry: Entry
    /// The name of the store or tier that holds the entry.
    public var tier: String
    /// Whether the entry comes from outside this process's memory, so that validators must admit it before it is used.
    public var isForeign: Bool
    /// The number of tiers above. They do not have the entry, or have an older one.
    public var depth: Int
    /// The failures of tiers before the entry was found.
    public var faults: [StoreFault]

    /// Creates the result of a read.
    public init(_ entry: Entry, tier: String, isForeign: Bool, depth: Int = 0, faults: [StoreFault] = []) {
        self.entry = entry
        self.tier = tier
        self.isForeign = isForeign
        self.depth = depth
        self.faults = faults
    }
}
