/// What lies where in a store of limited capacity, and what goes when it is full. A plain value: its owner locks.
struct Catalog<ID: Hashable & Sendable, Item: Sendable>: Sendable {
    private struct Place: Sendable {
        var id: ID
        var item: Item
        var weight: Int
    }

    private let bytes: Int
    private let entries: Int
    private var eviction: any Eviction
    private var index: [ID: Int] = [:]
    private var places: [Place?] = []
    private var free: [Int] = []
    private(set) var statistics = StoreStatistics()

    init(bytes: Int, entries: Int?, eviction: any Eviction) {
        self.bytes = bytes
        self.entries = entries ?? .max
        self.eviction = eviction
    }

    /// The item, without counting that anybody looked.
    func peek(_ id: ID) -> Item? {
        index[id].flatMap { places[$0]?.item }
    }

    /// Counts a use of the item.
    mutating func used(_ id: ID) {
        guard let place = index[id] else { return }
        statistics.hits += 1
        eviction.used(place)
    }

    /// Counts that something was looked for and not found.
    mutating func missed() {
        statistics.misses += 1
    }

    /// Puts an item in, in place of an older one, and makes room for it.
    ///
    /// - Returns: what was forgotten for it; nil when the item is too large to be kept at all.
    mutating func insert(_ item: Item, as id: ID, hash: Int, weight: Int) -> [(id: ID, item: Item)]? {
        remove(id)
        guard weight <= bytes, entries > 0 else { return nil }
        var evicted: [(id: ID, item: Item)] = []
        while statistics.bytes > bytes - weight || statistics.entries >= entries {
            // An eviction that gives nothing up must not make the store grow.
            guard let place = eviction.evict(), let old = empty(place) else { return nil }
            statistics.evictions += 1
            evicted.append((old.id, old.item))
        }
        let place = free.popLast() ?? places.count
        if place == places.count { places.append(nil) }
        places[place] = Place(id: id, item: item, weight: weight)
        index[id] = place
        statistics.entries += 1
        statistics.bytes += weight
        eviction.inserted(place, hash: hash, weight: weight)
        return evicted
    }

    /// Takes an item out.
    @discardableResult
    mutating func remove(_ id: ID) -> Item? {
        guard let place = index[id], let old = empty(place) else { return nil }
        eviction.removed(place)
        return old.item
    }

    /// Takes out every item whose id is meant.
    ///
    /// - Returns: the ids of what was taken out.
    mutating func removeAll(where isMeant: (ID, Item) -> Bool) -> [ID] {
        let meant = index.filter { id, place in places[place].map { isMeant(id, $0.item) } ?? false }.map(\.key)
        for id in meant { remove(id) }
        return meant
    }

    private mutating func empty(_ place: Int) -> Place? {
        guard let old = places[place] else { return nil }
        places[place] = nil
        free.append(place)
        index[old.id] = nil
        statistics.entries -= 1
        statistics.bytes -= old.weight
        return old
    }
}
