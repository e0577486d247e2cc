/// A share that dumps, text formats and reports show: one counter divided by another.
///
/// ``all`` is the only list of rates. A rate that is added to it appears everywhere.
public struct Rate: Hashable, Sendable {
    /// The name in dumps, such as `fallback_rate`.
    public let name: String
    /// The name for people, such as `fell back`.
    package let title: String
    /// The counter that is divided.
    package let part: Counter
    /// The counter by which it is divided.
    package let whole: Counter
    /// The meaning, in one line.
    package let help: String

    private init(_ name: String, title: String, part: Counter, of whole: Counter = .loads, help: String) {
        (self.name, self.title, self.part, self.whole, self.help) = (name, title, part, whole, help)
    }

    /// Loads answered by a store, without a call that failed.
    public static let hitRate = Rate("hit_rate", title: "hit", part: .hits, help: "Loads answered by a store / loads")
    /// Loads answered by a copy or a fallback in place of a call.
    public static let fallbackRate = Rate(
        "fallback_rate", title: "fell back", part: .fallbacks, help: "Loads answered by a stand-in for a call / loads")
    /// Loads answered with a stale entry.
    public static let staleRate = Rate(
        "stale_rate", title: "stale", part: .stale, help: "Loads answered with a stale entry / loads")
    /// Loads that failed although there was a copy.
    public static let staleErrorRate = Rate(
        "stale_error_rate", title: "failed, copy refused", part: .staleErrors,
        help: "Loads that failed although there was a copy / loads")
    /// Loads that failed.
    public static let failedRate = Rate(
        "failed_rate", title: "failed", part: .failures, help: "Loads that ended with an error / loads")
    /// Background refreshes that failed.
    public static let revalidationErrorRate = Rate(
        "revalidation_error_rate", title: "refreshes failed", part: .refreshErrors, of: .refreshes,
        help: "Failed background refreshes / background refreshes")
    /// Calls that the origin failed.
    public static let originErrorRate = Rate(
        "origin_error_rate", title: "origin errors", part: .originErrors, of: .originCalls,
        help: "Calls the origin failed or did not answer in time / calls")

    /// All rates, in the order in which reports show them.
    public static let all: [Rate] = [
        hitRate, fallbackRate, staleRate, staleErrorRate, failedRate, revalidationErrorRate, originErrorRate,
    ]
}

extension ResourceMetrics {
    /// The value of a rate; zero if nothing was counted.
    public subscript(rate: Rate) -> Double { self.rate(rate.part, of: rate.whole) }
}

extension FiveMinutes {
    /// The value of a rate; zero if nothing was counted.
    package subscript(rate: Rate) -> Double { self.rate(rate.part, of: rate.whole) }
}
