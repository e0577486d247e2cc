/// The size of a store and the counts of its operations.
public struct StoreStatistics: Hashable, Sendable {
    /// The number of entries.
    public var entries: Int
    /// The sum of the entries' weights, in bytes.
    public var bytes: Int
    /// The number of reads that found an entry. For a resource: the number of reads that found a copy which may be
    /// shown.
    public var hits: Int
    /// The number of reads that found no entry. For a resource, reads whose copy was refused are included.
    public var misses: Int
    /// The number of entries that were removed to make room.
    public var evictions: Int

    /// Creates statistics. All numbers are zero by default.
    public init(entries: Int = 0, bytes: Int = 0, hits: Int = 0, misses: Int = 0, evictions: Int = 0) {
        self.entries = entries
        self.bytes = bytes
        self.hits = hits
        self.misses = misses
        self.evictions = evictions
    }
}
