/// Rules about stores and where they keep their entries.
extension LintRule {
    static let noEntryFits = LintRule(
        name: "no-entry-fits", severity: .error, why: "A store smaller than its smallest entry keeps nothing."
    ) { policy, rule, reading in
        func check(_ store: Part) {
            let tiers = store.nested.filter { $0.plugin.kind == .store }
            if !tiers.isEmpty { return tiers.forEach(check) }
            guard let capacity = store.storeTraits.capacity, capacity <= Entry.overhead else { return }
            // The setting of a limit on size has this name in every store.
            rule.report(
                "no entry fits: each needs \(Entry.overhead) bytes besides its payload", about: store,
                setting: "capacity",
                reading,
                expected: "a larger capacity")
        }
        if let store = policy.store { check(store) }
    }

    static let slowerFirst = LintRule(
        name: "slower-first", severity: .warning, why: "A faster tier behind a slower one is hardly ever read."
    ) { policy, rule, reading in
        func check(_ store: Part) {
            let isOrdered = store.plugin.names.contains("tiers")
            let tiers = store.nested.filter { $0.plugin.kind == .store }
            for (slow, fast) in zip(tiers, tiers.dropFirst()) where isOrdered && slow.isPersistent && !fast.isPersistent
            {
                rule.report(
                    "store '\(fast.plugin.name)' is faster than '\(slow.plugin.name)' before it, and is hardly ever read",
                    about: fast, reading, expected: "the fastest tier first")
            }
            tiers.forEach(check)
        }
        if let store = policy.store { check(store) }
    }

    static let keepsNothing = LintRule(
        name: "keeps-nothing", severity: .warning, why: "A strategy that shows copies needs a store that keeps them."
    ) { policy, rule, reading in
        guard let strategy = policy.strategy, policy.usesStore, policy.store?.storeTraits.keepsNothing != false else {
            return
        }
        rule.report(
            "strategy '\(strategy.plugin.name)' shows copies, but nothing is kept", about: strategy, reading,
            expected: "a store")
    }

    static let sharedFolder = LintRule(
        name: "shared-folder", severity: .error,
        why: "Two stores that write to the same place overwrite and remove each other's entries."
    ) { policy, rule, reading in
        var seen: Set<String> = []
        for (part, place) in policy.writtenPlaces where !seen.insert(place).inserted {
            rule.report(
                "another store of this policy keeps its entries in the same place", about: part, reading,
                expected: "a name of its own")
        }
    }

    static let similarFolder = LintRule(
        name: "similar-folder", severity: .warning,
        why: "Not every file system tells names apart by the case of their letters."
    ) { policy, rule, reading in
        var seen: [String: String] = [:]
        for (part, place) in policy.writtenPlaces {
            if let other = seen[place.lowercased()], other != place {
                rule.report(
                    "another store of this policy has a place whose name differs in the case of letters only",
                    about: part, reading, expected: "a name of its own")
            }
            seen[place.lowercased()] = place
        }
    }
}

extension Policy {
    /// The places that its stores write to, each with the store.
    fileprivate var writtenPlaces: [(part: Part, place: String)] {
        func places(_ part: Part) -> [(Part, String)] {
            (part.storeTraits.writesTo.map { [(part, $0)] } ?? [])
                + part.nested.filter { $0.plugin.kind == .store }.flatMap(places)
        }
        return store.map(places) ?? []
    }
}
