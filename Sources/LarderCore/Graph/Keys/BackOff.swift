import LarderSystem
import Synchronization

/// Remembers the keys whose origin failed a moment ago. The origin rests for such a key: no call is made for a while.
///
/// Each failure in a row doubles the rest, up to half a minute. When the origin has failed for other keys for some time
/// and has answered for none, the first rest of another key is as long as that time. Each strategy sets the length of
/// the first rest.
package final class BackOff: Sendable {
    /// The time for which the origin rests for a key.
    struct Rest: Sendable {
        /// The time since the origin failed.
        var since: Duration
        /// The time until the origin may be asked again.
        var left: Duration
        /// Whether the origin was too slow for its callers, and has not failed.
        var isSlow: Bool

        var event: Trail.Event { .resting(since: since, left: left, isSlow: isSlow) }
    }

    private struct Failure {
        /// The number of failures in a row.
        var count = 1
        var at: Duration
        /// A random factor of the rest, so that keys that failed together are not asked for together.
        var jitter: Double
        var isSlow: Bool
        /// The time for which the origin had failed by then, for all keys.
        var outage = Duration.zero

        func rest(_ base: Duration) -> Duration {
            if base <= .zero { return .zero }
            return min(max(base, longest), max(outage, base * (1 << min(count - 1, 16)))).scaled(by: jitter)
        }
    }

    /// The longest rest, unless a strategy sets a longer first rest.
    package static let longest = Duration.seconds(30)
    /// The number of keys that are remembered. When it is reached, further keys do not rest.
    private static let capacity = 65_536

    private struct State {
        var failures: [Key: Failure] = [:]
        var sweptAt = Duration.zero
        /// The longest first rest of a strategy.
        var longestAsked = longest
        /// The times of the first and the last failure since the origin answered for any key.
        var outage: (since: Duration, last: Duration)?

        mutating func failure(of key: Key, _ base: Duration) -> Failure? {
            if base > longestAsked { longestAsked = base }
            return failures[key]
        }

        /// Notes a failure, and returns the time for which the origin has only failed. Failures of long ago do not
        /// count.
        mutating func fail(at uptime: Duration) -> Duration {
            let isOld = outage.map { uptime - $0.last > longest * 2 } ?? true
            let since = isOld ? uptime : outage?.since ?? uptime
            outage = (since, uptime)
            return uptime - since
        }

        /// Returns whether there is room for another key. If needed, forgets the keys whose rest is over.
        mutating func hasRoom(at uptime: Duration) -> Bool {
            if failures.count < capacity { return true }
            // At most once a second, because it takes long.
            if uptime - sweptAt < .seconds(1) { return false }
            sweptAt = uptime
            failures = failures.filter { uptime - $0.value.at < longestAsked }
            return failures.count < capacity
        }
    }

    private let state = Locked(State())
    private let isAny = Atomic(false)

    package init() {}

    /// Notes that the origin failed for a key.
    func failed(_ key: Key, in world: any World) {
        note(key, in: world) { failure in
            // A call that was slow and then failed counts as one failure.
            if !failure.isSlow { failure.count += 1 }
            failure.isSlow = false
        }
    }

    /// Notes that a caller's wait ended without an answer. The call goes on.
    func overran(_ key: Key, base: Duration, in world: any World) {
        let uptime = world.uptime
        // One slow call counts once, even if many callers wait for it.
        if base <= .zero || rest(of: key, base: base, at: uptime) != nil { return }
        note(key, isSlow: true, in: world) { failure in
            failure.count += 1
            failure.isSlow = true
        }
    }

    /// Notes that the origin answered for a key.
    func succeeded(_ key: Key) {
        guard isAny.load(ordering: .relaxed) else { return }
        state.withLock { state in
            state.failures[key] = nil
            state.outage = nil
            if state.failures.isEmpty { isAny.store(false, ordering: .relaxed) }
        }
    }

    /// Ends the rest of the origin for all keys.
    func forget() {
        state.withLock { state in
            (state.failures, state.outage) = ([:], nil)
            isAny.store(false, ordering: .relaxed)
        }
    }

    /// Returns the rest of the origin for a key. Returns nil when the origin may be asked.
    func rest(of key: Key, base: Duration, at uptime: Duration) -> Rest? {
        guard isAny.load(ordering: .relaxed), let failure = state.withLock({ $0.failure(of: key, base) }) else {
            return nil
        }
        let since = uptime - failure.at
        let left = failure.rest(base) - since
        return left > .zero ? Rest(since: since, left: left, isSlow: failure.isSlow) : nil
    }

    private func note(_ key: Key, isSlow: Bool = false, in world: any World, again: (inout Failure) -> Void) {
        var failure = Failure(at: world.uptime, jitter: 0.9 + 0.2 * world.chance(), isSlow: isSlow)
        state.withLock { state in
            if !isSlow { failure.outage = state.fail(at: failure.at) }
            if let former = state.failures[key] {
                (failure.count, failure.isSlow) = (former.count, former.isSlow)
                again(&failure)
            } else if !state.hasRoom(at: failure.at) {
                return
            }
            state.failures[key] = failure
            isAny.store(true, ordering: .relaxed)
        }
    }
}
