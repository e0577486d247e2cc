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

    func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
        let shown = uses.intersection(Self.shown)
        guard let loaded = sides.cached.answer(request, codec: codec, for: shown) else { return nil }
        if wantsRefresh(loaded) { sides.refresh(Call(request, codec: codec), within: background) }
        return loaded
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let copy = try await sides.copy(call)
        if let shown = copy?.shown(for: Self.shown) {
            if wantsRefresh(shown) { sides.refresh(call.knowing(copy?.revalidatable), within: background) }
            return shown
        }
        return try await sides.load(call.knowing(copy?.revalidatable), patience: patience, linger: background)
    }

    private func wantsRefresh(_ loaded: Loaded<Entry>) -> Bool {
        loaded.freshness == .stale || refreshAhead.map { sides.isAgeing(loaded, past: $0) } ?? false
    }
}
