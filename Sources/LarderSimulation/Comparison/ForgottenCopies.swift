import Larder

/// The copies that stores forget when a policy replaces another one.
enum ForgottenCopies {
    /// Returns the losses in plain words. Copies in memory, which every restart loses, are not told.
    static func lines(from old: SimulatedPolicy, to new: SimulatedPolicy) -> [String] {
        let before = old.stores.filter(\.traits.isForeign)
        let after = new.stores.filter(\.traits.isForeign)
        var lines: [String] = []
        for store in before {
            guard let kept = after.first(where: { $0.isAtPlace(of: store) }) else {
                lines.append("store '\(store.plugin.name)'\(store.inPlace): its copies are not found any more")
                continue
            }
            if let less = kept.traits.capacity, less < store.traits.capacity ?? .max {
                let former = store.traits.capacity.map { "from \($0.spelledSize) " } ?? ""
                lines.append(
                    "store '\(kept.plugin.name)': capacity falls \(former)to \(less.spelledSize): what does not fit is evicted"
                )
            }
            if let less = kept.traits.keepsFor, less < store.traits.keepsFor ?? .forever {
                lines.append("store '\(kept.plugin.name)': copies older than \(less.inWords) are forgotten")
            }
        }
        return lines
    }
}

extension SimulatedPolicy {
    /// The stores that are not made of others, the fastest first.
    fileprivate var stores: [Part] {
        Plan(policy).parts.filter { $0.plugin.kind == .store && !$0.plugin.isMadeOfOthers && !$0.traits.keepsNothing }
    }
}

extension Part {
    fileprivate func isAtPlace(of other: Part) -> Bool {
        plugin.name == other.plugin.name && traits.writesTo == other.traits.writesTo
    }

    fileprivate var inPlace: String { traits.writesTo.map { " in '\($0)'" } ?? "" }
}
