import LarderCore

extension Plugin {
    /// A strategy that uses the origin alone.
    static let networkOnly = Plugin.strategy(
        "network-only", "Asks the origin each time. Never saves or serves a copy.", needs: .origin,
        traits: { .with { $0.borders = [] } }
    ) { sides in NetworkOnly(sides: sides) }
}

/// A loader that always calls the origin, saves nothing and serves no copy.
struct NetworkOnly: Loader {
    let sides: Sides

    func load(_ call: Call) async throws -> Loaded<Entry> {
        try await sides.load(call)
    }
}
