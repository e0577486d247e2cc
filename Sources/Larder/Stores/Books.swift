/// What a ``Catalog`` knows of all its shards together: how much is kept, in which places, and what goes next.
@usableFromInline struct Books: Sendable {
    private(set) var entries = 0
    private(set) var bytes = 0
    private(set) var evictions = 0
    private var eviction: any Eviction
    /// A bit for each place.
    private var taken: [UInt64] = []
    /// Places that were used and not told of yet; only so many count.
    private var used: [Int32] = []
    private var usedCount = 0
    /// The place that was looked at last.
    private var hand = -1

    init(eviction: any Eviction) {
        self.eviction = eviction
    }

    /// Tells the eviction what was used since the last time.
    @usableFromInline
    mutating func learn(from readers: Readers) {
        readers.notes { note($0) }
        if usedCount == 0 { return }
        used.withUnsafeBufferPointer { eviction.used(UnsafeBufferPointer(rebasing: $0[..<usedCount])) }
        usedCount = 0
    }

    private mutating func note(_ place: Int) {
        // It may have been emptied since.
        guard isTaken(place) else { return }
        if usedCount == used.count { used.append(0) }
        used[usedCount] = Int32(truncatingIfNeeded: place)
        usedCount += 1
    }

    @usableFromInline
    mutating func enter(_ place: Int, hash: Int, weight: Int) {
        while taken.count <= place >> 6 { taken.append(0) }
        taken[place >> 6] |= 1 << UInt64(place & 63)
        entries += 1
        bytes += weight
        eviction.inserted(place, hash: hash, weight: weight)
    }

    @usableFromInline
    mutating func change(_ place: Int, from old: Int, to weight: Int) {
        bytes += weight - old
        eviction.changed(place, weight: weight)
        eviction.used(place)
    }

    /// A place was emptied for a reason that is none of the eviction's.
    @usableFromInline
    mutating func leave(_ place: Int, weight: Int) {
        close(place, weight)
        eviction.removed(place)
    }

    /// Whether more is kept than may be.
    @usableFromInline
    mutating func isOver(_ bytes: Int, _ entries: Int) -> Bool { self.bytes > bytes || self.entries > entries }

    /// Whether so much may be kept that nothing will be forgotten for a long time.
    @usableFromInline
    mutating func isRoomy(_ bytes: Int, _ entries: Int) -> Bool {
        self.entries > 4_096 && self.bytes < bytes / 2 && self.entries < entries / 2
    }

    /// The place that is to be emptied next; nil when the eviction names none that is taken.
    @usableFromInline
    mutating func next() -> Int? {
        guard let place = eviction.evict(), isTaken(place) else { return nil }
        return place
    }

    /// That place was emptied.
    @usableFromInline
    mutating func evicted(_ place: Int, weight: Int) {
        close(place, weight)
        evictions += 1
    }

    /// The place that the eviction named stays taken after all.
    mutating func spare(_ place: Int, hash: Int, weight: Int) {
        eviction.inserted(place, hash: hash, weight: weight)
    }

    /// The next place in turn where something is; nil when there is none among the next few, which are passed over.
    @usableFromInline
    mutating func turn() -> Int? {
        let start = hand + 1 < taken.count * 64 ? hand + 1 : 0
        guard start >> 6 < taken.count else { return nil }
        let rest = taken[start >> 6] >> UInt64(start & 63)
        hand = rest == 0 ? start | 63 : start + rest.trailingZeroBitCount
        return rest == 0 ? nil : hand
    }

    /// Mutating, so that it looks at the books and not at a copy of them.
    private mutating func isTaken(_ place: Int) -> Bool {
        place >= 0 && place >> 6 < taken.count && taken[place >> 6] >> UInt64(place & 63) & 1 == 1
    }

    private mutating func close(_ place: Int, _ weight: Int) {
        taken[place >> 6] &= ~(1 << UInt64(place & 63))
        entries -= 1
        bytes -= weight
    }
}
