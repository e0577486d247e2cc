extension Plugin {
    /// The copy now, the origin behind it.
    static let staleWhileRevalidate = Plugin.strategy(
        "stale-while-revalidate", "Shows a copy at once while its window lasts and refreshes a stale one behind it.",
        .patience, .background, .refreshAhead, traits: { patience, _, _ in Traits().with { $0.patience = patience } }
    ) { sides, patience, background, refreshAhead in
        StaleWhileRevalidate(
            sides: sides, patience: patience, background: background, refreshAhead: refreshAhead)
    }
}

/// Shows a copy at once while its window lasts and refreshes a stale one behind it.
struct StaleWhileRevalidate: Loader {
    let sides: Sides
    let patience: Duration?
    let background: Duration
    let refreshAhead: Double?

    private static let shown: Uses = [.fresh, .whileRevalidating]

    func answer(_ call: Call) -> Loaded<Entry>? {
        sides.cached.answer(call.accepting(Self.shown)).map { refreshing($0, call) }
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let copy = try await sides.copy(call)
        if let shown = copy?.serving(anyOf: Self.shown) {
            return refreshing(shown, call.knowing(copy?.revalidatable))
        }
        return try await sides.load(call.knowing(copy?.revalidatable), patience: patience, linger: background)
    }

    private func refreshing(_ loaded: Loaded<Entry>, _ call: Call) -> Loaded<Entry> {
        if loaded.freshness == .stale {
            sides.refresh(call, within: background)
        } else {
            sides.refreshAhead(loaded, call, share: refreshAhead, within: background)
        }
        return loaded
    }
}
