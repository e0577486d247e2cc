import Larder

/// The situations that come closest to breaking each promise, one for each set of unusual facts.
struct WorstSituations {
    private struct Worst {
        let situation: Situation
        let needed: NeededLimit
        /// How long the load took.
        let waited: Duration
        /// The number of situations that were played before it.
        let number: Int
        /// Whether those that differ from it in one fact were played.
        var isExplored = false

        /// Whether it needs a larger limit than another, or takes longer with the same.
        func isWorse(than other: Worst) -> Bool {
            if needed != other.needed { return needed > other.needed }
            return waited == other.waited ? number < other.number : waited > other.waited
        }
    }

    /// The number of situations of a promise that are looked at. Each has other faults of stores.
    private static let most = 6

    private let rules: [PromiseRule]
    private var worst: [[UnusualFacts: Worst]]
    private var count = 0

    init(for rules: [PromiseRule]) {
        // The first time that is too late is searched for.
        self.rules = rules.filter { !$0.isShortened }
        worst = self.rules.map { _ in [:] }
    }

    /// Notes situations that were played.
    mutating func note(
        _ played: some Collection<(situation: Situation, seen: Observation)>, _ copies: CopiesThatMayBeShown?
    ) {
        for (situation, seen) in played {
            count += 1
            let facts = UnusualFacts(of: situation)
            for (rule, number) in zip(rules, rules.indices) where rule.concerns(situation) {
                guard let needed = rule.needed(situation, seen) else { continue }
                let new = Worst(
                    situation: situation, needed: needed, waited: seen.waited ?? .zero, number: count)
                if let known = worst[number][facts], !new.isWorse(than: known) { continue }
                if rule.needsCopy, copies?.contains(situation) != true { continue }
                worst[number][facts] = new
            }
        }
    }

    /// Returns the worst situations of each promise, without those that were returned before.
    mutating func takeUnexplored() -> [Situation] {
        rules.indices.flatMap { rule -> [Situation] in
            let sorted = worst[rule].sorted { $0.value.isWorse(than: $1.value) }
            // Nothing is worse than a promise for which no limit is enough.
            if let first = sorted.first?.value.needed, first == .none { return [] }
            var chosen: [UnusualFacts] = []
            for facts in sorted.map(\.key) where chosen.count < Self.most {
                // More facts that make nothing worse lead no further.
                let isAlike = chosen.contains { $0.isSubset(of: facts) || $0.hasSameStores(as: facts) }
                if !isAlike { chosen.append(facts) }
            }
            return chosen.compactMap { facts in
                guard let found = worst[rule][facts] else { return nil }
                if found.isExplored { return nil }
                worst[rule][facts]?.isExplored = true
                return found.situation
            }
        }
    }
}

/// The facts of a situation that differ from those of the usual one.
private struct UnusualFacts: OptionSet, Hashable {
    let rawValue: Int

    /// The faults of stores.
    private static let stores = UnusualFacts(rawValue: 0xFF)

    func hasSameStores(as other: UnusualFacts) -> Bool {
        intersection(Self.stores) == other.intersection(Self.stores)
    }

    init(rawValue: Int) { self.rawValue = rawValue }

    init(of situation: Situation) {
        func isFaulty(_ operations: Situation.StoreFault.Operations, _ kinds: [FaultyStore.Fault]) -> Bool {
            situation.stores.contains { $0.operations == operations && kinds.contains($0.fault) }
        }
        func isSlow(_ operations: Situation.StoreFault.Operations) -> Bool {
            situation.stores.contains { fault in
                if fault.operations == operations, case .takes = fault.fault { true } else { false }
            }
        }
        let facts = [
            isSlow(.reads), isSlow(.changes), isFaulty(.reads, [.hangs]), isFaulty(.changes, [.hangs]),
            isFaulty(.reads, [.fails]), isFaulty(.changes, [.fails]), isFaulty(.reads, [.corrupts]),
            isFaulty(.changes, [.corrupts]),
            situation.copy?.tier != nil, situation.copy?.spread ?? 0 > 0, situation.origin != [.init(.value)],
            !situation.earlier.isEmpty, situation.network != .unknown, situation.isNetworkCostly,
            situation.isRestarted, situation.clockBack > .zero, situation.mode != .normal,
            situation.deadline != nil, situation.chance != 0.5,
        ]
        self.init(rawValue: facts.enumerated().reduce(0) { $1.element ? $0 | 1 << $1.offset : $0 })
    }
}
