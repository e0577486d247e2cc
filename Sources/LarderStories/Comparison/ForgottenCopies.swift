import Larder

/// The copies that stores forget when a policy replaces another one.
enum ForgottenCopies {
    /// Returns the losses in plain words. Copies in memory, which every restart loses, are not told.
    ///
    /// - Throws: `PolicyError` if a policy cannot be composed.
    static func lines(from old: SimulatedPolicy, to new: SimulatedPolicy) throws -> [String] {
        let before = old.stores.filter(\.storeTraits.isForeign)
        let after = new.stores.filter(\.storeTraits.isForeign)
        var lines: [String] = []
        for store in before {
            let kept = old.resource == new.resource ? after.first { $0.isAtPlace(of: store) } : nil
            guard let kept else {
                lines.append("store '\(store.plugin.name)': the copies\(store.inPlace) are lost")
                continue
            }
            if let less = kept.storeTraits.capacity, less < store.storeTraits.capacity ?? .max {
                let former = store.storeTraits.capacity.map { "from \($0.spelledSize) " } ?? ""
                lines.append(
                    "store '\(kept.plugin.name)': capacity falls \(former)to \(less.spelledSize): what does not fit is evicted"
                )
            }
            if let less = kept.storeTraits.keepsFor, less < store.storeTraits.keepsFor ?? .forever {
                lines.append("store '\(kept.plugin.name)': copies older than \(less.inWords) are forgotten")
            }
        }
        if !after.isEmpty, let former = old.policy.source?.own, let source = new.policy.source, !source.contains(former)
        {
            lines.append(
                "the data comes from another source: the copies that the old policy kept are not used ("
                    + "'larder check' counts them)")
            return lines
        }
        let isRefused = try !after.isEmpty && areRefused(from: old, by: new)
        return lines + (isRefused ? ["the new policy refuses the copies that the old one kept"] : [])
    }

    /// Whether the new policy shows copies that it keeps itself, but not those of the old one.
    private static func areRefused(from old: SimulatedPolicy, by new: SimulatedPolicy) throws -> Bool {
        guard let former = try old.keptCopy(), let own = try new.keptCopy() else { return false }
        return try new.shows(own) && !new.shows(former)
    }
}

extension SimulatedPolicy {
    /// Returns the copy that the policy keeps of an answer; nil if it keeps none.
    fileprivate func keptCopy() throws -> Entry? {
        try StoryPlayer(self).tryOut { stage, pantry in stage.entry("copy", age: .zero, pantry: pantry) }
    }

    /// Whether the policy shows a copy that only its lowest store has.
    fileprivate func shows(_ copy: Entry) throws -> Bool {
        try StoryPlayer(self).tryOut { [tiers] stage, _ in
            let request = try stage.resource.request(mode: .cachedOnly)
            stage.stores.put(Story.Copy(age: .zero, tier: tiers.count), for: request.key) { _, _ in copy }
            return (try? await stage.resource.load(request)) != nil
        }
    }

    /// The stores that are not made of others, the fastest first.
    fileprivate var stores: [Part] {
        Plan(policy).parts.filter {
            $0.plugin.kind == .store && !$0.plugin.isMadeOfOthers && !$0.storeTraits.keepsNothing
        }
    }
}

extension Part {
    fileprivate func isAtPlace(of other: Part) -> Bool {
        plugin.name == other.plugin.name && storeTraits.writesTo == other.storeTraits.writesTo
    }

    fileprivate var inPlace: String { storeTraits.writesTo.map { " in '\($0)'" } ?? "" }
}
