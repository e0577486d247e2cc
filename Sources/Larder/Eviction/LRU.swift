extension Plugin {
    /// Least recently used.
    static let lru = Plugin.eviction("lru", "Forgets what was not used for the longest time.") { LRU() }
}

/// Forgets what was not used for the longest time.
struct LRU: Eviction {
    private var places = Chains(lists: 1, blank: ())

    mutating func inserted(_ place: Int, hash: Int, weight: Int) {
        places.insert(place, weight: weight, mark: (), in: 0)
    }

    mutating func used(_ place: Int) {
        places.move(place, to: 0)
    }

    mutating func changed(_ place: Int, weight: Int) {
        places.setWeight(weight, of: place)
    }

    mutating func removed(_ place: Int) {
        places.remove(place)
    }

    mutating func evict() -> Int? {
        let oldest = places.oldest(0)
        if let oldest { places.remove(oldest) }
        return oldest
    }
}
