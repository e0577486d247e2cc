public import LarderSystem

/// The surroundings of a part: the resource it belongs to, and all that a plugin may use there.
public struct Context: StrategyScope {
    /// The name of the resource that the part is composed for; empty for a section of `_larder.json`.
    public let resource: String
    /// Time, randomness, background work and blocking I/O. A plugin uses no others.
    public let world: any World
    /// The plugins that policies may name.
    let registry: Registry
    let meter: Meter
    let reloadState: ReloadState
    private let declaration: PartIdentity?
    let levels: PartLevels
    let data: DataFolder
    /// The source of places, for stores and sections; nil for all other parts.
    let source: PlaceSource?
    /// The meter that is in effect, for the parts of a section; nil for all others.
    var currentMeter: CurrentMeter?
    /// The attachments of the pantry's own sections.
    var attachments: PantryAttachments?
    /// The pantry.
    var owner: PantryReference?
    /// The folder for payloads that arrive; nil if there is no cache folder.
    var payloadFolder: PayloadFolder?
    /// The source of the data that a store keeps; nil if the policy has no origin.
    var dataSource: DataSource?
    /// The objects that the plugins of the pantry share.
    var shared = SharedObjects()

    /// Makes the surroundings of one part of `resource`, for tests of plugins.
    package init(
        resource: String, world: any World, cacheDirectory: String, registry: Registry, dataDirectory: String? = nil
    ) {
        let places = Places(in: cacheDirectory, isStrict: true, world: world)
        self.init(
            resource: resource, world: world, registry: registry, meter: Meter(world: world),
            reloadState: ReloadState(), data: DataFolder(dataDirectory, beside: cacheDirectory),
            source: PlaceSource(
                places: places, turns: PlaceTurns(in: world), use: StoreUse(of: resource),
                taken: HeldPlaces(isClosed: true), lateFaults: LateFaults(), ifUnusable: .fail))
        payloadFolder = PayloadFolder(in: places)
    }

    init(
        resource: String, world: any World, registry: Registry, meter: Meter, reloadState: ReloadState,
        data: DataFolder = DataFolder(nil, beside: ""), declaration: PartIdentity? = nil, source: PlaceSource? = nil
    ) {
        self.resource = resource
        self.world = world
        self.registry = registry
        self.meter = meter
        self.reloadState = reloadState
        self.declaration = declaration
        levels = reloadState.item(of: declaration?.fingerprint ?? 0) { PartLevels() }
        self.data = data
        self.source = source
    }

    /// Returns the context of one part, which is identified by its declaration. `source` is for stores.
    func of(_ declaration: PartIdentity, source: PlaceSource? = nil) -> Context {
        var context = Context(
            resource: resource, world: world, registry: registry, meter: meter, reloadState: reloadState,
            data: data, declaration: declaration, source: source)
        (context.currentMeter, context.attachments, context.owner) = (currentMeter, attachments, owner)
        (context.payloadFolder, context.shared, context.dataSource) = (payloadFolder, shared, dataSource)
        return context
    }

    /// Returns the context of `part`, which is the part of this context or one that its settings name.
    func of(_ part: Part) -> Context {
        guard let declaration else { return of(PartIdentity(part: part), source: source) }
        return declaration.part === part ? self : of(declaration.nested(part), source: source)
    }

    /// Returns the context of a store that is one of several tiers.
    func ofTier(_ part: Part) -> Context {
        of(of(part).declaration ?? PartIdentity(part: part), source: source?.fresh)
    }

    /// Returns this context with another source of places.
    func with(_ source: PlaceSource) -> Context {
        guard let declaration else { return self }
        return of(declaration, source: source)
    }

    /// Returns a folder in the cache folder that only this store or section uses. The folder exists when this returns,
    /// with its files from earlier runs. Keep the returned place as long as the folder is in use.
    ///
    /// Larder keeps a list of every place that it hands out. So a logout also clears the places that no policy names any
    /// more. If a process was killed during such a clearing, Larder calls ``Store/remove(_:)``, or
    /// ``Attachment/cleared(_:)`` of a section, before the store answers.
    ///
    /// After a reload, another store may still use the folder. This method then throws, and Larder calls `make` again when
    /// that store is closed. Until then there is no store.
    ///
    /// - Parameter name: distinguishes the places of one resource. Any text that is not empty is allowed.
    /// - Throws: an error if the folder cannot be used. If the store's `make` then throws, the store is replaced by one
    ///   that keeps nothing, unless the app prefers to fail: see ``UnusableCacheAction``.
    public func place(_ name: String) throws -> StorePlace {
        guard let source else { throw StoreError("only a store or a section has a place in the cache folder") }
        source.isRequested.withLock { $0 = true }
        if name.isEmpty { throw StoreError("a place needs a name") }
        do {
            let owner = resource.isEmpty ? PlaceName.pantry : resource
            return try source.take(PlaceName(resource: owner, section: source.section, name))
        } catch let error as Disk.Failure {
            // Only an app that wants the error gets the folder's path. The reason of a `CacheProblem` has no path.
            let cache = source.ifUnusable == .fail && !source.isLate ? " in \(source.places.cacheDirectory)" : ""
            let part = source.section == nil ? "store" : "section"
            throw StoreError("the \(part)'s folder\(cache) cannot be used: \(error)")
        }
    }

    /// Adds to a counter that a plugin of the policy declares. Any other counter is ignored: only Larder counts its own,
    /// and the name of an undeclared counter could contain anything.
    public func count(_ counter: Counter, _ times: UInt64 = 1) {
        (currentMeter?.meter ?? meter).count(declared: counter, times)
    }

    /// Sets a level that a plugin of the policy declares to one of its values. Another level or value is ignored. Before
    /// it is set, a level has its first value.
    ///
    /// Each part has its own value, which survives a reload as the state of ``keep(_:)`` does. A dump shows the worst of
    /// them. This may be called while a lock is held, so that the later of two simultaneous changes stays.
    public func set(_ level: Level, to value: String) {
        if (currentMeter?.meter ?? meter).knows(level, at: value) { levels.set(level, to: value) }
    }

    /// Reports a decision to the log and to every stream of ``Pantry/decisions``. The note is made only if there is a
    /// listener and the policy logs its decisions.
    ///
    /// - Parameters:
    ///   - kind: the kind of decision. A plugin declares kinds of its own as static members of ``Decision/Kind``.
    ///   - note: the decision in words, without any key, parameter, address or payload.
    public func tell(_ kind: Decision.Kind, _ note: @autoclosure () -> String) {
        (currentMeter?.meter ?? meter).send(kind, note())
    }

    /// Reports a failure of this store that came too late to be thrown, such as the failure of a write which the store
    /// had already accepted. It is counted and logged like other failures, without a load. Does nothing for parts other
    /// than stores.
    ///
    /// - Parameters:
    ///   - fault: the tier that failed, and its error.
    ///   - kind: the operation that failed.
    public func storeFailed(_ fault: StoreFault, at kind: StoreFaultKey.Kind) {
        source?.lateFaults.report(fault, kind)
    }

    /// Reports entries that a store has evicted by itself to the metrics and to every stream of ``Pantry/forgotten``.
    public func forgot(_ entries: @autoclosure () -> [EvictedEntry]) {
        let isListenedTo = !meter.sinks.forgotten.isEmpty
        if source?.evictedKeys == nil, !isListenedTo { return }
        let entries = entries()
        source?.evictedKeys?.add(entries, in: world)
        source?.lateFaults.report(entries)
        if isListenedTo { for entry in entries { meter.sinks.forgotten.send(entry) } }
    }

    /// Returns the state of this part. The first call makes it with `make`. Later calls return the same state, also after
    /// a reload that does not change the part's declaration.
    ///
    /// Each part has its own state of each type. A part among the settings of another shares none with it, nor with the
    /// parts beside it, even if they are written alike.
    public func keep<State: Sendable>(_ make: () -> State) -> State {
        reloadState.item(of: declaration?.fingerprint ?? 0, make)
    }
}

extension Context {
    /// A store that keeps nothing.
    public var emptyStore: any Store { EmptyStore() }
}
