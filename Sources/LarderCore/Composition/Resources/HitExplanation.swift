package import LarderSystem

extension Policy {
    /// Returns how the graph of the policy finds copies in memory: at once, or why each load is awaited.
    ///
    /// A graph whose loaders all state a rule for hits has a ``DirectHit``. This asks the strategy itself for its rule,
    /// so that the answer is true for strategies of other packages, too.
    ///
    /// - Throws: the error of a strategy that cannot be made.
    package func hitExplanation(registry: Registry, world: any World) throws -> String {
        let reasons = try reasonsAgainstHits(registry, world)
        if !reasons.isEmpty { return "awaited, because " + reasons.joined(separator: ", and ") }
        let refreshed = try strategy.flatMap { try rule(of: $0, registry, world) }?.refreshesEveryCopy == true
        let past =
            "a fresh copy in memory is shown at once, past all loaders"
            + (refreshed ? ", and each is refreshed in the background" : "")
        return account == nil ? past : past + ", if the request names a scope: only the app knows who is signed in"
    }

    private func reasonsAgainstHits(_ registry: Registry, _ world: any World) throws -> [String] {
        let name = answerer.plugin.name
        guard let strategy else { return ["'\(name)' answers loads"] }
        guard usesStore else { return ["'\(name)' uses no copies"] }
        var reasons: [String] = []
        if try rule(of: strategy, registry, world) == nil { reasons.append("'\(name)' states no rule for hits") }
        if let store, !store.keepsInMemory {
            reasons.append(
                store.keepsCopiesBelow ? "the first tier is not in memory" : "no store keeps copies in memory")
        }
        reasons += sections.filter(\.sectionTraits.goesAround).map { "'\($0.plugin.name)' sees each load" }
        return reasons
    }

    private func rule(of part: Part, _ registry: Registry, _ world: any World) throws -> HitRule? {
        let meter = Meter(world: world)
        let surroundings = Surroundings(
            resource: resource, world: world, meter: CurrentMeter(meter), reloadState: ReloadState())
        let storeAccess = StoreAccess(
            OpenStore(EmptyStore(), isPersistent: false) { _, _ in }, meter: meter, world: world)
        let lookup = Lookup(storeAccess, validators: Validators([]), revision: revision, world: world)
        let sides = Sides(
            live: UnusedSide(), cached: lookup, world: world, storeAccess: storeAccess, meter: meter,
            scope: Context(surroundings, of: PartIdentity(part: part)))
        return try part.strategy(over: sides).hitRule
    }
}

extension Part {
    /// Whether a store among its settings, other than the first, keeps entries in memory.
    fileprivate var keepsCopiesBelow: Bool {
        nested.filter { $0.plugin.kind == .store }.dropFirst().contains(where: \.keepsInMemory)
    }

    /// Whether the store, or its first tier, keeps entries in memory. It is not known of stores of other packages, which
    /// may.
    fileprivate var keepsInMemory: Bool {
        let inner = nested.filter { $0.plugin.kind == .store }
        // Only the first tier is read at once.
        if let first = inner.first { return first.keepsInMemory }
        return !storeTraits.keepsNothing && storeTraits.writesTo == nil
    }
}
