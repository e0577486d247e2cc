import Larder

/// The cost of many resources: reading and composing their policies, changing one, and keeping them in memory.
enum PolicyBench {
    private static let world = SystemWorld()

    static func figures(_ harness: Harness) async throws -> [Figure] {
        // The largest first, so that its memory comes from the system and is not left over from smaller ones.
        let folders = try [10_000, 100, 1].map { try BenchFolder(count: $0) }
        var figures: [Figure] = []
        for folder in folders {
            let isLarge = folder.names.count == 10_000
            figures += try await of(folder, rounds: isLarge ? harness.rounds / 2 : harness.rounds * 3)
        }
        return figures
    }

    private static func of(_ folder: BenchFolder, rounds: Int) async throws -> [Figure] {
        let count = folder.names.count
        let isLarge = count == 10_000
        let size = residentSize()
        let pantry = try await pantry(folder)
        let grown = size.flatMap { before in residentSize().map { $0 - before } }
        let name = "\(count) resource\(count == 1 ? "" : "s")"

        var figures = [
            try await times("read and composed, \(name)", rounds: rounds, goal: isLarge ? 800_000_000 : nil) { _ in
                try await Self.pantry(folder)
            },
            try await times("read and checked, \(name)", rounds: rounds) { _ in
                try PolicyReader(registry: .standard, folder: folder.path, environment: [:]).readAll()
            },
        ]
        // A policy must be older than a moment before it is changed.
        if isLarge { try await world.sleep(for: .seconds(2.5)) }
        try await pantry.reload()
        figures.append(
            try await times("one changed, the watch says which, \(name)", rounds: 21, goal: isLarge ? 5_000_000 : nil) {
                round in
                try await change(folder, pantry: pantry, round: 2 * round) { try await pantry.reload(.files([$0])) }
            })
        figures.append(
            try await times("one changed, nobody says which, \(name)", rounds: 21, goal: isLarge ? 25_000_000 : nil) {
                round in
                try await change(folder, pantry: pantry, round: 2 * round + 1) { _ in try await pantry.reload() }
            })
        figures.append(
            try await times("none changed, reload, \(name)", rounds: rounds) { _ in try await pantry.reload() })
        if isLarge, let grown {
            figures.append(
                Figure(
                    group: "policy", name: "memory for each of \(name)", median: Double(grown) / Double(count),
                    unit: .bytes, goal: 20_000))
        }
        return figures
    }

    /// Returns the loop that reads and composes a folder of `count` policies.
    static func composing(_ count: Int) throws -> @Sendable (Int) -> Void {
        let folder = try BenchFolder(count: count)
        return LoopBench.looping { _ in keep(try await pantry(folder)) }
    }

    /// Returns the loop that changes one of `count` policies and reloads their folder.
    static func reloading(_ count: Int) async throws -> @Sendable (Int) -> Void {
        let folder = try BenchFolder(count: count)
        let pantry = try await pantry(folder)
        // A policy must be older than a moment before it is changed.
        try await world.sleep(for: .seconds(2.5))
        try await pantry.reload()
        return LoopBench.looping {
            try await change(folder, pantry: pantry, round: $0) { _ in try await pantry.reload() }
        }
    }

    /// Edits one policy and checks that the change is in effect.
    private static func change(
        _ folder: BenchFolder, pantry: Pantry, round: Int, reload: (String) async throws -> [PolicyChange]
    ) async throws {
        let number = (round * 997 + 1) % folder.names.count
        try folder.edit(number, about: "Edited in round \(round)")
        let changes = try await reload(folder.names[number] + ".json")
        guard changes.count == 1, pantry.policy(of: folder.names[number])?.about?.hasSuffix(" \(round)") == true else {
            throw LoadError(.failed, "the change is not in effect")
        }
    }

    private static func pantry(_ folder: BenchFolder) async throws -> Pantry {
        try await Pantry(policies: folder.url, cache: folder.url, environment: [:], world: world)
    }

    private static func times<Result>(
        _ name: String, rounds: Int, goal: Double? = nil, work: (Int) async throws -> Result
    ) async throws -> Figure {
        try await Figure(group: "policy", name: name, rounds: rounds, goal: goal, work: work)
    }
}
