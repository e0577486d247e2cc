import Larder

/// The variations of situations by one more fact.
extension SituationSpace {
    var variations: [Variation] {
        findingVariations + chanceVariations + networkVariations + requestVariations + storeVariations
            + slowVariations + earlierVariations
    }

    /// The variations that change which copy is found, and how old it seems.
    var findingVariations: [Variation] {
        let count = policy.tiers.count
        var variations: [Variation] = [
            { $0.with { $0.copy?.spread = 0.999_999 } }, { $0.with { $0.clockBack = .seconds(3_600) } }, setBack,
        ]
        guard count > 1 else { return variations }
        for tier in 1...count { variations.append { situation in situation.with { $0.copy?.tier = tier } } }
        variations.append { situation in
            situation.with { situation in
                guard let age = situation.copy?.age else { return }
                situation.copy = Situation.Copy(
                    age: .milliseconds(age.nanoseconds / 2_000_000), tier: count, ageAbove: age)
            }
        }
        return variations
    }

    /// A clock that was set back so far that the copy seems to come from the future.
    var setBack: Variation {
        { situation in situation.with { $0.clockBack = ($0.copy?.age ?? .zero) + .seconds(86_400) } }
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

    var requestVariations: [Variation] {
        let patience = policy.parts.compactMap(\.traits.patience).flatMap { [$0 - Self.step, $0 + Self.step] }
        let deadlines = Set(policy.waitBorders + patience + [.milliseconds(1), .seconds(30)])
        return [{ $0.with { $0.mode = .refresh } }, { $0.with { $0.mode = .cachedOnly } }]
            + deadlines.filter { $0 > .zero }.sorted().map { deadline -> Variation in
                { situation in situation.with { $0.deadline = deadline } }
            }
    }

    /// The variations that can make a load last longest, and pairs of them.
    var longestVariations: [Variation] {
        let request: [Variation] = [
            { $0 }, { $0.with { $0.mode = .refresh } }, { $0.with { $0.chance = 1 } },
        ]
        let usual: Variation = { $0 }
        let stores = [usual] + slowVariations.prefix(4)
        return request.flatMap { one in
            stores.map { other -> Variation in { situation in other(one(situation)) } }
        }
    }

    /// The faults of the stores outside the memory of the process.
    var storeVariations: [Variation] {
        let foreign = policy.tiers.enumerated().filter(\.element.traits.isForeign)
        guard let lowest = foreign.last?.offset else { return [] }
        func both(_ fault: FaultyStore.Fault) -> [Situation.StoreFault] {
            [.init(.reads, fault), .init(.changes, fault)]
        }
        // Each tier is as slow as its own limit allows. A store without a limit may take any time; an hour stands for it.
        let limits = foreign.map { (tier: $0.offset + 1, limit: $0.element.traits.givesUpAfter ?? .seconds(3_600)) }
        let slow = limits.flatMap { tier, limit -> [Situation.StoreFault] in
            both(.takes(limit - Self.step)).map { Situation.StoreFault($0.operations, $0.fault, tier: tier) }
        }
        let slowReads = slow.filter { $0.operations == .reads }
        let faults: [[Situation.StoreFault]] = [
            slow, both(.hangs), [.init(.reads, .hangs), .init(.changes, .fails)], slowReads + [.init(.changes, .hangs)],
            both(.hangs).filter { $0.operations == .changes } + hangingReads(above: lowest + 1) + slowReads.suffix(1),
            [.init(.changes, .hangs)], both(.fails), [.init(.reads, .corrupts)], [.init(.reads, .hangs)],
            [.init(.reads, .fails)], [.init(.changes, .fails)],
        ]
        return faults.map { faults -> Variation in { situation in situation.with { $0.stores = faults } } }
    }

    /// The faults that make loads longest. The copy lies only in the lowest tier, as after a restart, so that each tier is
    /// asked for it.
    var slowVariations: [Variation] {
        storeVariations.prefix(6).map { fault in
            { [lowest = policy.tiers.count] situation in
                fault(lowest > 1 ? situation.with { $0.copy?.tier = lowest } : situation)
            }
        }
    }

    private func hangingReads(above lowest: Int) -> [Situation.StoreFault] {
        policy.tiers.enumerated().filter { $0.offset + 1 < lowest && $0.element.traits.isForeign }.map {
            Situation.StoreFault(.reads, .hangs, tier: $0.offset + 1)
        }
    }

    /// The loads before: failures, so that the origin rests or a breaker opens, an answer that the resource is gone, so
    /// that the copy is dropped, and calls that are still under way.
    var earlierVariations: [Variation] {
        let waits = policy.parts.compactMap(\.traits.tries?.waits).reduce(.zero, +)
        let rests = Set(policy.parts.compactMap(\.traits.rest)).sorted()
        var variations: [Variation] = rests.flatMap { rest in
            [Self.step, rest - Self.step, rest * 2].filter { $0 > .zero }.map {
                Self.failing(waits + $0, loads: 1, isOther: false)
            }
        }
        for part in policy.parts {
            guard let failures = part.traits.changesAfterFailures else { continue }
            let count = min(failures, SimulatedPolicy.mostFailures)
            for rest in part.traits.borders ?? [] {
                for gap in [Self.step, rest - Self.step, rest, rest + Self.step] where gap > .zero {
                    variations.append(Self.failing(waits + gap, loads: count, isOther: true))
                }
            }
        }
        variations.append { situation in
            situation.with { situation in
                situation.earlier = [Situation.EarlierLoad(before: .seconds(60))]
                situation.earlierOrigin = [.init(.value)]
                situation.keepAge()
            }
        }
        variations.append { situation in
            situation.with { situation in
                situation.earlier = [Situation.EarlierLoad(before: .seconds(10))]
                situation.earlierOrigin = [.init(.status(404))]
                situation.keepAge()
            }
        }
        for before in [Self.step] + policy.waitBorders.prefix(3).map({ $0 - Self.step }) where before > .zero {
            variations.append(underWay(before, isOther: false))
            variations.append(underWay(before, isOther: true))
        }
        return variations
    }

    /// Loads that failed, the last of which began some time before.
    private static func failing(_ gap: Duration, loads: Int, isOther: Bool) -> Variation {
        { situation in
            situation.with { situation in
                situation.earlier = (0..<loads).reversed().map {
                    Situation.EarlierLoad(before: gap + .seconds(1) * $0, isOther: isOther)
                }
                situation.earlierOrigin = [.init(.status(503))]
                situation.keepAge()
            }
        }
    }

    /// A call that began some time before and goes on.
    private func underWay(_ before: Duration, isOther: Bool) -> Variation {
        let hanging = hanging
        return { situation in
            situation.with { situation in
                situation.earlier = [Situation.EarlierLoad(before: before, isOther: isOther)]
                situation.earlierOrigin = [hanging]
                situation.keepAge()
            }
        }
    }
}

extension Situation {
    /// Makes the copy at least as old as the time since the first earlier load, so that it was there before.
    fileprivate mutating func keepAge() {
        let lead = lead
        if let age = copy?.age { copy?.age = max(age, lead) }
    }
}
