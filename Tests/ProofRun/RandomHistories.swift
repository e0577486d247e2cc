import Larder
import LarderSimulation
import LarderStories

/// A random history of one instance, and the load at its end.
struct RandomHistory {
    var situation = Story()
    /// The time since the origin answered a load whose answer was saved, if there has been no network since then; nil
    /// otherwise.
    var offlineSince: Duration?
}

/// Random histories for a policy. Their times are drawn both without regard to the policy and around its borders.
struct RandomHistories {
    private var random: SeededGenerator
    private let policy: RandomPolicy
    private let waits: [Int]
    private let ages: [Int]

    /// - Parameter promises: their times are borders, too.
    init(of policy: RandomPolicy, promising promises: [RandomPromise] = [], seed: UInt64) {
        random = SeededGenerator(seed: seed)
        self.policy = policy
        let own = promises.compactMap { promise -> Int? in
            if case .time(let time) = promise.limit { time.wholeMilliseconds } else { nil }
        }
        waits = policy.waits + own.filter { $0 < 600_000 }
        ages = policy.ageBorders + own
    }

    mutating func next() -> RandomHistory {
        let kind = random.roll(10)
        if kind < 3, policy.strategy != "network-only", policy.strategy != "cache-only" { return offline() }
        var history = RandomHistory()
        if random.roll(4) > 0 { history.situation.copy = copy() }
        let isInTime = kind == 3 || kind == 4
        if isInTime {
            history.situation.origin = (0...random.roll(2)).map { _ in answerInTime() }
        } else {
            history.situation.origin = (0...random.pick([0, 0, 1, 1, 2, 4])).map { _ in act() }
        }
        if random.isOne(in: 3) { addEarlierLoads(to: &history.situation, onlyAnswered: isInTime) }
        addFacts(to: &history.situation)
        if isInTime, random.roll(8) > 0 { history.situation.load.deadline = nil }
        addStoreFaults(to: &history.situation)
        return history
    }

    // MARK: Times

    /// A time of waiting.
    private mutating func wait() -> Int { time(near: waits, upTo: random.pick([50, 1_000, 10_000, 90_000])) }

    private mutating func time(near borders: [Int], upTo most: Int) -> Int {
        guard let border = borders.isEmpty ? nil : random.pick(borders), random.roll(4) > 0 else {
            return random.roll(most)
        }
        switch random.roll(5) {
        case 0: return max(0, border + random.roll(4_001) - 2_000)
        case 1: return random.roll(border + 1)
        case 2: return max(0, border + random.pick(borders) + random.roll(5) - 2)
        default: return max(0, border + random.roll(5) - 2)
        }
    }

    /// The age of a copy: also one that comes near a border while the load waits.
    private mutating func age() -> Int {
        let last = (ages.last ?? 0) + 1_000
        var age = time(near: ages, upTo: random.pick([2_000, 600_000, last, last * 2]))
        if random.isOne(in: 3) { age -= wait() }
        if random.isOne(in: 9) { age -= wait() }
        return max(0, age)
    }

    // MARK: Parts

    private mutating func copy() -> Story.Copy {
        var copy = Story.Copy(age: .milliseconds(age()))
        copy.spread = random.pick([0, 0, 0.999_999, random.chance()])
        let count = policy.tiers.count
        if count > 1, random.isOne(in: 2) {
            copy.tier = random.roll(count) + 1
            if random.isOne(in: 2) { copy.ageAbove = copy.age + .milliseconds(age()) }
        }
        return copy
    }

    private mutating func act() -> Story.OriginAct {
        let endings: [Story.OriginAct.Ending] = [
            .value, .value, .unchanged, .status(503), .status(503), .unreachable, .hangs, .status(404), .status(403),
            .status(503, retryAfter: .milliseconds(wait())), .status(429, retryAfter: .milliseconds(wait())),
        ]
        let after = random.isOne(in: 2) ? 0 : wait()
        return Story.OriginAct(
            random.pick(endings), after: .milliseconds(after), calls: random.pick([1, 1, 1, random.roll(6) + 1]))
    }

    private mutating func answerInTime() -> Story.OriginAct {
        let after = random.isOne(in: 2) ? 0 : random.pick([random.roll(policy.soon), policy.soon - 1])
        return Story.OriginAct(random.pick([.value, .unchanged]), after: .milliseconds(after), calls: 1)
    }

    private mutating func addFacts(to situation: inout Story) {
        situation.chance = random.pick([0.5, 0, 1, random.chance()])
        if random.isOne(in: 4) { situation.load.mode = random.pick([.refresh, .cachedOnly]) }
        if random.isOne(in: 5) { situation.load.deadline = .milliseconds(max(1, wait() + 1)) }
        if random.isOne(in: 6) { situation.load.isRestarted = true }
        if random.isOne(in: 8) { situation.load.clockBack = .milliseconds(random.pick([age(), wait(), 90_000_000])) }
        switch random.roll(8) {
        case 0:
            situation.network = .offline
            situation.origin = [.init(.unreachable)]
        case 1: situation.network = .online
        case 2: (situation.network, situation.isNetworkCostly) = (.online, true)
        default: break
        }
    }

    private mutating func unreachable() -> Story.OriginAct {
        Story.OriginAct(.unreachable, after: .milliseconds(wait()))
    }

    private mutating func addStoreFaults(to situation: inout Story) {
        let foreign = policy.tiers.indices.filter { policy.tiers[$0].isForeign }
        guard !foreign.isEmpty, random.isOne(in: 4) else { return }
        // An earlier load of the same key is under way as long as its store hangs.
        let isHeldUp = situation.earlier.contains { !$0.isOther }
        for operations in random.pick([[Story.StoreFault.Operations.reads], [.changes], [.reads, .changes]]) {
            let tier = random.pick(foreign)
            let limit = policy.tiers[tier].limit ?? 60_000
            let faults: [FaultyStore.Fault] = [
                .fails, .takes(.milliseconds(random.pick([limit - 1, random.roll(limit)]))),
                operations == .reads ? .corrupts : .fails,
                isHeldUp && policy.tiers.contains { $0.isForeign && $0.limit == nil } ? .fails : .hangs,
            ]
            let fault = random.pick(faults)
            if case .takes = fault {
                situation.stores.append(.init(operations, fault, tier: tier + 1))
            } else {
                situation.stores.append(.init(operations, fault, tier: random.pick([nil, tier + 1])))
            }
        }
    }

    // MARK: Earlier loads

    private mutating func addEarlierLoads(to situation: inout Story, onlyAnswered: Bool) {
        switch onlyAnswered ? 0 : random.roll(4) {
        case 0:
            situation.earlier = [.init(before: .milliseconds(random.pick([age(), wait()]) + 1))]
            situation.earlierOrigin = [answerInTime()]
        case 1:
            let count = random.pick([1, 1, 2, 3, 5, random.roll(8) + 1])
            let (gap, pause, isOther) = (wait(), random.pick([1, 1_000, random.roll(5_000) + 1]), random.isOne(in: 2))
            situation.earlier = (0..<count).reversed().map {
                .init(before: .milliseconds(gap + $0 * pause + 1), isOther: isOther)
            }
            let pauses: [Story.OriginAct.Ending] = [.status(503, retryAfter: .milliseconds(wait()))]
            situation.earlierOrigin = [.init(random.pick([.status(503), .unreachable] + pauses))]
        case 2:
            situation.earlier = [.init(before: .milliseconds(wait() + 1), isOther: random.isOne(in: 2))]
            situation.earlierOrigin = [random.isOne(in: 2) ? .init(.hangs) : act()]
        default:
            let (most, isOther) = (random.pick([5_000, 120_000]), random.isOne(in: 4))
            situation.earlier = (0...random.roll(4)).map { _ in
                .init(before: .milliseconds(random.roll(most) + 1), isOther: isOther)
            }.sorted { $0.before > $1.before }
            situation.earlierOrigin = (0...random.roll(4)).map { _ in
                var act = act()
                if act.ending == .hangs { act.ending = .status(503) }
                act.after = .zero
                return act
            }
        }
        keepAge(&situation)
    }

    /// Makes the copies older than the time since the first earlier load.
    private func keepAge(_ situation: inout Story) {
        let least = situation.lead + .milliseconds(1)
        guard let copy = situation.copy else { return }
        situation.copy?.age = max(copy.age, least)
        situation.copy?.ageAbove = copy.ageAbove.map { max($0, least) }
    }

    // MARK: Without network

    /// A history in which the origin answers a load, and none after it.
    private mutating func offline() -> RandomHistory {
        var history = RandomHistory()
        let since = Duration.milliseconds(max(age(), 1))
        let takes = random.isOne(in: 2) ? 0 : random.roll(policy.soon)
        history.offlineSince = since
        let first = Story.Load(before: since + .milliseconds(takes))
        history.situation.earlier = [first]
        var answer = Story.OriginAct(.value, after: .milliseconds(takes), calls: 1)
        if random.isOne(in: 2) {
            // The copy may not be shown any more, so that the load asks the origin.
            let window = policy.ages.map { $0.fresh + max($0.whileRevalidating, $0.onError) }.max()
            if let window {
                answer.ending = .unchanged
                history.situation.copy = copy()
                history.situation.copy?.age = first.before + .milliseconds(window + random.roll(1_000_000))
                history.situation.copy?.ageAbove = nil
            }
        }
        history.situation.earlierOrigin = [answer, .init(random.pick([.unreachable, .status(503)]))]
        if since > .milliseconds(2), random.isOne(in: 3) {
            let isOther = random.isOne(in: 2)
            history.situation.earlier += (0...random.roll(4)).map { _ in
                .init(before: .milliseconds(1 + random.roll(since.wholeMilliseconds - 2)), isOther: isOther)
            }.sorted { $0.before > $1.before }
        }
        addFacts(to: &history.situation)
        if history.situation.network != .offline {
            history.situation.origin = [
                random.pick([.init(.unreachable), .init(.status(503)), .init(.hangs), unreachable()])
            ]
        }
        return history
    }
}
