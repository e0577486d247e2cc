import Larder

/// The situations that come closest to breaking each promise, one for each set of unusual facts.
///
/// They are chosen without regard to the limits that are promised, so that a proof with other limits plays the same
/// situations.
struct WorstSituations {
    fileprivate struct Worst {
        let situation: Situation
        let needed: NeededLimit
        /// How long the load took.
        let waited: Duration
        /// Its place among the situations that were played.
        let number: Int
        /// Whether the promise is known to be about it: the copy may be shown until the load ends.
        var isSure: Bool
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
    /// The time for which a load is watched.
    private let longest: Duration
    /// The candidates of each set of facts, the worst last. A sure one has no others before it when it is found.
    private var worst: [[UnusualFacts: [Worst]]]
    private var count = 0

    init(for rules: [PromiseRule], of policy: SimulatedPolicy) {
        // The first time that is too late is searched for.
        self.rules = rules.filter { !$0.isShortened }
        longest = policy.horizon
        worst = self.rules.map { _ in [:] }
    }

    /// Notes situations that were played.
    mutating func note(
        _ played: some Collection<(situation: Situation, seen: Observation)>, _ copies: CopiesThatMayBeShown?
    ) {
        var found = rules.map { _ in [UnusualFacts: [Worst]]() }
        for (situation, seen) in played {
            count += 1
            let facts = UnusualFacts(of: situation)
            for (rule, number) in zip(rules, rules.indices) where rule.concerns(situation) {
                guard let needed = rule.needed(situation, seen) else { continue }
                let new = Worst(
                    situation: situation, needed: needed, waited: seen.waited ?? longest, number: count,
                    isSure: !rule.needsCopy)
                if let last = worst[number][facts]?.last, last.isSure, !new.isWorse(than: last) { continue }
                if !rule.needsCopy {
                    worst[number][facts] = [new]
                } else if copies?.isShown(situation) == true {
                    found[number][facts, default: []].append(new)
                }
            }
        }
        for number in rules.indices {
            worst[number].merge(found[number]) { $0 + $1 }
            for facts in found[number].keys { worst[number][facts]?.sort { $1.isWorse(than: $0) } }
        }
    }

    /// Returns the worst situations of each promise, without those that were returned before.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    mutating func takeUnexplored(_ copies: inout CopiesThatMayBeShown?) throws -> [Situation] {
        try rules.indices.flatMap { rule -> [Situation] in
            var chosen = chosen(of: rule)
            while chosen.contains(where: { !$0.worst.isSure }) {
                let unsure = sorted(of: rule).map(\.worst).filter { !$0.isSure }.prefix(Self.mostAsked)
                try copies?.ask(unsure.map { ($0.situation, $0.waited) })
                for facts in worst[rule].keys { worst[rule][facts]?.settleLast(by: copies) }
                chosen = self.chosen(of: rule)
            }
            return chosen.filter { !$0.worst.isExplored }.map { facts, found in
                if let last = worst[rule][facts]?.indices.last { worst[rule][facts]?[last].isExplored = true }
                return found.situation
            }
        }
    }

    /// The number of situations whose copies are asked for at a time.
    private static let mostAsked = 64

    /// The worst situations of a promise that are looked at, as far as is known.
    private func chosen(of rule: Int) -> [(facts: UnusualFacts, worst: Worst)] {
        let sorted = sorted(of: rule)
        // Nothing is worse than a promise for which no limit is enough.
        if let first = sorted.first?.worst, first.isSure, first.needed == .none { return [] }
        var chosen: [(facts: UnusualFacts, worst: Worst)] = []
        for one in sorted where chosen.count < Self.most {
            // More facts that make nothing worse lead no further.
            let isAlike = chosen.contains { $0.facts.isSubset(of: one.facts) || $0.facts.hasSameStores(as: one.facts) }
            if !isAlike { chosen.append(one) }
        }
        return chosen
    }

    /// The worst situation of each set of facts, as far as is known, the worst of all first.
    private func sorted(of rule: Int) -> [(facts: UnusualFacts, worst: Worst)] {
        worst[rule].compactMap { facts, found in found.last.map { (facts: facts, worst: $0) } }
            .sorted { $0.worst.isWorse(than: $1.worst) }
    }
}

extension [WorstSituations.Worst] {
    /// Removes the last ones whose copies may not be shown any more when the load ends.
    fileprivate mutating func settleLast(by copies: CopiesThatMayBeShown?) {
        while let found = last, !found.isSure {
            guard let isShown = copies?.isShown(found.situation, after: found.waited) else { return }
            removeLast()
            if isShown {
                // Those that were less bad do not count any more.
                removeAll()
                append(found)
                self[0].isSure = true
            }
        }
    }
}

/// The facts of a situation that differ from those of the usual one.
private struct UnusualFacts: Hashable {
    /// A bit for each kind of fault of the stores.
    private let stores: Int
    /// A bit for each other fact.
    private let others: Int

    func hasSameStores(as other: UnusualFacts) -> Bool { stores == other.stores }

    func isSubset(of other: UnusualFacts) -> Bool { stores & ~other.stores == 0 && others & ~other.others == 0 }

    init(of situation: Situation) {
        func isFaulty(_ operations: Situation.StoreFault.Operations, _ kinds: [FaultyStore.Fault]) -> Bool {
            situation.stores.contains { $0.operations == operations && kinds.contains($0.fault) }
        }
        func isSlow(_ operations: Situation.StoreFault.Operations) -> Bool {
            situation.stores.contains { fault in
                if fault.operations == operations, case .takes = fault.fault { true } else { false }
            }
        }
        func bits(_ facts: [Bool]) -> Int {
            facts.enumerated().reduce(0) { $1.element ? $0 | 1 << $1.offset : $0 }
        }
        stores = bits([
            isSlow(.reads), isSlow(.changes), isFaulty(.reads, [.hangs]), isFaulty(.changes, [.hangs]),
            isFaulty(.reads, [.fails]), isFaulty(.changes, [.fails]), isFaulty(.reads, [.corrupts]),
        ])
        others = bits([
            situation.copy?.tier != nil, situation.copy?.spread ?? 0 > 0, situation.origin != [.init(.value)],
            !situation.earlier.isEmpty, situation.network != .unknown, situation.isNetworkCostly,
            situation.isRestarted, situation.clockBack > .zero, situation.mode != .normal,
            situation.deadline != nil, situation.chance != 0.5,
        ])
    }
}
