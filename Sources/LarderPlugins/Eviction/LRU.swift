import LarderCore

extension Plugin {
    /// Eviction of the least recently used entry.
    static let lru = Plugin.eviction("lru", "Evicts the entry that has not been used for the longest time.") { LRU() }
}

/// An eviction that evicts the entry that was unused for the longest time.
struct LRU: Eviction {
    private var queues = LinkedQueues(lists: 1, blank: ())

    mutating func inserted(_ place: Int, hash: Int, weight: Int) {
        queues.insert(place, weight: weight, record: (), in: 0)
    }

    mutating func used(_ place: Int) {
        queues.move(place, to: 0)
    }

    mutating func changed(_ place: Int, weight: Int) {
        queues.setWeight(weight, of: place)
    }

    mutating func removed(_ place: Int) {
        queues.remove(place)
    }

    mutating func evict() -> Int? {
        let oldest = queues.oldest(0)
        if let oldest { queues.remove(oldest) }
        return oldest
    }
}
