/// An entry that a store found.
public struct Found: Sendable {
    /// The entry.
    public var entry: Entry
    /// The name of the store or tier that holds the entry.
    public var tier: String
    /// Whether the entry comes from outside this process's memory, so that validators must admit it before it is used.
    public var isForeign: Bool
    /// The failures of tiers before the entry was found.
    public var faults: [StoreFault]
    /// Writes an entry to the tiers that lack it or have a worse one; nil if there are none. The graph calls it with the
    /// entry that was found, after the validators have admitted it, unless the key was written since.
    public var repair: (@Sendable (Entry) async throws -> Void)?
    /// The graph's judgement; nil if the store did not ask for it.
    var judged: JudgedCopy?

    /// Creates the result of a read.
    public init(
        _ entry: Entry, tier: String, isForeign: Bool, faults: [StoreFault] = [],
        repair: (@Sendable (Entry) async throws -> Void)? = nil
    ) {
        self.entry = entry
        self.tier = tier
        self.isForeign = isForeign
        self.faults = faults
        self.repair = repair
    }
}

/// A copy that the validators have admitted. A class, because the results of reads are copied often: see ``MeasuredLoader``.
final class JudgedCopy: Sendable {
    /// The entry, with the facts that the validators noted.
    let entry: Entry
    /// How good the copy is. One that is fresh is better than one that is not, and one that is expired is the worst.
    let rank: Rank
    /// Whether the copy may be kept.
    let isKept: Bool

    init(_ entry: Entry, rank: Rank, isKept: Bool) { (self.entry, self.rank, self.isKept) = (entry, rank, isKept) }

    enum Rank: Int, Comparable {
        case expired, stale, fresh

        static func < (one: Rank, other: Rank) -> Bool { one.rawValue < other.rawValue }
    }
}
