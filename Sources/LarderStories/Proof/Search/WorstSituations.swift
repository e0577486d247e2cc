import Larder
import LarderSimulation
import LarderSystem

/// The situations that come closest to breaking each promise, one for each set of unusual facts.
///
/// They are chosen without regard to the limits that are promised, so that a proof with other limits plays the same
/// situations.
struct WorstSituations {
    /// How bad a situation is for a promise.
    fileprivate struct Rank {
        let needed: NeededLimit
        /// How long the load took.
        let waited: Duration
        /// Its place among the situations that were played.
        let number: Int

        /// Whether it needs a larger limit than another, or takes longer with the same.
        func isWorse(than other: Rank) -> Bool {
            if needed != other.needed { return needed > other.needed }
            return waited == other.waited ? number < other.number : waited > other.waited
        }
    }

    fileprivate struct Worst {
        let situation: Story
        let rank: Rank
        /// Whether the promise is known to be about it: the copy may be shown until the load ends.
        var isSure: Bool
        /// Whether those that differ from it in one fact were played.
        var isExplored = false
    }

    /// The number of situations of a promise that are looked at. Each has other faults of stores.
    private static let most = 6

    private let rules: [PromiseRule]
    private let policy: SimulatedPolicy
    /// The candidates of each set of facts, the worst last. A sure one has no others before it when it is found.
    private var worst: [[UnusualFacts: [Worst]]]
    private var count = 0

    init(for rules: [PromiseRule], of policy: SimulatedPolicy) {
        // The first time that is too late is searched for.
        self.rules = rules.filter { !$0.isShortened }
        self.policy = policy
        worst = self.rules.map { _ in [:] }
    }

    /// Notes situations that were played.
    mutating func note(
        _ played: some Collection<(situation: Story, seen: ObservedLoad)>, _ copies: CopiesThatMayBeShown?
    ) {
        var found = rules.map { _ in [UnusualFacts: [Worst]]() }
        for (situation, seen) in played {
            count += 1
            let facts = UnusualFacts(of: situation)
            for (rule, number) in zip(rules, rules.indices) where rule.concerns(situation) {
                guard let needed = rule.needed(situation, seen) else { continue }
                let rank = Rank(needed: needed, waited: seen.waited ?? policy.horizon, number: count)
                if let last = worst[number][facts]?.last, last.isSure, !rank.isWorse(than: last.rank) { continue }
                let new = Worst(situation: situation, rank: rank, isSure: !rule.needsCopy)
                if !rule.needsCopy {
                    worst[number][facts] = [new]
                } else if copies?.isShown(situation) == true {
                    found[number][facts, default: []].append(new)
                }
            }
        }
        for number in rules.indices {
            worst[number].merge(found[number]) { $0 + $1 }
            for facts in found[number].keys { worst[number][facts]?.sort { $1.rank.isWorse(than: $0.rank) } }
        }
    }

    /// Returns the worst situations of each promise, without those that were returned before.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    mutating func takeUnexplored(_ copies: inout CopiesThatMayBeShown?) throws -> [Story] {
        try rules.indices.flatMap { rule -> [Story] in
            try settled(of: rule, &copies).compactMap { facts -> Story? in
                guard let last = worst[rule][facts]?.indices.last, let found = worst[rule][facts]?[last],
                    !found.isExplored
                else { return nil }
                worst[rule][facts]?[last].isExplored = true
                return found.situation
            }
        }
    }

    /// The number of situations of a promise whose times are changed.
    private static let mostSearched = 2

    /// Plays the worst situations with other times, as long as that makes them worse. Returns those that were played.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    mutating func searchTimes(
        _ played: PlayedSituations, _ copies: inout CopiesThatMayBeShown?
    ) throws -> [Story] {
        let worst = try rules.indices.flatMap { rule -> [(PromiseRule, Worst)] in
            let chosen = try settled(of: rule, &copies).prefix(Self.mostSearched)
            return chosen.compactMap { self.worst[rule][$0]?.last.map { (rules[rule], $0) } }
        }
        let results = ParallelMap.results(for: worst.count, inRangesOf: 1) { [policy, copies] range in
            worst[range].map { rule, found in
                Result {
                    var search = TimeSearch(rule, of: policy, played: played, copies: copies)
                    return try search.worsen(found.situation, needing: found.rank.needed)
                }
            }
        }
        return try results.flatMap { try $0.get() }
    }

    /// Returns the facts of the worst situations of a promise, whose copies may be shown until their loads end.
    private mutating func settled(of rule: Int, _ copies: inout CopiesThatMayBeShown?) throws -> [UnusualFacts] {
        while true {
            let sorted = sorted(of: rule)
            let chosen = chosen(from: sorted)
            if chosen.allSatisfy(\.isSure) { return chosen.map(\.facts) }
            let unsure = sorted.filter { !$0.isSure }.prefix(Self.mostAsked).map(\.facts)
            try copies?.ask(unsure.compactMap { worst[rule][$0]?.last }.map { ($0.situation, $0.rank.waited) })
            for facts in unsure { worst[rule][facts]?.settleLast(by: copies) }
        }
    }

    /// The number of situations whose copies are asked for at a time. Often the first few are enough.
    private static let mostAsked = 16

    private typealias Ranked = (facts: UnusualFacts, rank: Rank, isSure: Bool)

    /// The worst situations of a promise that are looked at, as far as is known.
    private func chosen(from sorted: [Ranked]) -> [Ranked] {
        // Nothing is worse than a promise for which no limit is enough.
        if let first = sorted.first, first.isSure, first.rank.needed == .none { return [] }
        var chosen: [Ranked] = []
        for one in sorted where chosen.count < Self.most {
            // More facts that make nothing worse lead no further.
            let isAlike = chosen.contains { $0.facts.isSubset(of: one.facts) || $0.facts.hasSameStores(as: one.facts) }
            if !isAlike { chosen.append(one) }
        }
        return chosen
    }

    /// The worst situation of each set of facts, as far as is known, the worst of all first.
    private func sorted(of rule: Int) -> [Ranked] {
        worst[rule].compactMap { facts, found in
            found.last.map { (facts: facts, rank: $0.rank, isSure: $0.isSure) }
        }.sorted { $0.rank.isWorse(than: $1.rank) }
    }
}

extension [WorstSituations.Worst] {
    /// Removes the last ones whose copies may not be shown any more when the load ends.
    fileprivate mutating func settleLast(by copies: CopiesThatMayBeShown?) {
        while let found = last, !found.isSure {
            guard let isShown = copies?.isShown(found.situation, after: found.rank.waited) else { return }
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

    init(of situation: Story) {
        func isFaulty(_ operations: Story.StoreFault.Operations, _ kinds: [FaultyStore.Fault]) -> Bool {
            situation.stores.contains { $0.operations == operations && kinds.contains($0.fault) }
        }
        func isSlow(_ operations: Story.StoreFault.Operations) -> Bool {
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
            situation.load.isRestarted, situation.load.clockBack > .zero, situation.load.mode != .normal,
            situation.load.deadline != nil, situation.chance != 0.5, situation.lifetime != nil,
        ])
    }
}
