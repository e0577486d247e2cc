import Larder

/// The situations that can make a difference to the promises of a policy.
///
/// - Every age of the copy is combined with the main behaviours of the origin, and every behaviour of the origin with the
///   extreme ages: right before each border.
/// - Each variation of one more fact (the tier of the copy, the stores, the network, the clock, the request, the loads
///   before, chance) is combined with the extreme ages and the main behaviours. Those that change which copy is found are
///   combined with every age.
/// - The variations that make loads longest, and pairs of them, are combined with every behaviour of the origin.
/// - Faults of stores are combined with each variation of the request and of the loads before.
struct SituationSpace {
    typealias Variation = @Sendable (Situation) -> Situation

    private let policy: SimulatedPolicy
    private let ages: [Duration]
    private static let step = Duration.milliseconds(1)

    init(_ policy: SimulatedPolicy) {
        self.policy = policy
        ages = Self.around(policy.ageBorders)
    }

    /// All situations, each once.
    var all: [Situation] {
        let origins = origins
        var situations = combined(ages.map { Situation.Copy(age: $0) }, mainOrigins)
        situations += combined(extremeCopies, origins)
        for variation in findingVariations {
            situations += combined(copies, [[.init(.value)], failing]).map(variation)
        }
        for variation in variations { situations += combined(extremeCopies, mainOrigins).map(variation) }
        for variation in longestVariations { situations += combined(fewCopies, origins).map(variation) }
        for one in requestVariations + earlierVariations {
            for other in storeVariations.prefix(5) {
                situations += combined(fewCopies, mainOrigins).map { other(one($0)) }
            }
        }
        var seen: Set<Situation> = []
        return situations.filter { seen.insert($0).inserted }
    }

    // MARK: Copies

    private var copies: [Situation.Copy?] { [nil] + ages.map { Situation.Copy(age: $0) } }

    /// No copy, and copies just before each border and after the last.
    private var extremeCopies: [Situation.Copy?] {
        let inside = policy.ageBorders.map { $0 - Self.step }.filter { $0 >= .zero }
        return [nil] + (inside + [ages.last ?? .zero]).map { Situation.Copy(age: $0) }
    }

    /// No copy, one that is as old as the validators ever permit, and one that is not fresh any more.
    private var fewCopies: [Situation.Copy?] {
        let borders = policy.validatorBorders
        let ages = [(borders.first ?? .zero) + .seconds(1), (borders.last ?? .seconds(2)) - .seconds(1)]
        return [nil] + Set(ages.filter { $0 >= .zero }).sorted().map { Situation.Copy(age: $0) }
    }

    // MARK: The origin

    private var failing: [Situation.OriginAct] { [.init(.status(503))] }

    /// The behaviours that are combined with every age and every variation.
    private var mainOrigins: [[Situation.OriginAct]] {
        let slow = policy.callLimits.last.map { [Situation.OriginAct(.value, after: $0 - Self.step)] }
        return [[.init(.value)], [.init(.unchanged)], failing, [hanging], [.init(.status(404))]]
            + (slow.map { [$0] } ?? [])
    }

    /// Every behaviour of the origin: at once, around each border, and in turns as retries meet it.
    private var origins: [[Situation.OriginAct]] {
        let limit = policy.originLimit ?? .forever
        let borders = policy.waitBorders.filter { $0 > .zero && $0 <= limit }
        var acts: [Situation.OriginAct] = [.init(.unreachable), .init(.status(403))]
        for border in borders {
            for time in [border - Self.step, border, border + Self.step] { acts.append(.init(.value, after: time)) }
            acts.append(.init(.status(503), after: border - Self.step))
            acts.append(.init(.status(503), after: border))
        }
        acts += policy.callLimits.map { .init(.status(403), after: $0 - Self.step) }
        acts += pauses
        return mainOrigins + acts.filter { $0.after < limit }.map { [$0] } + sequences
    }

    /// A call that never ends, as far as its origin allows.
    var hanging: Situation.OriginAct {
        policy.originLimit.map { Situation.OriginAct(.unreachable, after: $0) } ?? Situation.OriginAct(.hangs)
    }

    /// Failures with which the origin asks for a pause, at once and as late as a call may last.
    private var pauses: [Situation.OriginAct] {
        guard policy.mostTries > 1 || policy.countsFailures else { return [] }
        let last = policy.callLimits.map { $0 - Self.step }
        return policy.waitBorders.filter { $0 > .zero }.flatMap { pause in
            ([.zero] + last).map { Situation.OriginAct(.status(503, retryAfter: pause), after: $0) }
        }
    }

    /// Failures for all tries but the last, or for one, and then something else.
    private var sequences: [[Situation.OriginAct]] {
        guard policy.mostTries > 1 else { return [] }
        let last = policy.callLimits.map { $0 - Self.step }
        let failures = ([.zero] + last).map { Situation.OriginAct(.status(503), after: $0) } + pauses
        return Set([1, policy.mostTries - 1]).sorted().flatMap { number in
            failures.flatMap { failure -> [[Situation.OriginAct]] in
                var first = failure
                first.calls = number
                return ([hanging] + last.map { .init(.value, after: $0) }).map { [first, $0] }
            }
        }
    }

    // MARK: Variations

    private var variations: [Variation] {
        findingVariations + chanceVariations + networkVariations + requestVariations + storeVariations
            + earlierVariations
    }

    /// The variations that change which copy is found, and how old it seems.
    private var findingVariations: [Variation] {
        let count = policy.tiers.count
        var variations: [Variation] = [
            { $0.with { $0.copy?.spread = 0.999_999 } }, { $0.with { $0.clockBack = .seconds(3_600) } },
            { situation in situation.with { $0.clockBack = ($0.copy?.age ?? .zero) + .seconds(86_400) } },
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

    private var chanceVariations: [Variation] {
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

    private var networkVariations: [Variation] {
        let costly: Variation = { $0.with { ($0.network, $0.isNetworkCostly) = (.online, true) } }
        return [
            { $0.with { ($0.network, $0.origin) = (.offline, [.init(.unreachable)]) } },
            { $0.with { $0.network = .online } },
        ] + (policy.hasNetworkRules ? [costly] : [])
    }

    private var requestVariations: [Variation] {
        let patience = policy.parts.compactMap(\.traits.patience).flatMap { [$0 - Self.step, $0 + Self.step] }
        let deadlines = Set(policy.waitBorders + patience + [.milliseconds(1), .seconds(30)])
        return [{ $0.with { $0.mode = .refresh } }, { $0.with { $0.mode = .cachedOnly } }]
            + deadlines.filter { $0 > .zero }.sorted().map { deadline -> Variation in
                { situation in situation.with { $0.deadline = deadline } }
            }
    }

    /// The variations that can make a load last longest, and pairs of them.
    private var longestVariations: [Variation] {
        let request: [Variation] = [
            { $0 }, { $0.with { $0.mode = .refresh } }, { $0.with { $0.chance = 1 } },
        ]
        let usual: Variation = { $0 }
        let stores = [usual] + storeVariations.prefix(3)
        return request.flatMap { one in
            stores.map { other -> Variation in { situation in other(one(situation)) } }
        }
    }

    /// The faults of the stores outside the memory of the process.
    private var storeVariations: [Variation] {
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
            slow, both(.hangs), slowReads + [.init(.changes, .hangs)],
            both(.hangs).filter { $0.operations == .changes } + hangingReads(above: lowest + 1) + slowReads.suffix(1),
            [.init(.changes, .hangs)], both(.fails), [.init(.reads, .corrupts)], [.init(.reads, .hangs)],
            [.init(.reads, .fails)], [.init(.changes, .fails)],
        ]
        return faults.map { faults -> Variation in { situation in situation.with { $0.stores = faults } } }
    }

    private func hangingReads(above lowest: Int) -> [Situation.StoreFault] {
        policy.tiers.enumerated().filter { $0.offset + 1 < lowest && $0.element.traits.isForeign }.map {
            Situation.StoreFault(.reads, .hangs, tier: $0.offset + 1)
        }
    }

    /// The loads before: failures, so that the origin rests or a breaker opens, an answer that the resource is gone, so
    /// that the copy is dropped, and calls that are still under way.
    private var earlierVariations: [Variation] {
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

    // MARK: Helpers

    private func combined(_ copies: [Situation.Copy?], _ origins: [[Situation.OriginAct]]) -> [Situation] {
        copies.flatMap { copy in
            origins.map { origin in Situation().with { ($0.copy, $0.origin) = (copy, origin) } }
        }
    }

    /// Returns times just before, at and just after each border, inside each region, and beyond the last.
    private static func around(_ borders: [Duration]) -> [Duration] {
        var times: Set<Duration> = [.zero]
        for (number, border) in borders.enumerated() {
            times.formUnion([border - step, border, border + step])
            let former = number == 0 ? .zero : borders[number - 1]
            times.insert(former + Duration.milliseconds((border - former).nanoseconds / 2_000_000))
        }
        times.insert((borders.last ?? .zero) + .seconds(86_400))
        return times.filter { $0 >= .zero }.sorted()
    }
}

extension Situation {
    /// Makes the copy at least as old as the time since the first earlier load, so that it was there before.
    fileprivate mutating func keepAge() {
        let lead = lead
        if let age = copy?.age { copy?.age = max(age, lead) }
    }
}

extension SituationSpace {
    /// Returns the loads without network after one that the origin answered, up to a time after it.
    func offlineHistories(upTo limit: Duration?) -> [Situation] {
        guard let limit else { return [] }
        let times = ([Self.step] + ages).filter { $0 > .zero && $0 < limit }
        let ends = Set([Self.step] + policy.ageBorders.map { $0 - Self.step })
        return times.flatMap { time in
            let live = Situation().with { situation in
                situation.earlier = [Situation.EarlierLoad(before: time)]
                situation.earlierOrigin = [.init(.value)]
            }
            // At ages that are not right before a border, only the main ones are played.
            let isEnd = ends.contains(time)
            return offlineNetworks.prefix(isEnd ? 4 : 2).flatMap { network in
                offlineRequests.prefix(isEnd ? 9 : 2).map { $0(network(live)) }
            }
        }
    }

    private var offlineNetworks: [Variation] {
        [
            { $0.with { ($0.network, $0.origin) = (.offline, [.init(.unreachable)]) } },
            { $0.with { $0.origin = [.init(.unreachable)] } }, { $0.with { $0.origin = [.init(.status(503))] } },
            { [hanging] situation in situation.with { $0.origin = [hanging] } },
        ]
    }

    private var offlineRequests: [Variation] {
        [
            { $0 }, { $0.with { $0.isRestarted = true } }, { $0.with { $0.mode = .refresh } },
            { $0.with { $0.mode = .cachedOnly } }, { $0.with { $0.deadline = .seconds(1) } },
            { $0.with { $0.chance = 0 } }, { $0.with { $0.chance = 1 } },
            { $0.with { ($0.chance, $0.isRestarted) = (1, true) } }, { $0.with { $0.clockBack = .seconds(86_400) } },
        ]
    }
}
