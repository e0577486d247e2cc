/// Chooses the entries that a full store removes.
///
/// A store keeps each entry in a numbered place. The numbers begin at zero, and the store reuses the numbers of empty
/// places. So an eviction can keep its state in arrays. The store holds its lock during the calls, so that each method
/// must take constant time and rarely allocate.
///
/// A store inserts a new entry first, and then calls ``evict()`` until all entries fit again. So the eviction may
/// choose the new entry. The eviction does not know the capacity: when the store calls ``evict()``, the store is full.
public protocol Eviction: Sendable {
    /// The store put a new entry into a place. `hash` is the hash of its key, which is the same each time the key is
    /// inserted.
    mutating func inserted(_ place: Int, hash: Int, weight: Int)

    /// The entry in a place was used. The place may have been emptied since. Then this must do nothing.
    mutating func used(_ place: Int)

    /// The entries in these places were used, in this order. By default, calls ``used(_:)-(Int)`` for each.
    mutating func used(_ places: UnsafeBufferPointer<Int32>)

    /// The entry in a place was replaced by one with another weight. Does nothing by default.
    mutating func changed(_ place: Int, weight: Int)

    /// The store emptied a place for a reason of its own.
    mutating func removed(_ place: Int)

    /// Returns the place that the store must empty next, and forgets it. Returns nil if all places are empty.
    mutating func evict() -> Int?
}

extension Eviction {
    /// Calls ``used(_:)-(Int)`` for each place.
    public mutating func used(_ places: UnsafeBufferPointer<Int32>) {
        for place in places { used(Int(place)) }
    }

    /// Does nothing.
    public mutating func changed(_ place: Int, weight: Int) {}
}
