/// Chooses what a full store forgets.
///
/// A store numbers its places from zero and reuses the numbers of those it has emptied, so an eviction can keep its
/// state in arrays. It is called with the store's lock held: each method takes constant time and allocates rarely.
///
/// A store puts a new entry in first and then asks ``evict()`` for places until what it keeps fits again, so the newcomer
/// itself may be what is given up. The eviction is not told how much fits: when it is asked, it is full.
public protocol Eviction: Sendable {
    /// A place was filled with a new entry. `hash` is its key's, the same whenever that key comes again.
    mutating func inserted(_ place: Int, hash: Int, weight: Int)

    /// The entry in a place was used. It may have been emptied since: then this does nothing.
    mutating func used(_ place: Int)

    /// The entries in these places were used, in this order; ``used(_:)-(Int)`` for each by default.
    mutating func used(_ places: UnsafeBufferPointer<Int32>)

    /// The entry in a place was replaced by one of another weight; of no interest by default.
    mutating func changed(_ place: Int, weight: Int)

    /// A place was emptied for a reason that is none of the eviction's.
    mutating func removed(_ place: Int)

    /// The place to empty next, which is then no longer known here; nil when none is left.
    mutating func evict() -> Int?
}

extension Eviction {
    /// Tells of each.
    public mutating func used(_ places: UnsafeBufferPointer<Int32>) {
        for place in places { used(Int(place)) }
    }

    /// Of no interest.
    public mutating func changed(_ place: Int, weight: Int) {}
}
