import LarderSystem

/// The last failure of the origin for a key. The origin rests for the key after it: no call is made for a while.
package struct OriginFailure: Sendable {
    /// The number of failures in a row.
    var count = 1
    let at: Duration
    /// A random factor of the rest, so that keys that failed together are not asked for together.
    let jitter: Double
    /// Whether the origin was too slow for its callers, and has not failed.
    var isSlow = false
    /// The code of the failure, as callers see it while the origin rests.
    var code = LoadError.Code.timeout
    var status: Int?
    var cause: LoadError.Cause?
    /// The time for which the origin had failed by then, for all keys.
    var outage = Duration.zero

    init(in world: any World) { (at, jitter) = (world.uptime, 0.9 + 0.2 * world.chance()) }

    /// The longest rest, unless a strategy sets a longer first rest.
    package static let longestRest = Duration.seconds(30)

    /// Returns the rest that is left. Returns nil when it is over.
    ///
    /// - Parameter base: the first rest, which each failure in a row doubles.
    func rest(_ base: Duration, at uptime: Duration) -> OriginRest? {
        if base <= .zero { return nil }
        let doubled = base * (1 << min(count - 1, 16))
        let rest = min(max(base, Self.longestRest), max(outage, doubled)).scaled(by: jitter)
        let since = uptime - at
        return rest > since ? OriginRest(since: since, left: rest - since, failure: self) : nil
    }
}

/// The time for which the origin rests for a key.
struct OriginRest: Sendable {
    /// The time since the origin failed.
    var since: Duration
    /// The time until the origin may be asked again.
    var left: Duration
    /// The last failure.
    var failure: OriginFailure

    /// The rest as an event, with the facts of the failure.
    var event: Trail.Event {
        if failure.isSlow { return .resting("gave no answer", since: since, left: left) }
        let words: Trail.Words =
            if let status = failure.status {
                "failed with \(.status, status),"
            } else {
                failure.code == .timeout ? "timed out" : "failed"
            }
        return .resting(words, since: since, left: left).knowing(failure.code, status: nil, cause: failure.cause)
    }
}

/// The times of the first and the last failure since the origin answered for any key.
struct Outage: Sendable {
    private var times: (since: Duration, last: Duration)?

    /// Notes a failure, and returns the time for which the origin has only failed. Failures of long ago do not count.
    mutating func fail(at uptime: Duration) -> Duration {
        let isOld = times.map { uptime - $0.last > OriginFailure.longestRest * 2 } ?? true
        let since = isOld ? uptime : times?.since ?? uptime
        times = (since, uptime)
        return uptime - since
    }
}
