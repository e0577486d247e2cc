import LarderCore

extension Plugin {
    /// A strategy that serves a copy at once and refreshes it in the background.
    static let staleWhileRevalidate = Plugin.strategy(
        "stale-while-revalidate",
        "Serves a copy at once as long as whileRevalidating allows, and refreshes stale copies in the background.",
        .patience, .background, .refreshAhead, traits: { patience, _, _ in Traits().with { $0.patience = patience } }
    ) { sides, patience, background, refreshAhead in
        StaleWhileRevalidate(
            sides: sides, patience: patience, background: background, refreshAhead: refreshAhead)
    }
}

/// A loader that serves a copy at once while its window lasts, and refreshes a stale one in the background.
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
