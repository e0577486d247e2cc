import Larder

/// The situations that can make a difference to the promises of a policy.
///
/// - Every age of the copy is combined with the main behaviours of the origin, and every behaviour of the origin with the
///   extreme ages: right before each border.
/// - Each variation of one more fact (the tier of the copy, the stores, the network, the clock, the request, the loads
///   before, chance) is combined with the extreme ages and the main behaviours. Those that change which copy is found are
///   combined with every age. A deadline is combined only with behaviours of the origin that take some time.
/// - The faults of stores that make loads longest are combined with each mode of the request, each earlier load of the
///   same instance, a clock that was set back, and the largest random numbers. All of these are played once more without
///   network. They are also combined with the tier of the copy, and so are tiers that are damaged and slow.
/// - The other faults of stores are combined with each earlier load of the same instance. A store that could not keep the
///   answer of an earlier load is combined with a clock that was set back.
///
/// Combinations of several facts are played with a few copies and behaviours of the origin only. After that, one fact of the
/// worst situations is changed at a time: see ``nearby(_:)``. At the end, their times are changed: see ``TimeSearch``.
///
/// It is a class so that lists which are asked for again and again are made once.
final class SituationSpace {
    typealias Variation = @Sendable (Story) -> Story

    let policy: SimulatedPolicy
    let ages: [Duration]
    /// The situation that nothing else is said about.
    let usual: Story
    static let step = Duration.milliseconds(1)

    init(_ policy: SimulatedPolicy) {
        self.policy = policy
        usual = Story().with { $0.lifetime = policy.lifetimes.first ?? nil }
        ages = Self.around(policy.ageBorders, and: policy.oldest + SimulatedPolicy.spare / 2)
    }

    /// The variations by one more fact, but for deadlines.
    private(set) lazy var variations =
        findingVariations + chanceVariations + networkVariations + [refresh, copyAlone] + storeVariations
        + slowVariations + earlierVariations

    /// The situations with which a proof of promises begins.
    func first(for promises: Promises) -> [Story] { all + offlineHistories(upTo: promises.offlineFor) }

    /// All situations but those of `offlineFor`, each once.
    var all: [Story] {
        let origins = origins
        var situations = combined(ages.map { Story.Copy(age: $0) }, mainOrigins)
        situations += combined(extremeCopies, origins)
        for variation in findingVariations {
            situations += combined(copies, [[.init(.value)], failing]).map(variation)
        }
        for variation in variations { situations += combined(extremeCopies, mainOrigins).map(variation) }
        for deadline in deadlineVariations { situations += combined(extremeCopies, lastingOrigins).map(deadline) }
        situations += slowSituations + tierSituations
        for other in slowVariations { situations += combined(fewCopies, [failing]).map { offline(other($0)) } }
        var seen: Set<Story> = []
        return situations.filter { seen.insert($0).inserted }
    }

    /// Faults of stores, together with one more fact.
    private var slowSituations: [Story] {
        var situations: [Story] = []
        for one in [refresh, copyAlone] + ownEarlierVariations + [setBack] + chanceVariations.prefix(1) {
            for other in slowVariations {
                situations += combined(fewCopies, fewOrigins).map { other(one($0)) }
                // Without network no behaviour of the origin makes a difference.
                situations += combined(fewCopies, [failing]).map { offline(other(one($0))) }
            }
        }
        for unsaved in unsavedVariations { situations += combined([nil], mainOrigins).map(unsaved) }
        for one in ownEarlierVariations {
            for other in shortFaults { situations += combined(fewCopies, fewOrigins).map { other(one($0)) } }
        }
        return situations
    }

    /// Faults of stores, together with the tier in which the copy lies.
    private var tierSituations: [Story] {
        var situations: [Story] = []
        // A copy from the future is never fresh, so that the tiers below are asked for another.
        let future = tierVariations.prefix(1).map { [setBack] first -> Variation in { setBack(first($0)) } }
        // A tier that does not have the entry which it renews is asked to write it.
        let late = min(policy.latest, policy.timeToAnswer - Self.step)
        let times = [.zero, Duration.zero.middle(to: late), late]
        let confirming = fewOrigins + times.map { [.init(.unchanged, after: $0)] }
        for one in tierVariations + future {
            for other in longFaults { situations += combined(fewCopies, confirming).map { other(one($0)) } }
        }
        for one in tierVariations.prefix(1) {
            for other in longFaults {
                situations += combined(fewCopies, [[.init(.unchanged)]]).map { [refresh] in other(refresh(one($0))) }
            }
        }
        for one in [{ $0 }] + tierVariations {
            for other in damagedVariations { situations += combined(fewCopies, confirming).map { other(one($0)) } }
        }
        return situations
    }

    // MARK: Copies

    private var copies: [Story.Copy?] { [nil] + ages.map { Story.Copy(age: $0) } }

    /// No copy, and copies just before each border, a second before the last border of validators, and after the last.
    private(set) lazy var extremeCopies: [Story.Copy?] = {
        let inside = policy.ageBorders.map { $0 - Self.step }
        let soon = (policy.validatorBorders.last ?? .zero) - .seconds(1)
        let ages = (inside + [soon]).filter { $0 >= .zero } + [ages.last ?? .zero]
        return [nil] + Set(ages).sorted().map { Story.Copy(age: $0) }
    }()

    /// No copy, and copies in the middle of the three longest regions between borders of validators that stores keep.
    private(set) lazy var fewCopies: [Story.Copy?] = {
        let kept = policy.longestKept
        let borders = policy.validatorBorders.filter { $0 > .zero && $0 < kept ?? .forever } + [kept].compactMap { $0 }
        let regions = zip([.zero] + borders, borders).sorted { $0.1 - $0.0 > $1.1 - $1.0 }
        let ages = regions.prefix(3).map { $0.middle(to: $1) }
        return [nil] + (ages.isEmpty ? [.seconds(60)] : ages.sorted()).map { Story.Copy(age: $0) }
    }()

    // MARK: The origin

    private let failing = [Story.OriginAct(.status(503))]

    /// The behaviours that are combined with every age and every variation.
    private(set) lazy var mainOrigins: [[Story.OriginAct]] = {
        let slow = policy.callLimits.last.map { [Story.OriginAct(.value, after: $0 - Self.step)] }
        return [[.init(.value)], [.init(.unchanged)], failing, [hanging], [.init(.status(404))]]
            + (slow.map { [$0] } ?? [])
    }()

    /// The main behaviours that take some time, so that a deadline can make a difference.
    private var lastingOrigins: [[Story.OriginAct]] {
        mainOrigins.filter { $0 == failing || $0.contains { $0.ending == .hangs || $0.after > .zero } }
    }

    /// The behaviours that are combined with several facts at once.
    private var fewOrigins: [[Story.OriginAct]] { [[.init(.value)], failing, [hanging]] }

    /// Every behaviour of the origin: at once, around each border, and in turns as retries meet it.
    private(set) lazy var origins: [[Story.OriginAct]] = {
        let limit = policy.originLimit ?? .forever
        let borders = policy.waitBorders.filter { $0 > .zero && $0 <= limit }
        var acts: [Story.OriginAct] = [.init(.unreachable), .init(.status(403))]
        for border in borders {
            for time in [border - Self.step, border, border + Self.step] { acts.append(.init(.value, after: time)) }
            acts.append(.init(.status(503), after: border - Self.step))
            acts.append(.init(.status(503), after: border))
        }
        acts += lastTimes.map { .init(.status(403), after: $0) }
        acts += pauses
        return mainOrigins + acts.filter { $0.after < limit }.map { [$0] } + sequences
    }()

    /// A call that never ends, as far as its origin allows.
    private(set) lazy var hanging = [policy].hanging

    /// Failures with which the origin asks for a pause, at once and late.
    private(set) lazy var pauses = pauses(after: lateTimes)

    private func pauses(after late: [Duration]) -> [Story.OriginAct] {
        guard policy.mostTries > 1 || policy.countsFailures else { return [] }
        return ([Self.step] + policy.waitBorders.filter { $0 > .zero }).flatMap { pause in
            ([.zero] + late).map { Story.OriginAct(.status(503, retryAfter: pause), after: $0) }
        }
    }

    /// Times as long as a call may last.
    private var lastTimes: [Duration] { policy.callLimits.map { $0 - Self.step } }

    /// Times as long as a call may last, and so long that a wrapper makes another call beside it.
    var lateTimes: [Duration] {
        let more = policy.parts.compactMap(\.wrapperTraits.tries?.waits).filter { $0 > .zero }.map { $0 + Self.step }
        return Set(lastTimes + more).sorted()
    }

    /// Failures for all tries but the last, or for one, and then something else.
    private var sequences: [[Story.OriginAct]] {
        guard policy.mostTries > 1 else { return [] }
        let last = lastTimes
        let failures = ([.zero] + last).map { Story.OriginAct(.status(503), after: $0) } + pauses(after: last)
        return policy.failureCounts.flatMap { number in
            failures.flatMap { failure -> [[Story.OriginAct]] in
                let first = failure.with(calls: number)
                return ([hanging] + last.map { .init(.value, after: $0) }).map { [first, $0] }
            } + lateTimes.map { [.init(.status(503), calls: number), .init(.status(503), after: $0)] }
        }
    }

    /// About the number of situations with which a proof begins. It is not the number of ``all``, which may need more memory
    /// than there is.
    var roughSize: Double {
        let (waits, limits) = (Double(policy.waitBorders.count + 1), Double(policy.callLimits.count + 1))
        let pauses = waits * limits
        let sequences = Double(policy.failureCounts.count) * (limits + pauses) * limits
        let origins = 5 * waits + pauses + sequences
        let variations = Double(variations.count + deadlineVariations.count)
        return Double(extremeCopies.count) * (origins + variations * Double(mainOrigins.count))
    }

    // MARK: Helpers

    private func combined(_ copies: [Story.Copy?], _ origins: [[Story.OriginAct]]) -> [Story] {
        copies.flatMap { copy in
            origins.map { origin in usual.with { ($0.copy, $0.origin) = (copy, origin) } }
        }
    }

    /// Returns times just before, at and just after each border, inside each region, and one beyond the last.
    private static func around(_ borders: [Duration], and beyond: Duration) -> [Duration] {
        var times: Set<Duration> = [.zero, beyond]
        for (number, border) in borders.enumerated() {
            times.formUnion([border - step, border, border + step])
            let former = number == 0 ? .zero : borders[number - 1]
            times.insert(former.middle(to: border))
        }
        return times.filter { $0 >= .zero }.sorted()
    }
}
