/// What became of an insertion into a ``Catalog``. It is let go outside locks: freeing items can take a while, and may run
/// somebody's code.
public struct Insertion<ID, Item> {
    /// Whether the item is kept: not when it is too large, or is itself what the eviction gave up.
    public var isKept: Bool
    /// What was there before.
    public var replaced: Item?
    /// What was forgotten for it: mostly one, for which no array is made.
    @usableFromInline var first: (id: ID, item: Item)?
    @usableFromInline var others: [(id: ID, item: Item)] = []
    /// Where the item was put.
    @usableFromInline let place: Int

    @inlinable
    init(isKept: Bool, replaced: Item? = nil, place: Int = -1) {
        self.isKept = isKept
        self.replaced = replaced
        self.place = place
    }

    /// What was forgotten for it.
    @inlinable public var evicted: [(id: ID, item: Item)] {
        first.map { [$0] + others } ?? []
    }

    @inlinable
    mutating func evict(_ id: ID, _ item: Item) {
        if first == nil { first = (id, item) } else { others.append((id, item)) }
    }
}
