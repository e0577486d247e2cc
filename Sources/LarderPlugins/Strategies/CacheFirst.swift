import LarderCore

extension Plugin {
    /// A strategy that looks for a copy first.
    static let cacheFirst = Plugin.strategy(
        "cache-first", "Serves a fresh copy without asking the origin. Otherwise asks the origin and waits.",
        .patience, .background, .refreshAhead, traits: { patience, _, _ in Traits().with { $0.patience = patience } }
    ) { sides, patience, background, refreshAhead in
        CopyFirst(
            HitRule(sides, shows: .fresh, refreshes: .fresh(past: refreshAhead), within: background),
            over: sides, patience: patience, linger: background)
    }
}

/// A loader that shows the copy if a rule says so, and otherwise asks the origin and waits.
struct CopyFirst: Loader {
    private let rule: HitRule
    private let sides: Sides
    private let patience: Duration?
    private let linger: Duration

    init(_ rule: HitRule, over sides: Sides, patience: Duration?, linger: Duration) {
        self.rule = rule
        self.sides = sides
        self.patience = patience
        self.linger = linger
    }

    var hitRule: HitRule? { rule }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let copy = try await sides.copy(call)
        if let shown = rule.shown(copy, call) { return shown }
        return try await sides.load(call.knowing(copy?.revalidatable), patience: patience, linger: linger)
    }
}
