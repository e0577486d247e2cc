import Larder
import LarderSimulation
import LarderStories

/// Judges promises by what a user and an origin notice, and by the policy as it is written. It knows nothing of the rules
/// of proofs.
struct OutsideJudge {
    let policy: RandomPolicy
    let player: StoryPlayer

    /// Returns whether the load at the end of a history breaks a promise.
    func isBroken(_ promise: RandomPromise, by seen: ObservedLoad, in history: RandomHistory) throws -> Bool {
        let situation = history.situation
        switch (promise.name, promise.limit) {
        case ("neverOlderThan", .time(let limit)): return isOlder(seen, than: limit)
        case ("waitsAtMost", .time(let limit)): return isLonger(seen.waited, than: limit)
        case ("waits", .time(let limit)):
            guard situation.load.mode == .normal, isLonger(seen.waited, than: limit) else { return false }
            return try [.zero, limit / 2, limit].allSatisfy { try hasCopy(situation, later: $0) }
        case ("offlineFor", .time(let limit)):
            guard let since = history.offlineSince, since < limit else { return false }
            return !seen.isAnswered
        case ("callsPerLoad", .calls(let limit)):
            // If a request for the copy alone sees calls, earlier loads have caused them.
            return try seen.calls > limit && player.play(situation.with { $0.load.mode = .cachedOnly }).calls == 0
        case ("freshWithin", .time(let limit)):
            return isInTime(situation) && isOlder(seen, than: limit) && isLonger(seen.refreshedAfter, than: limit)
        default: return false
        }
    }

    private func isOlder(_ seen: ObservedLoad, than limit: Duration) -> Bool {
        guard case .value(let age) = seen.ending else { return false }
        return isLonger(age, than: limit)
    }

    /// Whether a time is longer by a whole millisecond. Proofs tell no shorter times apart.
    private func isLonger(_ time: Duration?, than limit: Duration) -> Bool {
        time.map { $0 >= limit + .milliseconds(1) } ?? true
    }

    /// Whether a request for the copy alone would be answered, if it were made some time later in place of the load.
    private func hasCopy(_ situation: Story, later time: Duration) throws -> Bool {
        try player.play(situation.with { ($0.load.mode, $0.load.deadline, $0.load.pause) = (.cachedOnly, nil, time) })
            .isAnswered
    }

    /// Whether the origin answers each call before a timeout or the patience ends, a user waits for it as
    /// long as it takes, and no earlier load is under way: one whose store is slow may be. An earlier refresh that is given
    /// up counts as a failure, after which the origin rests.
    private func isInTime(_ situation: Story) -> Bool {
        let earlier = situation.earlier.isEmpty ? [] : situation.earlierOrigin
        if let background = policy.background, earlier.contains(where: { $0.after.wholeMilliseconds >= background }) {
            return false
        }
        let acts = situation.origin + earlier
        let isUnderWay = situation.earlier.contains { load in
            !situation.stores.isEmpty || situation.earlierOrigin.contains { $0.after >= load.before }
        }
        return !isUnderWay && situation.load.mode != .cachedOnly && situation.network != .offline
            && situation.load.deadline == nil
            && acts.allSatisfy {
                ($0.ending == .value || $0.ending == .unchanged) && $0.after.wholeMilliseconds < policy.soon
            }
    }
}
