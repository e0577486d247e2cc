/// The background refreshes under way, and which keys are left alone for a while because theirs failed.
package final class Refreshes: Sendable {
    private struct Rest {
        var failures: Int
        var until: Duration
    }

    private struct State {
        var running: Set<Key> = []
        var resting: [Key: Rest] = [:]
    }

    private static let firstRest: Duration = .seconds(1)
    private static let longestRest: Duration = .seconds(60)
    /// Past so many, those whose rest is over are forgotten.
    private static let mostResting = 1_024

    private let state = Locked(State())

    package init() {}

    /// Whether a refresh of `key` may start now. If so, ``end(_:failed:at:)`` must follow.
    func begin(_ key: Key, at uptime: Duration) -> Bool {
        state.withLock { state in
            if let rest = state.resting[key], rest.until > uptime { return false }
            return state.running.insert(key).inserted
        }
    }

    /// The refresh ended. After each failure in a row the key rests twice as long, from 1 s to 1 min.
    func end(_ key: Key, failed: Bool, at uptime: Duration) {
        state.withLock { state in
            state.running.remove(key)
            guard failed else {
                state.resting[key] = nil
                return
            }
            let failures = (state.resting[key]?.failures ?? 0) + 1
            let rest = min(Self.longestRest, Self.firstRest * (1 << min(failures - 1, 6)))
            if state.resting.count >= Self.mostResting {
                state.resting = state.resting.filter { $0.value.until > uptime }
            }
            if state.resting.count < Self.mostResting || state.resting[key] != nil {
                state.resting[key] = Rest(failures: failures, until: uptime + rest)
            }
        }
    }
}
