extension Plugin {
    /// Least recently used.
    static let lru = Plugin.eviction("lru", "Forgets what was not used for the longest time.") { LRU() }
}

/// Forgets what was not used for the longest time: a doubly linked list in arrays, place 0 of which is its end.
struct LRU: Eviction {
    private var newer: [Int] = [0]
    private var older: [Int] = [0]

    mutating func inserted(_ place: Int, hash: Int, weight: Int) {
        let link = place + 1
        while newer.count <= link {
            newer.append(-1)
            older.append(-1)
        }
        append(link)
    }

    mutating func used(_ place: Int) {
        unlink(place + 1)
        append(place + 1)
    }

    mutating func removed(_ place: Int) {
        unlink(place + 1)
    }

    mutating func evict() -> Int? {
        let oldest = newer[0]
        guard oldest != 0 else { return nil }
        unlink(oldest)
        return oldest - 1
    }

    private mutating func append(_ link: Int) {
        let newest = older[0]
        newer[newest] = link
        older[link] = newest
        newer[link] = 0
        older[0] = link
    }

    private mutating func unlink(_ link: Int) {
        newer[older[link]] = newer[link]
        older[newer[link]] = older[link]
    }
}
