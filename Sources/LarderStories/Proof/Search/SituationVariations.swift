import Larder
import LarderSimulation

/// The variations of situations by one more fact.
extension SituationSpace {
    /// The variations that change which copy is found, and how old it seems.
    var findingVariations: [Variation] {
        let variations: [Variation] = [
            { $0.with { $0.copy?.spread = 0.999_999 } }, { $0.with { $0.load.clockBack = .seconds(3_600) } }, setBack,
        ]
        return variations + tierVariations + lifetimeVariations
    }

    /// The lifetimes that the origin may state beside the usual one.
    var lifetimeVariations: [Variation] {
        policy.lifetimes.dropFirst().map { lifetime in { $0.with { $0.lifetime = lifetime } } }
    }

    /// The tiers in which the copy may lie, and a newer copy in the lowest one.
    var tierVariations: [Variation] {
        let count = policy.tiers.count
        guard count > 1 else { return [] }
        let one = (1...count).map { tier -> Variation in { situation in situation.with { $0.copy?.tier = tier } } }
        let newer: Variation = { situation in
            situation.with { situation in
                guard let age = situation.copy?.age else { return }
                situation.copy?.tier = count
                situation.copy?.ageAbove = age
                situation.copy?.age = Duration.zero.middle(to: age)
                situation.keepAge()
            }
        }
        return one + [newer]
    }

    /// A clock that was set back so far that the copy seems to come from the future.
    var setBack: Variation {
        { situation in situation.with { $0.load.clockBack = ($0.copy?.age ?? .zero) + .seconds(86_400) } }
    }

    /// A store that could not keep a newer answer. Its old copy, which was not permitted, seems to be new when the clock is
    /// set back.
    var unsavedVariations: [Variation] {
        guard !slowestTiers.isEmpty, let last = policy.validatorBorders.last else { return [] }
        return answeredVariations.map { answered in
            { situation in
                answered(situation).with { situation in
                    let age = situation.lead + last + .seconds(1)
                    situation.copy = Story.Copy(age: age)
                    situation.load.clockBack = age - Self.step
                    situation.stores = [.init(.changes, .fails)]
                }
            }
        }
    }

    var chanceVariations: [Variation] {
        [
            { $0.with { $0.chance = 1 } }, { $0.with { $0.chance = 0 } },
            { situation in
                situation.with { situation in
                    situation.chance = 1
                    situation.copy?.spread = 0.999_999
                }
            },
        ]
    }

    var networkVariations: [Variation] {
        let costly: Variation = { $0.with { ($0.network, $0.isNetworkCostly) = (.online, true) } }
        return [offline, { $0.with { $0.network = .online } }] + (policy.hasNetworkRules ? [costly] : [])
    }

    /// The device knows that it has no network, so that calls fail at once.
    var offline: Variation {
        { $0.with { ($0.network, $0.origin) = (.offline, [.init(.unreachable)]) } }
    }

    var refresh: Variation { { $0.with { $0.load.mode = .refresh } } }

    var copyAlone: Variation { { $0.with { $0.load.mode = .cachedOnly } } }

    var deadlineVariations: [Variation] {
        let patience = policy.parts.compactMap(\.strategyTraits.patience).flatMap { [$0 - Self.step, $0 + Self.step] }
        let deadlines = Set(policy.waitBorders + patience + [.milliseconds(1), .seconds(30)])
        return deadlines.filter { $0 > .zero }.sorted().map { deadline -> Variation in
            { situation in situation.with { $0.load.deadline = deadline } }
        }
    }

    /// The faults of the stores outside the memory of the process.
    var storeVariations: [Variation] { longFaults + shortFaults }

    /// The faults that make loads longest.
    var longFaults: [Variation] {
        guard let lowest = slowestTiers.last?.tier else { return [] }
        let slow = slowestTiers.flatMap { tier, limit -> [Story.StoreFault] in
            Self.both(.takes(limit - Self.step)).map { Story.StoreFault($0.operations, $0.fault, tier: tier) }
        }
        let slowReads = slow.filter { $0.operations == .reads }
        let faults: [[Story.StoreFault]] = [
            slow, Self.both(.hangs), [.init(.reads, .hangs), .init(.changes, .fails)],
            slowReads + [.init(.changes, .hangs)],
            [.init(.changes, .hangs)] + hangingReads(above: lowest) + slowReads.suffix(1), [.init(.changes, .hangs)],
        ]
        return faults.map(Self.faulty)
    }

    /// A tier that is slow and does not have what it should have.
    var damagedVariations: [Variation] {
        slowestTiers.map { tier, limit in
            Self.faulty([.init(.reads, .corrupts, tier: tier), .init(.changes, .takes(limit - Self.step), tier: tier)])
        }
    }

    /// The other faults.
    var shortFaults: [Variation] {
        if slowestTiers.isEmpty { return [] }
        let faults: [[Story.StoreFault]] = [
            Self.both(.fails), [.init(.reads, .corrupts)], [.init(.reads, .hangs)], [.init(.reads, .fails)],
            [.init(.changes, .fails)],
        ]
        return faults.map(Self.faulty)
    }

    /// The faults that make loads longest. The copy lies only in the lowest tier, as after a restart, so that each tier is
    /// asked for it.
    var slowVariations: [Variation] {
        longFaults.map { fault in
            { [lowest = policy.tiers.count] situation in
                fault(lowest > 1 ? situation.with { $0.copy?.tier = lowest } : situation)
            }
        }
    }

    private static func both(_ fault: FaultyStore.Fault) -> [Story.StoreFault] {
        [.init(.reads, fault), .init(.changes, fault)]
    }

    private static func faulty(_ faults: [Story.StoreFault]) -> Variation {
        { situation in situation.with { $0.stores = faults } }
    }

    private func hangingReads(above lowest: Int) -> [Story.StoreFault] {
        slowestTiers.filter { $0.tier < lowest }.map { Story.StoreFault(.reads, .hangs, tier: $0.tier) }
    }

    /// The tiers outside the memory of the process, counted from 1, with the time that each allows. A store without a limit
    /// may take any time.
    var slowestTiers: [(tier: Int, limit: Duration)] {
        policy.tiers.enumerated().filter(\.element.storeTraits.isForeign).map { number, tier in
            (tier: number + 1, limit: tier.givesUpAfter ?? SimulatedPolicy.longestOperation)
        }
    }
}
