/// Gives a loader that stands in for the origin of a policy.
package typealias OriginSubstitute = @Sendable (Policy) -> any Loader

/// The composition root: turns a policy and the plugins it names into a graph of loaders.
struct Composer {
    let registry: Registry
    let world: any World
    let cacheDirectory: String
    let places: Places
    let ifCacheUnusable: UnusableCacheAction
    /// What stands in for every policy's own origin, if anything does: a script, in tests of policies.
    let substitute: OriginSubstitute?
    /// Whether loads are counted: not, where a benchmark wants to know what that costs.
    let isMeasured: Bool

    init(
        registry: Registry, world: any World, cacheDirectory: String, ifCacheUnusable: UnusableCacheAction = .fail,
        substitute: OriginSubstitute? = nil, isMeasured: Bool = true
    ) {
        self.registry = registry
        self.world = world
        self.cacheDirectory = cacheDirectory
        self.ifCacheUnusable = ifCacheUnusable
        places = Places(in: cacheDirectory, isStrict: ifCacheUnusable == .fail, world: world)
        self.substitute = substitute
        self.isMeasured = isMeasured
    }

    /// The graph of a policy. Opens its store, so it may block, unless the graph that went before has one of the same
    /// make: then that one is kept, and with it the order of writes and the calls under way.
    ///
    /// - Throws: ``PolicyError`` when a part cannot be made.
    func compose(_ policy: Policy, after former: LoaderGraph? = nil, in slot: Slot) throws(PolicyError) -> LoaderGraph {
        let keepsakes = Keepsakes(after: former?.keepsakes)
        defer { keepsakes.settle() }
        let meter = slot.ledger.meter(for: policy, heardBy: slot.hearing, in: world)
        let context = context(of: slot, meter, keepsakes)
        do {
            let kept = former.flatMap { former in
                former.policy.fingerprint(of: ["store"]) == policy.fingerprint(of: ["store"]) && !isMended(former)
                    ? former : nil
            }
            let taken = kept?.places ?? TakenPlaces()
            let shelf =
                try kept?.shelf
                ?? Shelf(
                    try store(of: policy, taken, in: context), order: slot.order, meter: meter,
                    observers: slot.observers, world: world)
            let validators = Validators(
                try policy.validators.map { try $0.validator(in: context.of(Declaration(part: $0))) })
            let sides = try sides(policy, shelf, validators, meter, context)
            let asked = Asked(try policy.strategy.strategy(over: sides), sides: sides)
            let fallbacks = try policy.fallbacks.map { part in
                (
                    name: part.plugin.name,
                    loader: Decoding(
                        try part.origin(in: context.of(Declaration(part: part))), from: .fallback,
                        validators: validators, world: world)
                        as any Loader
                )
            }
            let answering: any Loader = fallbacks.isEmpty ? asked : Fallback(asked, fallbacks)
            let root: any Loader = isMeasured ? Measured(inner: answering, meter: meter, world: world) : answering
            return LoaderGraph(
                policy: policy, root: root,
                live: Measured(inner: sides.live, meter: meter, world: world), shelf: shelf,
                places: taken, validators: validators, keepsakes: keepsakes, meter: meter, world: world)
        } catch {
            let reason = (error as? Registry.Conflict)?.description ?? StoreError.reason(for: error)
            throw PolicyError([Problem("cannot be composed: \(reason)", file: policy.file)])
        }
    }

    /// The store of a policy, even if its strategy keeps nothing: what was kept before must be cleared after a logout.
    private func store(of policy: Policy, _ taken: TakenPlaces, in context: Context) throws -> any Store {
        guard let part = policy.store else { return EmptyStore() }
        let source = PlaceSource(places: places, taken: taken, ifUnusable: ifCacheUnusable)
        let store = try part.store(in: context.of(Declaration(part: part), source: source))
        let due = taken.settle()
        if due.isEmpty { return store }
        return GatedStore(store, due: due, world: world) { [places, world] due in
            let done = due.map { ($0.id, taken.held.filter($0.concerns)) }
            _ = try? await world.blocking { places.settle(Dictionary(uniqueKeysWithValues: done)) }
        }
    }

    /// Whether the places can be had now that could not when a graph was composed.
    func isMended(_ graph: LoaderGraph) -> Bool {
        let missing = graph.places.missing
        return !missing.isEmpty && missing.allSatisfy { (try? places.take($0)) != nil }
    }

    private func context(of slot: Slot, _ meter: Meter, _ keepsakes: Keepsakes) -> Context {
        Context(
            resource: slot.name, world: world, registry: registry, meter: meter, keepsakes: keepsakes)
    }

    private func sides(
        _ policy: Policy, _ shelf: Shelf, _ validators: Validators, _ meter: Meter, _ context: Context
    ) throws -> Sides {
        let needs = policy.strategy.plugin.needs
        var live: any Loader = Nothing()
        let lookup = Lookup(shelf, validators: validators, revision: policy.revision, world: world)
        if let origin = policy.origin {
            let asked = try substitute?(policy) ?? origin.origin(in: context.of(Declaration(part: origin)))
            live = MeasuredOrigin(asked, meter: meter, world: world)
            for (place, wrapper) in policy.around.enumerated().reversed() {
                // The same wrapper around the same origin keeps what it learned; a second one like it has its own.
                let inside = policy.around[(place + 1)...]
                live = try wrapper.wrapper(
                    around: live, in: context.of(Declaration(part: wrapper, origin: origin, inside: inside)))
            }
            live = Decoding(live, validators: validators, world: world)
            if needs.contains(.store) { live = Saving(live, on: shelf, cached: lookup, world: world) }
            let lineage = policy.fingerprint(of: ["origin", "around", "validators"])
            live = Shared(live, on: shelf, lineage: lineage, world: world, meter: meter)
        }
        return Sides(
            live: live, cached: needs.contains(.store) ? lookup : Nothing(), rest: policy.strategy.traits.rest ?? .zero,
            world: world, shelf: shelf, meter: meter)
    }
}
