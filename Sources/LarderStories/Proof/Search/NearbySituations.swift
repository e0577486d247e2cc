import Larder
import LarderSimulation

/// The situations that differ from one in a single fact.
///
/// Facts add up: a store that hangs, a clock that was set back and a failure a moment ago can make one load longer than any
/// two of them. Not every combination can be played. So a proof changes one fact of the worst situations at a time, as
/// long as that finds worse ones.
extension SituationSpace {
    func nearby(_ situation: Story) -> [Story] {
        let varied = (variations + deadlineVariations).map { $0(situation) }
        return varied + varied.filter { $0.network != .offline }.map(hanging) + nearbyCopies(situation)
            + nearbyOrigins(situation) + nearbyEarlierOrigins(situation) + nearbyStores(situation)
            + [situation.with { $0.chance = 0.5 }]
    }

    /// The situation with an origin that does not answer. Often another fact only matters then: a deadline is over before
    /// the copy is read, and the fallback never answers.
    private func hanging(_ situation: Story) -> Story { situation.with { $0.origin = [hanging] } }

    private func nearbyCopies(_ situation: Story) -> [Story] {
        guard let copy = situation.copy else { return [] }
        return (extremeCopies + fewCopies).compactMap { $0?.age }.map { age -> Story in
            situation.with { situation in
                situation.copy?.age = age
                situation.keepAge()
                if let above = copy.ageAbove, let age = situation.copy?.age {
                    situation.copy?.ageAbove = max(above, age + Self.step)
                }
            }
        }
    }

    private func nearbyOrigins(_ situation: Story) -> [Story] {
        // Without network no behaviour of the origin makes a difference.
        if situation.network == .offline { return [] }
        let first = situation.origin.first ?? .init(.value)
        let acts = lateActs + pauses
        let after = Set([1] + policy.failureCounts).sorted().flatMap { calls in
            acts.map { [first.with(calls: calls), $0] }
        }
        let before = lateActs.map { [$0.with(calls: 1)] + situation.origin }
        return (origins + after + before).map { origin in situation.with { $0.origin = origin } }
    }

    private func nearbyEarlierOrigins(_ situation: Story) -> [Story] {
        if situation.earlier.isEmpty { return [] }
        return (mainOrigins + (lateActs + pauses).map { [$0] }).map { origin in
            situation.with { $0.earlierOrigin = origin }
        }
    }

    /// One more fault of one tier, or one less.
    private func nearbyStores(_ situation: Story) -> [Story] {
        var nearby: [Story] = []
        for (tier, limit) in slowestTiers {
            for operations in Story.StoreFault.Operations.allCases {
                let others = single(situation.stores).filter { $0.operations != operations || $0.tier != tier }
                nearby.append(situation.with { $0.stores = others })
                let damaged: [FaultyStore.Fault] = operations == .reads ? [.corrupts] : []
                for fault in [.takes(limit - Self.step), .hangs, .fails] + damaged {
                    let faults = others + [Story.StoreFault(operations, fault, tier: tier)]
                    nearby.append(situation.with { $0.stores = faults })
                }
            }
        }
        return nearby
    }

    /// The same faults, each of one tier.
    private func single(_ faults: [Story.StoreFault]) -> [Story.StoreFault] {
        faults.flatMap { fault -> [Story.StoreFault] in
            if fault.tier != nil { return [fault] }
            return slowestTiers.map { Story.StoreFault(fault.operations, fault.fault, tier: $0.tier) }
        }
    }

    /// The behaviours of a call that takes as long as it may, and of one that is just in time.
    private var lateActs: [Story.OriginAct] {
        let soon = policy.waitBorders.first { $0 > .zero }.map { $0 - Self.step }
        return [hanging]
            + [.value, .unchanged, .status(503), .status(403), .status(404)].map { .init($0, after: policy.latest) }
            + [.value, .unchanged].map { .init($0, after: soon ?? .zero) }
    }
}

extension Story.OriginAct {
    /// Returns the behaviour for a number of calls, after which the next one follows.
    func with(calls: Int) -> Story.OriginAct {
        var copy = self
        copy.calls = calls
        return copy
    }
}
