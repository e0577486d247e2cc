/// What a plugin is told of the surroundings it is used in.
public struct Context: Sendable {
    /// The resource it is composed for.
    public let resource: String
    /// Time, randomness, background work and blocking I/O: the only ones there are.
    public let world: any World
    /// The plugins there are.
    public let registry: Registry
    let meter: Meter
    private let keepsakes: Keepsakes
    private let declaration: Declaration?
    /// Nil for all but stores.
    let source: PlaceSource?

    /// The surroundings of one part of `resource`, for tests of plugins.
    public init(resource: String, world: any World, cacheDirectory: String, registry: Registry) {
        let places = Places(in: cacheDirectory, isStrict: true, world: world)
        self.init(
            resource: resource, world: world, registry: registry, meter: Meter(world: world), keepsakes: Keepsakes(),
            source: PlaceSource(places: places, taken: TakenPlaces(isSettled: true), ifUnusable: .fail))
    }

    init(
        resource: String, world: any World, registry: Registry, meter: Meter, keepsakes: Keepsakes,
        declaration: Declaration? = nil, source: PlaceSource? = nil
    ) {
        self.resource = resource
        self.world = world
        self.registry = registry
        self.meter = meter
        self.keepsakes = keepsakes
        self.declaration = declaration
        self.source = source
    }

    /// The same for one part, known by its declaration. `source` is for stores.
    func of(_ declaration: Declaration, source: PlaceSource? = nil) -> Context {
        Context(
            resource: resource, world: world, registry: registry, meter: meter, keepsakes: keepsakes,
            declaration: declaration, source: source)
    }

    /// The same for a store that is one of several.
    func ofTier() -> Context {
        Context(
            resource: resource, world: world, registry: registry, meter: meter, keepsakes: keepsakes,
            declaration: declaration,
            source: source.map { PlaceSource(places: $0.places, taken: $0.taken, ifUnusable: $0.ifUnusable) })
    }

    /// A folder for a store's files, which is this store's alone: the only way to one. It is there when this returns, and
    /// what was kept in it last time is still there. The store holds the place as long as it uses the folder.
    ///
    /// Larder lists every place it hands out. So a logout clears it even when no policy names it any more, and if a process
    /// was killed in the middle of that, the place is handed out again only when ``Store/remove(_:)`` has been called for
    /// what was to go.
    ///
    /// - Parameter name: tells the places of one resource apart. Any text that is not empty will do.
    /// - Throws: an error when the folder cannot be used. A store whose `make` then throws is replaced by one that keeps
    ///   nothing, unless the app wants to fail: see ``UnusableCacheAction``.
    public func place(_ name: String) throws -> StorePlace {
        guard let source else { throw StoreError("only a store has a place in the cache folder") }
        source.isAsked.withLock { $0 = true }
        if name.isEmpty { throw StoreError("a place needs a name") }
        do {
            return try source.taken.take(PlaceName(resource: resource, name), from: source.places)
        } catch let error as Disk.Failure {
            throw StoreError("the store's folder cannot be used: \(error)")
        }
    }

    /// Counts something that the loaders around a wrapper cannot see, such as a try after a failed one.
    public func count(_ counter: Counter, _ times: UInt64 = 1) { meter.count(counter, times) }

    /// State of this part that outlives a reload which leaves its declaration alone: what `make` gives, the first time.
    public func keep<State: Sendable>(_ make: () -> State) -> State {
        keepsakes.item(of: declaration?.fingerprint ?? 0, make)
    }
}
