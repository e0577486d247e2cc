/// Chooses what a full store forgets.
///
/// A store numbers its places from zero and reuses the numbers of those it has emptied, so an eviction can keep its
/// state in arrays. It is called with the store's lock held: each method takes constant time and allocates rarely.
public protocol Eviction: Sendable {
    /// A place was filled with a new entry. `hash` is its key's, the same whenever that key comes again.
    mutating func inserted(_ place: Int, hash: Int, weight: Int)

    /// The entry in a place was used.
    mutating func used(_ place: Int)

    /// A place was emptied for a reason that is none of the eviction's.
    mutating func removed(_ place: Int)

    /// The place to empty next, which is then no longer known here; nil when none is left.
    mutating func evict() -> Int?
}
