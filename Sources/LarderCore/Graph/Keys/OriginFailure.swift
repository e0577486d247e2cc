import LarderSystem

/// The last failure of the origin for a key. The origin rests for the key after it: no call is made for a while.
package struct OriginFailure: Sendable {
    /// The number of failures in a row.
    var count = 1
    var at: Duration
    /// A random factor of the rest, so that keys that failed together are not asked for together.
    var jitter: Double
    var isSlow: Bool
    /// The time for which the origin had failed by then, for all keys.
    var outage = Duration.zero

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
        return rest > since ? OriginRest(since: since, left: rest - since, isSlow: isSlow) : nil
    }
}

/// The time for which the origin rests for a key.
struct OriginRest: Sendable {
    /// The time since the origin failed.
    var since: Duration
    /// The time until the origin may be asked again.
    var left: Duration
    /// Whether the origin was too slow for its callers, and has not failed.
    var isSlow: Bool

    var event: Trail.Event { .resting(since: since, left: left, isSlow: isSlow) }
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
