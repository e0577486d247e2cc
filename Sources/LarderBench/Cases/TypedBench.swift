import LarderFoundation
import Larder
import LarderSimulation

/// The cost of a hit through a typed handle, which keeps values decoded, beside the cost of decoding.
enum TypedBench {
    /// An item of a feed, about 200 bytes of JSON.
    private struct Item: Codable, Sendable {
        var id: Int
        var title: String
        var body: String
        var tags: [String]
        var score: Double
        var isRead: Bool

        init(_ number: Int) {
            id = number
            title = "Item number \(number)"
            body = "Some text that says what this is about, in a sentence or two, as such texts do."
            tags = ["news", "local", "\(number % 7)"]
            score = Double(number) / 3
            isRead = number % 2 == 0
        }
    }

    static func figures(_ harness: Harness) async throws -> [Figure] {
        var figures: [Figure] = []
        for (name, size) in [("1 KB", 1_000), ("100 KB", 100_000)] {
            let bytes = try payload(size)
            let (pantry, feed) = try await typed(bytes)
            let request = feed.request()
            let times = try await harness.compare(
                "typed",
                [
                    Case("JSONDecoder, \(name)") { count in
                        for _ in 0..<count { keep(try JSONDecoder().decode([Item].self, from: bytes)) }
                    },
                    Case("typed hit, \(name)") { count in
                        for _ in 0..<count { keep(try await feed.load(request)) }
                    },
                ])
            figures += times
            if times.count == 2 {
                figures.append(
                    Figure(
                        group: "typed", name: "decoding ÷ typed hit, \(name)",
                        median: times[0].median / times[1].median, unit: .times, goal: size == 100_000 ? 1_000 : nil,
                        isGoalLeast: true))
            }
            withExtendedLifetime(pantry) {}
        }
        return figures
    }

    /// Hits a value of about `size` bytes of JSON through a typed handle.
    static func hit(of size: Int) async throws -> @Sendable (Int) -> Void {
        let (pantry, feed) = try await typed(try payload(size))
        let request = feed.request()
        return { count in
            for _ in 0..<count { keep(feed.answer(request)) }
            withExtendedLifetime(pantry) {}
        }
    }

    /// A list of items that fill about `size` bytes of JSON.
    private static func payload(_ size: Int) throws -> Data {
        let one = try JSONEncoder().encode(Item(1)).count + 1
        return try JSONEncoder().encode((0..<max(1, size / one)).map(Item.init))
    }

    /// A resource that keeps these bytes in memory, decoded.
    private static func typed(_ bytes: Data) async throws -> (Pantry, Resource<[Item]>) {
        let folder = try TemporaryFolder()
        let policy = #"""
            { "resource": "feed", "origin": { "use": "file", "path": "items" }, "strategy": "cache-first",
              "validators": [{ "use": "age", "fresh": "7d" }], "store": "memory" }
            """#
        try folder.write(String(decoding: bytes, as: UTF8.self), to: "items")
        let pantry = try await Pantry(
            policies: ["feed": policy], files: folder.url, cache: folder.url, environment: [:])
        let feed = pantry.resource("feed", as: [Item].self)
        _ = try await feed.load()
        guard try await feed.load().source != .origin else { throw LoadError(.failed, "there is no copy") }
        return (pantry, feed)
    }
}
