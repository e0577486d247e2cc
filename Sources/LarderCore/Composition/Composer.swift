import LarderSystem

/// Returns a loader that replaces the origin of a policy.
package typealias OriginSubstitute = @Sendable (Policy) -> any Loader

/// The composition root: turns a policy and the plugins it names into a graph of loaders.
struct Composer {
    let registry: Registry
    let world: any World
    let cacheDirectory: String
    let data: DataFolder
    let places: Places
    let openAttachments: OpenAttachments
    let pantry = PantryReference()
    let payloadFolder: PayloadFolder
    /// The objects that plugins share.
    let shared = SharedObjects()
    let turns: PlaceTurns
    let ifCacheUnusable: UnusableCacheAction
    /// The replacement of every policy's own origin, such as a script in tests of policies; nil for none.
    let substitute: OriginSubstitute?
    /// Whether stores find the entries of every source, and not only those of their policy's.
    let ignoresSources: Bool
    /// Whether loads are counted. A benchmark turns it off to measure the cost.
    let isMeasured: Bool

    init(
        registry: Registry, world: any World, cacheDirectory: String, dataDirectory: String? = nil,
        ifCacheUnusable: UnusableCacheAction = .fail,
        problems: CacheProblems? = nil, substitute: OriginSubstitute? = nil, ignoresSources: Bool = false,
        isMeasured: Bool = true
    ) {
        self.registry = registry
        self.world = world
        self.cacheDirectory = cacheDirectory
        data = DataFolder(dataDirectory, beside: cacheDirectory)
        self.ifCacheUnusable = ifCacheUnusable
        places = Places(in: cacheDirectory, isStrict: ifCacheUnusable == .fail, world: world)
        payloadFolder = PayloadFolder(in: places)
        openAttachments = OpenAttachments(in: world)
        turns = PlaceTurns(in: world) { problem, isOver in
            if isOver { problems?.end(problem.part, of: problem.resource) } else { problems?.begin(problem) }
        }
        self.substitute = substitute
        self.ignoresSources = ignoresSources
        self.isMeasured = isMeasured
    }

    /// Returns the graph of a policy, as its ``Plan`` describes it. It opens the store, which may block the thread. If
    /// the former graph has a store with the same declaration, that store is kept, with its order of writes and its
    /// running calls.
    ///
    /// - Parameters:
    ///   - shared: the attachments of the pantry's own sections.
    ///   - isClosed: whether the pantry is closed, so that the graph keeps nothing.
    /// - Throws: ``PolicyError`` if a part cannot be made.
    func compose(
        _ policy: Policy, after former: LoaderGraph? = nil, in resourceState: ResourceState,
        with shared: PantryAttachments, isClosed: Bool = false
    ) throws(PolicyError) -> LoaderGraph {
        let reloadState = ReloadState(after: former?.reloadState)
        defer { reloadState.dropUnused() }
        let plan = Plan(policy, isMeasured: isMeasured)
        let world = self.world.world(of: resourceState.name)
        let meter = resourceState.meterHistory.meter(for: policy, reportingTo: resourceState.sinks, in: world)
        let surroundings = Surroundings(
            resource: resourceState.name, world: world, meter: CurrentMeter(meter), reloadState: reloadState,
            data: data,
            payloadFolder: payloadFolder, dataSource: ignoresSources ? nil : policy.source, shared: self.shared,
            attachments: shared, owner: pantry)
        // Nothing in the memory of the former graph may be used, if it came from another source.
        let keepsMemory = former.map { DataSource.keepsAll(from: $0.policy.source, to: policy.source) } ?? true
        do {
            let kept = former.flatMap { former in
                !isClosed
                    && (former.policy.source == policy.source || keepsMemory && plan.store?.isPersistent != true)
                    && former.policy.fingerprint(of: [.store]) == policy.fingerprint(of: [.store])
                    && !isRepaired(former.places)
                    ? former : nil
            }
            let taken = kept?.places ?? HeldPlaces()
            let storeState = kept?.storeState ?? ReloadState(after: keepsMemory ? former?.storeState : nil)
            // A store that is opened later asks for its state then.
            defer { if !taken.isWaiting { storeState.dropUnused() } }
            if isClosed, let former { taken.reserve(placesOf: former.places) }
            let storeAccess =
                try kept?.storeAccess
                ?? storeAccess(
                    of: isClosed ? nil : plan.store, taken: taken, resourceState: resourceState, meter: meter,
                    in: surroundings.with(storeState))
            let validators = Validators(
                try plan.validators.map { try $0.validator(in: Context(surroundings, of: PartIdentity(part: $0))) })
            // A closed pantry makes no attachments, because nothing would close them.
            let attachments =
                try isClosed
                ? former?.attachments ?? []
                : attachments(
                    of: policy.sections, of: policy.resource, after: former?.attachments ?? [], in: surroundings)
            let ruling = policy.ruling(among: attachments)
            let background = BackgroundRules(
                rules: ruling.map { held in { work, network in held.attachment?.permits(work, on: network) ?? true } },
                world: world)
            // A recording, which the substitute plays, hides the names of parameters.
            let parameters = substitute == nil ? policy.origin?.originParameters : nil
            var builder = GraphBuilder(
                surroundings: surroundings, storeAccess: storeAccess, validators: validators,
                lookup: Lookup(
                    storeAccess, validators: validators, addedFields: AddedFields(policy.addedFields),
                    revision: plan.revision,
                    world: world),
                attachments: attachments, background: background,
                // The parameters of loads that a section answers are its own.
                parameters: policy.answeringSection == nil ? parameters : nil,
                substitute: substitute.map { substitute in { substitute(policy) } })
            let root = try builder.loader(of: plan.root)
            return LoaderGraph(
                policy: policy, root: root, lookup: builder.lookup,
                live: MeasuredLoader(
                    inner: builder.live, meter: meter, world: world, parameters: builder.parameters,
                    prefetches: storeAccess),
                refreshNow: { [sides = builder.sides] call, limit in await sides?.refreshNow(call, within: limit) },
                origin: OriginAccess(origin: builder.origin, parameters: parameters, world: world),
                storeAccess: storeAccess, places: taken, validators: validators, reloadState: reloadState,
                storeState: storeState, attachments: attachments, background: background, meter: meter,
                world: world)
        } catch {
            throw Self.failure(error, in: policy.file)
        }
    }

    /// Returns the error of a file whose parts cannot be made.
    static func failure(_ error: any Error, in file: String) -> PolicyError {
        let reason = (error as? Registry.Conflict)?.description ?? StoreError.reason(for: error)
        return PolicyError([Problem("cannot be composed: \(reason)", file: file)])
    }

    /// Opens the store of a policy, even if its strategy keeps nothing: the copies of earlier policies must be cleared
    /// after a logout. If the store that it replaces is still in use, it is opened later.
    private func storeAccess(
        of part: Part?, taken: HeldPlaces, resourceState: ResourceState, meter: Meter, in surroundings: Surroundings
    ) throws -> StoreAccess {
        let use = StoreUse(of: resourceState.name)
        let world = surroundings.world
        let lateFaults = LateFaults()
        let evictedKeys = EvictedKeys(
            capacity: part.map { [$0] + $0.nested }?.compactMap(\.storeTraits.capacity).max() ?? 1_000_000_000)
        do {
            let store =
                try part.map {
                    try self.store(
                        of: $0, taken: taken, lateFaults: lateFaults, evictedKeys: evictedKeys, for: use,
                        reporting: resourceState.unfinishedClearings.reporter(), in: surroundings)
                } ?? EmptyStore()
            let openStore = OpenStore(store, isPersistent: part?.isPersistent ?? false) { [turns] store, isClosed in
                if isClosed || !store.needsClosing { turns.end(use) } else { turns.close(store, of: use) }
            }
            let storeAccess = StoreAccess(
                openStore, keys: resourceState.keys, meter: meter,
                news: StoreNews(
                    saved: resourceState.saved, changed: resourceState.changed, source: surroundings.dataSource),
                lateFaults: lateFaults, evictedKeys: evictedKeys,
                clearingReport: resourceState.unfinishedClearings.reporter(), world: world)
            use.begin(storeAccess)
            return storeAccess
        } catch {
            turns.end(use)
            throw error
        }
    }

    private func store(
        of part: Part, taken: HeldPlaces, lateFaults: LateFaults, evictedKeys: EvictedKeys, for use: StoreUse,
        reporting report: @escaping @Sendable (ClearingReport) -> Void, in surroundings: Surroundings
    ) throws -> any Store {
        var source = PlaceSource(
            places: places, turns: turns, use: use, taken: taken, lateFaults: lateFaults, ifUnusable: ifCacheUnusable)
        source.evictedKeys = evictedKeys
        let store = try part.store(in: StoreContext(surroundings, of: PartIdentity(part: part), from: source))
        let clearings = taken.close()
        if clearings.isEmpty { return store }
        return GatedStore(store, after: clearings, world: surroundings.world, report: report) {
            [places, world] clearings in
            let done = clearings.map { ($0.id, taken.held.filter($0.concerns)) }
            _ = try? await world.blocking { places.cleanUp(after: Dictionary(uniqueKeysWithValues: done)) }
        }
    }

    /// Whether the places that could not be used when a graph was composed can be used now.
    func isRepaired(_ graph: LoaderGraph) -> Bool {
        isRepaired(graph.places) || graph.attachments.contains { isRepaired($0.places) }
    }

    func isRepaired(_ taken: HeldPlaces) -> Bool {
        let missing = taken.missing
        return !missing.isEmpty && missing.allSatisfy { (try? places.take($0)) != nil }
    }
}
