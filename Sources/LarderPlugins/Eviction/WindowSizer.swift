import LarderCore

/// The division of a store between a window for new entries and a main part for entries that proved useful.
///
/// An eviction does not know the store's capacity. It takes the total weight at the last eviction for it.
struct WindowSizer: Sendable {
    /// The window's share of the store.
    var share: Double
    /// The total weight at the last eviction; `Int.max` before the first one.
    private(set) var limit = Int.max

    /// Returns whether the store has so much room that entries which leave the window can stay.
    func isFilling<Record>(_ queues: LinkedQueues<Record>) -> Bool {
        queues.weight < limit - limit / 16
    }

    /// Returns the capacity of the window: its share, but at least the average weight of an entry.
    func window<Record>(_ queues: LinkedQueues<Record>) -> Int {
        max(Int(Double(queues.weight) * share), queues.weight / max(1, queues.count))
    }

    /// Records the total weight when an entry must be evicted.
    mutating func willEvict<Record>(_ queues: LinkedQueues<Record>) {
        if queues.count > 0 { limit = queues.weight }
    }
}
