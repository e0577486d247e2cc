import LarderCore

extension Plugin {
    /// A strategy that serves a copy at once and refreshes it in the background.
    static let staleWhileRevalidate = Plugin.strategy(
        "stale-while-revalidate",
        "Serves a copy at once as long as whileRevalidating allows, and refreshes stale copies in the background.",
        .patience, .background, .refreshAhead,
        traits: { patience, background, share in
            var traits = StrategyTraits.waiting(patience, background, refreshAhead: share)
            traits.showsStaleAtOnce = true
            return traits
        }
    ) { sides, patience, background, refreshAhead in
        CopyFirst(
            rule: HitRule(
                sides, shows: [.fresh, .whileRevalidating], refreshes: .stale(orFreshPast: refreshAhead),
                within: background),
            sides: sides, patience: patience, linger: background)
    }.alsoCalled("swr", "cacheAndNetwork", "cacheThenNetwork")
}
