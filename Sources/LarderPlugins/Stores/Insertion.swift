import LarderCore

/// The result of an insertion into a ``ShardedTable``. Release it outside locks: freeing the items can take time and
/// may run an app's code.
@_spi(Bench) public struct Insertion<ID, Item> {
    /// Whether the item is kept. It is not if it is too large, or if the eviction chose it at once.
    @usableFromInline var isKept: Bool
    /// The item that was replaced.
    @usableFromInline var replaced: Item?
    /// The first item that was evicted. There is usually at most one, so that no array is needed.
    @usableFromInline var first: (id: ID, item: Item)?
    @usableFromInline var others: [(id: ID, item: Item)] = []
    /// The place of the item.
    @usableFromInline let place: Int

    @inlinable
    init(isKept: Bool, replaced: Item? = nil, place: Int = -1) {
        self.isKept = isKept
        self.replaced = replaced
        self.place = place
    }

    /// The items that were evicted.
    var evicted: [(id: ID, item: Item)] {
        first.map { [$0] + others } ?? []
    }

    @inlinable
    mutating func evict(_ id: ID, _ item: Item) {
        if first == nil { first = (id, item) } else { others.append((id, item)) }
    }
}
