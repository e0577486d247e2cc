/// Keeps nothing: for a policy without a store.
struct EmptyStore: Store {
    func read(_ key: Key) -> Found? { nil }
    func write(_ entry: Entry, for key: Key) -> Bool { false }
    func remove(_ selection: Selection) {}
    func statistics() -> StoreStatistics { StoreStatistics() }
}
