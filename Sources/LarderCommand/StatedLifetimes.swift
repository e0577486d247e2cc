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
            let most = Duration.seconds(3_650 * 86_400)
            var lifetimes: [Duration?] = []
            for text in values(of: "lifetime") {
                let lifetime = Duration(spelled: text)
                let isExact = lifetime.map { $0 <= most && $0.nanoseconds % 1_000_000_000 == 0 } ?? (text == "none")
                guard isExact else {
                    throw UsageError(
                        message: "--lifetime takes whole seconds up to 3650d, such as 30s or 5m, or 'none'")
                }
                if !lifetimes.contains(lifetime) { lifetimes.append(lifetime) }
            }
            return lifetimes.isEmpty ? SimulatedPolicy.usualLifetimes : lifetimes
        }
    }

    /// Tells that `--lifetime` has no effect, if none of the policies follows its server.
    func explainUnusedLifetimes(_ policies: [Policy], _ terminal: Terminal) {
        if values(of: "lifetime").isEmpty || policies.contains(where: \.followsOrigin) { return }
        terminal.note("--lifetime has no effect: no policy has a validator that follows its server")
    }
}

extension Policy {
    fileprivate var followsOrigin: Bool { validators.contains(where: \.validatorTraits.followsOrigin) }
}
