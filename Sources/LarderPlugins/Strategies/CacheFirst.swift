import LarderCore

extension Plugin {
    /// A strategy that looks for a copy first.
    static let cacheFirst = Plugin.strategy(
        "cache-first", "Serves a fresh copy without asking the origin. Otherwise asks the origin and waits.",
        .patience, .background, .refreshAhead, traits: { patience, _, _ in Traits().with { $0.patience = patience } }
    ) { sides, patience, background, refreshAhead in
        CacheFirst(sides: sides, patience: patience, background: background, refreshAhead: refreshAhead)
    }
}

/// A loader that serves a fresh copy without a call, and otherwise waits for the origin.
struct CacheFirst: Loader {
    let sides: Sides
    let patience: Duration?
    let background: Duration
    let refreshAhead: Double?

    func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
        let fresh = uses.intersection(.fresh)
        guard let loaded = sides.cached.answer(request, codec: codec, for: fresh) else { return nil }
        if isAgeing(loaded) { sides.refresh(Call(request, codec: codec), within: background) }
        return loaded
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let copy = try await sides.copy(call)
        if let fresh = copy?.shown(for: .fresh) {
            if isAgeing(fresh) { sides.refresh(call.knowing(copy?.revalidatable), within: background) }
            return fresh
        }
        return try await sides.load(call.knowing(copy?.revalidatable), patience: patience, linger: background)
    }

    private func isAgeing(_ loaded: Loaded<Entry>) -> Bool {
        refreshAhead.map { sides.isAgeing(loaded, past: $0) } ?? false
    }
}
