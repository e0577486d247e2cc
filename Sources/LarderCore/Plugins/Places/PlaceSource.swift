import LarderSystem

/// The source from which a context hands out places to one part of a store or to a section.
struct PlaceSource: Sendable {
    let places: Places
    let turns: PlaceTurns
    /// The store to which the part belongs.
    let use: StoreUse
    let taken: HeldPlaces
    /// The places of the whole graph.
    let graphPlaces: HeldPlaces
    /// The way for the store's late faults.
    let lateFaults: LateFaults
    /// Remembers what the store evicts; nil if nobody counts it.
    var evictedKeys: EvictedKeys?
    let ifUnusable: UnusableCacheAction
    /// The section whose places they are; nil for the places of stores.
    let section: String?
    /// Whether the part is made after its graph, so that nobody can be shown the cache folder's path.
    private(set) var isLate = false
    /// Whether the part that is being made requested a place.
    let isRequested = Locked(false)
    /// The place that the part requested and another store still uses.
    let awaited = Locked<PlaceName?>(nil)

    init(
        places: Places, turns: PlaceTurns, use: StoreUse, taken: HeldPlaces, lateFaults: LateFaults,
        ifUnusable: UnusableCacheAction, section: String? = nil
    ) {
        self.init(
            places, turns: turns, use: use, taken: taken, graphPlaces: taken, lateFaults: lateFaults,
            ifUnusable: ifUnusable, section: section)
    }

    private init(
        _ places: Places, turns: PlaceTurns, use: StoreUse, taken: HeldPlaces, graphPlaces: HeldPlaces,
        lateFaults: LateFaults, ifUnusable: UnusableCacheAction, section: String?
    ) {
        self.places = places
        self.turns = turns
        self.use = use
        self.taken = taken
        self.graphPlaces = graphPlaces
        self.lateFaults = lateFaults
        self.ifUnusable = ifUnusable
        self.section = section
    }

    /// The source for another part.
    var fresh: PlaceSource { source(taken, isLate: isLate) }

    /// Returns the source for a part that is made after its graph.
    func late(_ taken: HeldPlaces) -> PlaceSource { source(taken, isLate: true) }

    private func source(_ taken: HeldPlaces, isLate: Bool) -> PlaceSource {
        var source = PlaceSource(
            places, turns: turns, use: use, taken: taken, graphPlaces: graphPlaces, lateFaults: lateFaults,
            ifUnusable: ifUnusable, section: section)
        source.evictedKeys = evictedKeys
        source.isLate = isLate
        return source
    }

    /// Hands out a place. Only stores take turns: a section and its successor share their places for a while. Blocks.
    ///
    /// - Throws: an error if the place cannot be used, or if another store still uses it.
    func take(_ name: PlaceName) throws -> StorePlace {
        guard section != nil || turns.take(name, for: use) else {
            graphPlaces.wait(for: name, in: places)
            awaited.withLock { $0 = name }
            throw StoreError("another store still uses this place")
        }
        return try taken.take(name, from: places)
    }
}
