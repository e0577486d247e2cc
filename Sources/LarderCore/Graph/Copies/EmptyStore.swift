/// A store that keeps nothing.
package struct EmptyStore: Store {
    /// A store that keeps nothing.
    package init() {}

    /// Finds nothing.
    package func read(_ reading: Reading) -> Found? { nil }

    /// Keeps nothing.
    package func write(_ entry: Entry, for key: Key) -> Bool { false }

    /// Has nothing to expire.
    package func expire(_ selection: Selection) {}

    /// Lists nothing.
    package func list(after cursor: StoreCursor?, most count: Int) -> StorePage { StorePage([]) }

    /// Has nothing to pin.
    package func setPinned(_ isPinned: Bool, for key: Key) -> Bool { false }

    /// Always false, because there is nothing to close.
    package var needsClosing: Bool { false }

    /// Has nothing to remove.
    package func remove(_ selection: Selection) {}

    /// Counts nothing.
    package func statistics() -> StoreStatistics { StoreStatistics() }
}
