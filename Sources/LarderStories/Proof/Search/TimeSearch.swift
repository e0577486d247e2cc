import Larder

/// Changes the times of a situation as long as that makes it worse for a promise.
///
/// A load is often longest when the origin answers after the sum of several times, such as the patience of a strategy and
/// the time that a slow store takes. There are too many sums to play them all with everything else.
struct TimeSearch {
    private typealias Change = (inout Story, _ time: Duration) -> Void

    /// The steps in which a time is made longer or shorter, the largest first. Their sum is 4m 22s.
    private static let steps = (0...17).reversed().map { Duration.milliseconds(1 << $0) }
    /// How often all steps are tried.
    private static let mostPasses = 3

    private let rule: PromiseRule
    private let policy: SimulatedPolicy
    /// The time after which the origin gives up by itself.
    private let originLimit: Duration
    /// A call that never ends, as far as its origin allows.
    private let hanging: Story.OriginAct
    private let played: PlayedSituations
    private var copies: CopiesThatMayBeShown?

    init(
        _ rule: PromiseRule, of policy: SimulatedPolicy, played: PlayedSituations, copies: CopiesThatMayBeShown?
    ) {
        (self.rule, self.policy, self.played, self.copies) = (rule, policy, played, copies)
        (originLimit, hanging) = (policy.originLimit ?? .forever, [policy].hanging)
    }

    /// Changes the times of a situation that needs a limit. Returns the situations that were played.
    ///
    /// - Throws: `PolicyError` if the policy cannot be composed.
    mutating func worsen(_ situation: Story, needing limit: NeededLimit) throws -> [Story] {
        var (worst, needed, all) = (situation, limit, [Story]())
        // Numbers of calls are not searched, and nothing is worse than a load that never ends.
        guard case .time = needed else { return all }
        let player = try StoryPlayer(policy)
        for _ in 0..<Self.mostPasses {
            let former = needed
            for change in changes(of: situation) {
                for step in Self.steps where needed != .none {
                    let changed = worst.with { change(&$0, step) }
                    guard isPossible(changed), rule.concerns(changed) else { continue }
                    all.append(changed)
                    let seen = try played.play(changed, by: player)
                    guard let new = rule.needed(changed, seen), new > needed else { continue }
                    if rule.needsCopy, try !isShown(changed, for: seen.waited) { continue }
                    (worst, needed) = (changed, new)
                }
            }
            if needed == former { break }
        }
        return all
    }

    /// Whether the copy may be shown until the load ends.
    private mutating func isShown(_ situation: Story, for waited: Duration?) throws -> Bool {
        let end = waited ?? policy.horizon
        try copies?.ask([(situation, .zero), (situation, end)])
        return copies?.isShown(situation) == true && copies?.isShown(situation, after: end) == true
    }

    private func isPossible(_ situation: Story) -> Bool {
        situation.earlier.allSatisfy { $0.before > .zero }
            && situation.origin.allSatisfy { $0 == hanging || $0.after < originLimit }
    }

    /// The changes: the origin takes longer, the loads before began earlier or later, and the copy is older or younger.
    private func changes(of situation: Story) -> [Change] {
        // Without network no behaviour of the origin makes a difference.
        let origin = situation.network == .offline ? [] : situation.origin
        let lasting = origin.indices.filter { origin[$0] != hanging && origin[$0].ending != .hangs }
        var changes: [Change] = lasting.map { number in { $0.origin[number].after += $1 } }
        let earlier: Change = { situation, time in
            for number in situation.earlier.indices { situation.earlier[number].before += time }
            situation.keepAge()
        }
        let age: Change = { situation, time in
            situation.copy?.age += time
            situation.copy?.ageAbove? += time
            situation.keepAge()
        }
        if !situation.earlier.isEmpty { changes += [earlier, { earlier(&$0, .zero - $1) }] }
        if situation.copy != nil { changes += [age, { age(&$0, .zero - $1) }] }
        return changes
    }
}
