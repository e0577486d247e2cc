import LarderCore

extension Plugin {
    /// A strategy that uses copies alone.
    static let cacheOnly = Plugin.strategy(
        "cache-only", "Serves a permitted copy. Never asks the origin.", needs: .store,
        traits: { .with { $0.borders = [] } }
    ) { sides in CacheOnly(sides: sides) }
}

/// A loader that serves a permitted copy and never calls the origin.
struct CacheOnly: Loader {
    let sides: Sides

    var hitRule: HitRule? { HitRule(sides, shows: .showing) }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        try await sides.cached.load(call)
    }
}
