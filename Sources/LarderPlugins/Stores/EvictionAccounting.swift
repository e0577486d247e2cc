import LarderCore

/// The totals of a ``ShardedTable``: how many entries and bytes all its shards keep, which places are taken, and which
/// place is emptied next.
@usableFromInline struct EvictionAccounting: Sendable {
    private(set) var entries = 0
    private(set) var bytes = 0
    private(set) var evictions = 0
    private var eviction: any Eviction
    /// One bit for each place, set if an item is in it.
    private var taken: [UInt64] = []
    /// Used places that the eviction has not been told about yet. Only the first `usedCount` are valid.
    private var used: [Int32] = []
    private var usedCount = 0
    /// The place that the last sweep visited.
    private var lastVisited = -1
    /// The items that must not be evicted. The eviction does not know their places.
    private var pins = Pins()

    init(eviction: any Eviction) {
        self.eviction = eviction
    }

    /// Tells the eviction which places were used since the last call.
    @usableFromInline
    mutating func reportUses(_ notes: UseNotes) {
        notes.read { note($0) }
        if usedCount == 0 { return }
        used.withUnsafeBufferPointer { eviction.used(UnsafeBufferPointer(rebasing: $0[..<usedCount])) }
        usedCount = 0
    }

    private mutating func note(_ place: Int) {
        // The place may have been emptied after it was used.
        guard isTaken(place), !pins.contains(place) else { return }
        if usedCount == used.count { used.append(0) }
        used[usedCount] = Int32(truncatingIfNeeded: place)
        usedCount += 1
    }

    @usableFromInline
    mutating func add(_ place: Int, hash: Int, weight: Int) {
        while taken.count <= place >> 6 { taken.append(0) }
        taken[place >> 6] |= 1 << UInt64(place & 63)
        entries += 1
        bytes += weight
        eviction.inserted(place, hash: hash, weight: weight)
    }

    @usableFromInline
    mutating func change(_ place: Int, from old: Int, to weight: Int) {
        bytes += weight - old
        if pins.change(place, to: weight) { return }
        eviction.changed(place, weight: weight)
        eviction.used(place)
    }

    /// Records that a place was emptied without the eviction having chosen it.
    @usableFromInline
    mutating func remove(_ place: Int, weight: Int) {
        markEmpty(place, weight)
        if !pins.remove(place) { eviction.removed(place) }
    }

    /// Returns whether the table exceeds its capacity.
    @usableFromInline
    mutating func isOver(_ bytes: Int, _ entries: Int) -> Bool { self.bytes > bytes || self.entries > entries }

    /// Returns whether the table is large and less than half full, so that it will not evict anything for a long time.
    @usableFromInline
    mutating func hasAmpleSpace(_ bytes: Int, _ entries: Int) -> Bool {
        self.entries > 4_096 && self.bytes < bytes / 2 && self.entries < entries / 2
    }

    /// Returns the place to empty next, or nil if the eviction names no place that is taken.
    @usableFromInline
    mutating func next() -> Int? {
        guard let place = eviction.evict(), isTaken(place), !pins.contains(place) else { return nil }
        return place
    }

    /// Records that the place that ``next()`` returned was emptied.
    @usableFromInline
    mutating func evicted(_ place: Int, weight: Int) {
        markEmpty(place, weight)
        evictions += 1
    }

    /// Tells the eviction that a place it named stays taken.
    mutating func reinsert(_ place: Int, hash: Int, weight: Int) {
        eviction.inserted(place, hash: hash, weight: weight)
    }

    // MARK: Pins

    /// Whether an item is pinned.
    @usableFromInline
    var hasPins: Bool { !pins.isEmpty }

    /// Returns whether the item in a place is pinned.
    func isPinned(_ place: Int) -> Bool { pins.contains(place) }

    /// Keeps the item in a place from being evicted.
    mutating func pin(_ place: Int, weight: Int) {
        if pins.add(place, weight: weight) { eviction.removed(place) }
    }

    /// Lets the item in a place be evicted again.
    mutating func unpin(_ place: Int, hash: Int, weight: Int) {
        if pins.remove(place) { eviction.inserted(place, hash: hash, weight: weight) }
    }

    /// Returns whether an item of this weight fits beside the pinned items. `place` is where its former item is, or
    /// nil.
    func hasRoomBesidePins(for weight: Int, in place: Int?, _ bytes: Int, _ entries: Int) -> Bool {
        let own = place.flatMap { pins.weight(of: $0) }
        let others = pins.count - (own == nil ? 0 : 1)
        return pins.bytes - (own ?? 0) <= bytes - weight && others < entries
    }

    /// Returns the next taken place in cyclic order. Returns nil if none of the places in the current word is taken;
    /// those places are skipped.
    @usableFromInline
    mutating func nextTaken() -> Int? {
        let start = lastVisited + 1 < taken.count * 64 ? lastVisited + 1 : 0
        guard start >> 6 < taken.count else { return nil }
        let rest = taken[start >> 6] >> UInt64(start & 63)
        lastVisited = rest == 0 ? start | 63 : start + rest.trailingZeroBitCount
        return rest == 0 ? nil : lastVisited
    }

    /// `mutating` avoids a copy of the structure.
    private mutating func isTaken(_ place: Int) -> Bool {
        place >= 0 && place >> 6 < taken.count && taken[place >> 6] >> UInt64(place & 63) & 1 == 1
    }

    private mutating func markEmpty(_ place: Int, _ weight: Int) {
        taken[place >> 6] &= ~(1 << UInt64(place & 63))
        entries -= 1
        bytes -= weight
    }
}
