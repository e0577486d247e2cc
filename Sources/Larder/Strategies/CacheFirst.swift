extension Plugin {
    /// The copy first.
    static let cacheFirst = Plugin.strategy(
        "cache-first", "Shows a fresh copy without asking; otherwise asks the origin and waits.",
        .patience, .background, traits: { patience, _ in Traits().with { $0.patience = patience } }
    ) { sides, patience, background in CacheFirst(sides: sides, patience: patience, background: background) }
}

/// Shows a fresh copy without asking; otherwise asks the origin and waits.
struct CacheFirst: Loader {
    let sides: Sides
    let patience: Duration?
    let background: Duration

    func answer(_ call: Call) -> Loaded<Entry>? {
        sides.cached.answer(call.accepting(.fresh))
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let copy = try await sides.copy(call)
        if let fresh = copy?.serving(anyOf: .fresh) { return fresh }
        return try await sides.load(call.knowing(copy?.revalidatable), patience: patience, linger: background)
    }
}
