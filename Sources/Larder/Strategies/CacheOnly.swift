extension Plugin {
    /// The copy, or nothing.
    static let cacheOnly = Plugin.strategy(
        "cache-only", "Shows a copy that may be shown and never asks the origin.", needs: .store
    ) { sides in CacheOnly(sides: sides) }
}

/// Shows a copy that may be shown and never asks the origin.
struct CacheOnly: Loader {
    let sides: Sides

    func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
        sides.cached.answer(request, codec: codec, for: uses)
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        try await sides.cached.load(call)
    }
}
