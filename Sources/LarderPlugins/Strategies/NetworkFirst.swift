import LarderCore

extension Plugin {
    /// A strategy that asks the origin first.
    static let networkFirst = Plugin.strategy(
        "network-first", "Asks the origin each time, and serves a copy when the origin fails or is slow.",
        .patience, .background, traits: { patience, background in .waiting(patience, background) }
    ) { sides, patience, background in NetworkFirst(sides: sides, patience: patience, background: background) }
}

/// A loader that always calls the origin, and serves a copy if the origin fails or is slow.
struct NetworkFirst: Loader {
    let sides: Sides
    let patience: Duration?
    let background: Duration

    func load(_ call: Call) async throws -> Loaded<Entry> {
        try await sides.load(call, patience: patience, linger: background)
    }
}
