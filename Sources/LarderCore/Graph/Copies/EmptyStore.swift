/// A store that keeps nothing.
public struct EmptyStore: Store {
    /// A store that keeps nothing.
    public init() {}

    /// Finds nothing.
    public func read(_ key: Key) -> Found? { nil }

    /// Keeps nothing.
    public func write(_ entry: Entry, for key: Key) -> Bool { false }

    /// Contains nothing.
    public func contains(_ key: Key) -> Bool { false }

    /// Has nothing to expire.
    public func expire(_ selection: Selection) {}

    /// Lists nothing.
    public func list(after cursor: StoreCursor?, most count: Int) -> StorePage { StorePage([]) }

    /// Has nothing to pin.
    public func pin(_ key: Key) -> Bool { false }

    /// Always false, because there is nothing to close.
    public var needsClosing: Bool { false }

    /// Has nothing to unpin.
    public func unpin(_ key: Key) {}

    /// Has nothing to remove.
    public func remove(_ selection: Selection) {}

    /// Counts nothing.
    public func statistics() -> StoreStatistics { StoreStatistics() }
}
