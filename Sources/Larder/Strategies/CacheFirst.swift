extension Plugin {
    /// The copy first.
    static let cacheFirst = Plugin.strategy(
        "cache-first", "Shows a fresh copy without asking; otherwise asks the origin and waits.",
        .patience, .background, .refreshAhead, traits: { patience, _, _ in Traits().with { $0.patience = patience } }
    ) { sides, patience, background, refreshAhead in
        CacheFirst(sides: sides, patience: patience, background: background, refreshAhead: refreshAhead)
    }
}

/// Shows a fresh copy without asking; otherwise asks the origin and waits.
struct CacheFirst: Loader {
    let sides: Sides
    let patience: Duration?
    let background: Duration
    let refreshAhead: Double?

    func answer(_ call: Call) -> Loaded<Entry>? {
        sides.cached.answer(call.accepting(.fresh)).map { refreshing($0, call) }
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let copy = try await sides.copy(call)
        if let fresh = copy?.serving(anyOf: .fresh) { return refreshing(fresh, call.knowing(copy?.revalidatable)) }
        return try await sides.load(call.knowing(copy?.revalidatable), patience: patience, linger: background)
    }

    private func refreshing(_ loaded: Loaded<Entry>, _ call: Call) -> Loaded<Entry> {
        sides.refreshAhead(loaded, call, share: refreshAhead, within: background)
        return loaded
    }
}
