import Larder
import LarderStories

extension Command.Option {
    static let lifetime = Command.Option(
        "lifetime", value: "DURATION",
        help: "A lifetime that servers are assumed to state, or 'none'; repeatable (default: none, 1m and 1d)"
    )
}

extension Arguments {
    /// The lifetimes that servers are assumed to state for their answers, for validators that follow them.
    ///
    /// - Throws: ``UsageError`` when one is not a whole number of seconds.
    var lifetimes: [Duration?] {
        get throws(UsageError) {
            var lifetimes: [Duration?] = []
            for text in values(of: "lifetime") {
                let lifetime = Duration(spelled: text)
                let isExact = lifetime.map { $0 < .forever && $0.nanoseconds % 1_000_000_000 == 0 } ?? (text == "none")
                guard isExact else {
                    throw UsageError(
                        message: "--lifetime takes a duration of whole seconds such as 30s or 5m, or 'none'")
                }
                if !lifetimes.contains(lifetime) { lifetimes.append(lifetime) }
            }
            return lifetimes.isEmpty ? SimulatedPolicy.usualLifetimes : lifetimes
        }
    }
}
