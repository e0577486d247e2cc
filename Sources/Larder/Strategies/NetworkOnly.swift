extension Plugin {
    /// The origin, or nothing.
    static let networkOnly = Plugin.strategy(
        "network-only", "Asks the origin each time; keeps nothing and shows no copy.", needs: .origin
    ) { sides in NetworkOnly(sides: sides) }
}

/// Asks the origin each time; keeps nothing and shows no copy.
struct NetworkOnly: Loader {
    let sides: Sides

    func load(_ call: Call) async throws -> Loaded<Entry> {
        try await sides.load(call)
    }
}
