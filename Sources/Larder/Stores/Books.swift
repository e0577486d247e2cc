/// What a ``Catalog`` knows of all its shards together: how much is kept, in which places, and what goes next.
struct Books: Sendable {
    private(set) var entries = 0
    private(set) var bytes = 0
    private(set) var evictions = 0
    private var eviction: any Eviction
    private var isTaken: [Bool] = []
    private var used: [Int32] = []
    /// The place that was looked at last.
    private var hand = -1

    init(eviction: any Eviction) {
        self.eviction = eviction
    }

    /// Tells the eviction what was used since the last time.
    mutating func learn(from recency: Recency) {
        recency.read { place in
            // It may have been emptied since.
            if place < isTaken.count, isTaken[place] { used.append(Int32(truncatingIfNeeded: place)) }
        }
        guard !used.isEmpty else { return }
        used.withUnsafeBufferPointer { eviction.used($0) }
        used.removeAll(keepingCapacity: true)
    }

    mutating func enter(_ place: Int, hash: Int, weight: Int) {
        while isTaken.count <= place { isTaken.append(false) }
        isTaken[place] = true
        entries += 1
        bytes += weight
        eviction.inserted(place, hash: hash, weight: weight)
    }

    mutating func change(_ place: Int, from old: Int, to weight: Int) {
        bytes += weight - old
        eviction.changed(place, weight: weight)
        eviction.used(place)
    }

    /// A place was emptied for a reason that is none of the eviction's.
    mutating func leave(_ place: Int, weight: Int) {
        close(place, weight)
        eviction.removed(place)
    }

    /// The place that is to be emptied next; nil when the eviction names none that is taken.
    mutating func next() -> Int? {
        guard let place = eviction.evict(), isTaken.indices.contains(place), isTaken[place] else { return nil }
        return place
    }

    /// That place was emptied.
    mutating func evicted(_ place: Int, weight: Int) {
        close(place, weight)
        evictions += 1
    }

    /// The next place in turn; nil when nothing is there.
    mutating func turn() -> Int? {
        hand = hand + 1 < isTaken.count ? hand + 1 : 0
        return hand < isTaken.count && isTaken[hand] ? hand : nil
    }

    private mutating func close(_ place: Int, _ weight: Int) {
        isTaken[place] = false
        entries -= 1
        bytes -= weight
    }
}
