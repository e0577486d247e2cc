extension Plugin {
    /// The origin first.
    static let networkFirst = Plugin.strategy(
        "network-first", "Asks the origin each time; a copy stands in when it fails or is slow.",
        .patience, .background, traits: { patience, _ in Traits().with { $0.patience = patience } }
    ) { sides, patience, background in NetworkFirst(sides: sides, patience: patience, background: background) }
}

/// Asks the origin each time; a copy stands in when it fails or is slow.
struct NetworkFirst: Loader {
    let sides: Sides
    let patience: Duration?
    let background: Duration

    func load(_ call: Call) async throws -> Loaded<Entry> {
        try await sides.load(call, patience: patience, linger: background)
    }
}
