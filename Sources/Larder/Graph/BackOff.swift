import Synchronization

/// The keys whose origin failed a moment ago, and how often in a row: it is left alone for a while.
///
/// Each failure in a row doubles that time, up to half a minute. An origin that has been failing for other keys for a
/// while, and has answered for none, is left alone for as long at once. How long the first rest is, each strategy says for
/// itself.
package final class BackOff: Sendable {
    /// A time for which a key's origin is left alone.
    struct Rest: Sendable, CustomStringConvertible {
        /// How long ago the origin failed.
        var since: Duration
        /// When it is asked again.
        var left: Duration
        /// Whether it has not failed, but gave no answer in the time that callers wait.
        var isSlow: Bool

        /// `failed 3 s ago, asked again in 5 s`.
        var description: String {
            "\(isSlow ? "gave no answer" : "failed") \(since.brief) ago, asked again in \(left.brief)"
        }
    }

    private struct Failure {
        /// How many in a row.
        var count = 1
        var at: Duration
        /// A random factor of the time to rest: keys that failed together need not be asked for together.
        var jitter: Double
        var isSlow: Bool
        /// For how long the origin had failed by then, whatever it was asked for.
        var outage = Duration.zero

        func rest(_ base: Duration) -> Duration {
            if base <= .zero { return .zero }
            return min(max(base, longest), max(outage, base * (1 << min(count - 1, 16)))).scaled(by: jitter)
        }
    }

    /// The longest rest, unless a strategy's first one is longer.
    private static let longest = Duration.seconds(30)
    /// Past so many, keys that are not known yet do not rest.
    private static let capacity = 65_536

    private struct State {
        var failures: [Key: Failure] = [:]
        var sweptAt = Duration.zero
        /// The longest rest that a strategy has asked for.
        var longestAsked = longest
        /// The first and the last failure since the origin answered for any key.
        var outage: (since: Duration, last: Duration)?

        mutating func failure(of key: Key, _ base: Duration) -> Failure? {
            if base > longestAsked { longestAsked = base }
            return failures[key]
        }

        /// Takes note of a failure, and tells for how long there has been nothing else. One long ago says nothing of now.
        mutating func fail(at uptime: Duration) -> Duration {
            let isOld = outage.map { uptime - $0.last > longest * 2 } ?? true
            let since = isOld ? uptime : outage?.since ?? uptime
            outage = (since, uptime)
            return uptime - since
        }

        /// Whether another key finds room, perhaps in the place of those that have rested.
        mutating func hasRoom(at uptime: Duration) -> Bool {
            if failures.count < capacity { return true }
            // Not at each failure: it takes a while.
            if uptime - sweptAt < .seconds(1) { return false }
            sweptAt = uptime
            failures = failures.filter { uptime - $0.value.at < longestAsked }
            return failures.count < capacity
        }
    }

    private let state = Locked(State())
    private let isAny = Atomic(false)

    package init() {}

    /// The origin failed for a key.
    func failed(_ key: Key, in world: any World) {
        note(key, in: world) { failure in
            // A call that was slow and then failed has failed once.
            if !failure.isSlow { failure.count += 1 }
            failure.isSlow = false
        }
    }

    /// The origin has not answered for as long as a caller waits; the call goes on.
    func overran(_ key: Key, base: Duration, in world: any World) {
        let uptime = world.uptime
        // One call is slow once, however many wait for it.
        if base <= .zero || rest(of: key, base: base, at: uptime) != nil { return }
        note(key, isSlow: true, in: world) { failure in
            failure.count += 1
            failure.isSlow = true
        }
    }

    /// The origin answered.
    func succeeded(_ key: Key) {
        guard isAny.load(ordering: .relaxed) else { return }
        state.withLock { state in
            state.failures[key] = nil
            state.outage = nil
            if state.failures.isEmpty { isAny.store(false, ordering: .relaxed) }
        }
    }

    /// The time for which the key's origin is still left alone; nil when it may be asked.
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
