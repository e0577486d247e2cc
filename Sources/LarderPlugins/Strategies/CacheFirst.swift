import LarderCore

extension Plugin {
    /// A strategy that looks for a copy first.
    static let cacheFirst = Plugin.strategy(
        "cache-first", "Serves a fresh copy without asking the origin. Otherwise asks the origin and waits.",
        .patience, .background, .refreshAhead,
        traits: { patience, background, share in .waiting(patience, background, refreshAhead: share) }
    ) { sides, patience, background, refreshAhead in
        CopyFirst(
            rule: HitRule(sides, shows: .fresh, refreshes: .fresh(past: refreshAhead), within: background),
            sides: sides, patience: patience, linger: background)
    }.alsoCalled("cache", "cacheElseNetwork", "cacheOrNetwork", "readThrough")
}
