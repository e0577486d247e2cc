extension HitRule {
    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - sides: the two sides that the strategy arranges.
    ///   - uses: the uses for which the loader shows a copy.
    ///   - refreshes: the copies that are refreshed when they are shown.
    ///   - limit: the time after which a refresh is given up.
    public init(
        _ sides: Sides, shows uses: Uses, refreshes: Refreshes = .none, within limit: Duration = .seconds(60)
    ) {
        self.init(sides, shows: uses, refreshing: refreshes, within: limit)
    }

    /// Returns the copy of a call if the rule shows it, and starts its refresh if the rule says so.
    public func shown(_ copy: CachedCopy?, _ call: Call) -> Loaded<Entry>? {
        guard let shown = copy?.shown(for: uses) else { return nil }
        if wantsRefresh(of: shown.provenance.copyFacts) { refresh(call.knowing(copy?.revalidatable)) }
        return shown
    }
}

extension Sides: HitRuleSides {}
