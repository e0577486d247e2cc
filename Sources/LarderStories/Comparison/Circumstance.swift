import Larder
import LarderSimulation

/// One more fact about a situation, under which two policies are compared again.
struct Circumstance: Sendable {
    /// The kind of the fact. Several circumstances can be of one kind, such as two deadlines.
    enum Kind: Hashable, Sendable {
        case none, refresh, copyOnly, deadline, restart, slowStore, hangingStore, failingStore
        case failure, failures, underWay, costlyNetwork, jitter, lifetime
        /// A fact for which policies are not compared.
        case other
    }

    let kind: Kind
    /// The fact in plain words: "after a restart". Empty for none.
    let name: String
    /// Whether the fact makes loads longer by itself. Then only the longest load is told, not the time of each.
    private(set) var isDelay = false
    /// Returns the situation with the fact; nil if both cannot be.
    let apply: @Sendable (Story) -> Story?

    /// No fact.
    static let none = Circumstance(.none, name: "") { $0 }

    private init(_ kind: Kind, name: String, apply: @escaping @Sendable (Story) -> Story?) {
        self.kind = kind
        self.name = name
        self.apply = apply
    }

    private init(_ kind: Kind, name: String, changing change: @escaping @Sendable (inout Story) -> Void) {
        self.init(kind, name: name) { $0.with(change) }
    }

    /// The circumstances that can make a difference to some policies.
    static func all(for policies: [SimulatedPolicy]) -> [Circumstance] {
        requests(policies) + [Circumstance(.restart, name: "after a restart") { $0.load.isRestarted = true }]
            + stores(policies)
            + earlierLoads(policies) + networks(policies)
            + [
                Circumstance(.jitter, name: "with the largest jitter") { situation in
                    situation.chance = 1
                    situation.copy?.spread = 0.999_999
                }
            ]
    }

    /// A lifetime that the origin states for its answers.
    static func lifetime(_ lifetime: Duration?) -> Circumstance {
        Circumstance(.lifetime, name: "if the origin states \([lifetime].inWords)") { $0.lifetime = lifetime }
    }

    private static func requests(_ policies: [SimulatedPolicy]) -> [Circumstance] {
        [
            Circumstance(.refresh, name: "asking for a refresh") { $0.load.mode = .refresh },
            Circumstance(.copyOnly, name: "asking only for a copy") { $0.load.mode = .cachedOnly },
        ]
            + policies.deadlines.map { deadline in
                Circumstance(.deadline, name: "with a deadline of \(deadline.inWords)") { $0.load.deadline = deadline }
            }
    }

    private static func stores(_ policies: [SimulatedPolicy]) -> [Circumstance] {
        let foreign = policies.flatMap(\.tiers).filter(\.storeTraits.isForeign)
        if foreign.isEmpty { return [] }
        let limits = foreign.compactMap(\.givesUpAfter).filter { $0 > .milliseconds(1) }
        let slow = limits.min().map { Duration.zero.middle(to: $0) } ?? .seconds(1)
        func faults(_ fault: FaultyStore.Fault) -> @Sendable (inout Story) -> Void {
            { $0.stores = [.init(.reads, fault), .init(.changes, fault)] }
        }
        return [
            Circumstance(.slowStore, name: "if the store takes \(slow.inWords)", changing: faults(.takes(slow))),
            Circumstance(.hangingStore, name: "if the store hangs", changing: faults(.hangs)),
            Circumstance(.failingStore, name: "if the store fails", changing: faults(.fails)),
        ].map { circumstance in
            var circumstance = circumstance
            circumstance.isDelay = true
            return circumstance
        }
    }

    private static func earlierLoads(_ policies: [SimulatedPolicy]) -> [Circumstance] {
        let parts = policies.flatMap(\.parts)
        let retrying = policies.map(\.triesWait).max() ?? .zero
        let rests = Set(policies.flatMap(\.rests)).sorted()
        var circumstances = middles(of: rests).map { time in
            failures(1, gap: retrying + time, isOther: false, name: "\(time.inWords) after a failed load")
        }
        let counting = parts.filter { $0.wrapperTraits.changesAfterFailures ?? .max <= SimulatedPolicy.mostFailures }
        for count in Set(counting.compactMap(\.wrapperTraits.changesAfterFailures)).sorted() {
            let borders = counting.filter { $0.wrapperTraits.changesAfterFailures == count }
                .flatMap(SimulatedPolicy.restBorders)
            circumstances += middles(of: Set(borders).sorted()).map { time in
                failures(
                    count, gap: retrying + time, isOther: true,
                    name: "\(time.inWords) after the last of \(count) failed loads")
            }
        }
        let soon = policies.flatMap(\.comparedWaits).filter { $0 > .milliseconds(1) }.min() ?? .seconds(1)
        let before = Duration.zero.middle(to: soon)
        let hanging = policies.hanging
        var underWay = Circumstance(.underWay, name: "joining a call that hangs") { situation in
            earlier([.init(before: before)], [hanging], in: situation)
        }
        underWay.isDelay = true
        return circumstances + [underWay]
    }

    private static func networks(_ policies: [SimulatedPolicy]) -> [Circumstance] {
        guard policies.contains(where: \.hasNetworkRules) else { return [] }
        return [
            Circumstance(.costlyNetwork, name: "on a network that costs") { situation in
                situation.network == .offline
                    ? nil : situation.with { ($0.network, $0.isNetworkCostly) = (.online, true) }
            }
        ]
    }

    // MARK: Loads before

    private static func failures(_ count: Int, gap: Duration, isOther: Bool, name: String) -> Circumstance {
        let loads = (0..<count).reversed().map {
            Story.Load(before: gap + .seconds(1) * $0, isOther: isOther)
        }
        return Circumstance(isOther ? .failures : .failure, name: name) {
            earlier(loads, [.init(.status(503))], in: $0)
        }
    }

    /// Returns the situation after earlier loads; nil if the copy is younger than they are.
    private static func earlier(
        _ loads: [Story.Load], _ origin: [Story.OriginAct], in situation: Story
    ) -> Story? {
        let after = situation.with { ($0.earlier, $0.earlierOrigin) = (loads, origin) }
        if let age = after.copy?.age, age < after.lead { return nil }
        return after
    }

    /// Returns times between borders, and one after the last.
    private static func middles(of borders: [Duration]) -> [Duration] {
        let ends = borders.filter { $0 > .zero }
        let middles = zip([.zero] + ends, ends).map { $0.middle(to: $1) }
        return middles + (ends.last.map { [$0 + .seconds(60)] } ?? [])
    }
}

extension Story {
    /// Returns the kinds of the facts besides the origin and the copy.
    ///
    /// - Parameter lifetime: the lifetime that is no fact of its own.
    func circumstances(besides lifetime: Duration?) -> Set<Circumstance.Kind> {
        var kinds: Set<Circumstance.Kind> = self.lifetime == lifetime ? [] : [.lifetime]
        if load.mode == .refresh { kinds.insert(.refresh) }
        if load.mode == .cachedOnly { kinds.insert(.copyOnly) }
        if load.deadline != nil { kinds.insert(.deadline) }
        if load.isRestarted { kinds.insert(.restart) }
        for fault in stores {
            switch fault.fault {
            case .takes: kinds.insert(.slowStore)
            case .hangs: kinds.insert(.hangingStore)
            case .fails, .failsAfter: kinds.insert(.failingStore)
            case .corrupts: kinds.insert(.other)
            }
        }
        if !earlier.isEmpty {
            let isUnderWay = earlierOrigin.contains { $0.ending == .hangs || $0.after > .zero }
            kinds.insert(isUnderWay ? .underWay : earlier.contains(where: \.isOther) ? .failures : .failure)
        }
        if load.clockBack > .zero { kinds.insert(.other) }
        if isNetworkCostly { kinds.insert(.costlyNetwork) }
        if copy?.spread ?? 0 > 0 { kinds.insert(.jitter) }
        return kinds
    }
}

extension SimulatedPolicy {
    /// The times of waiting at which the policy acts differently, up to the time after which it gives a call up.
    var comparedWaits: [Duration] {
        let waits = waitBorders
        guard let last = callLimits.last else { return waits }
        return waits.filter { $0 <= last }
    }
}

extension [SimulatedPolicy] {
    /// Deadlines before the first and before the last time at which a policy acts differently.
    var deadlines: [Duration] {
        let borders = [.zero] + Set(flatMap(\.comparedWaits).filter { $0 > .milliseconds(1) }).sorted()
        let middles = zip(borders, borders.dropFirst()).map { $0.middle(to: $1) }
        return Set([middles.first, middles.last].compactMap { $0 }).sorted()
    }
}
