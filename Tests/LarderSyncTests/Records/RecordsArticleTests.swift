import Foundation
import Larder
import LarderSimulation
import LarderSync
import Testing

@Suite struct RecordsArticleTests {
    private static let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    private static func blocks(_ language: String) throws -> [String] {
        let page = root.appending(path: "Sources/LarderSync/LarderSync.docc/OfflineRecords.md")
        return try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```\(language)\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
    }

    /// Returns a text without line breaks, so that code may be indented otherwise.
    private static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing("( ", with: "(").replacing(
            "RecordsArticle.", with: "")
    }

    @Test func pageShowsTheCompiledCode() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "RecordsArticle.swift")
        let code = Self.words(try String(contentsOf: file, encoding: .utf8))
        let blocks = try Self.blocks("swift")
        #expect(blocks.count == 12)
        for block in blocks { #expect(code.contains(Self.words(block)), "not in RecordsArticle.swift: \(block)") }
    }

    @Test func policiesOfThePageAreSome() throws {
        // The others are parts of scenarios.
        let policies = try Self.blocks("json").filter { $0.contains("\"resource\"") }
        #expect(policies.count == 3)
        let simulated = SimulatedWorld(seed: 1)
        simulated.network = .offline
        try simulated.run(leaving: .anything) { world in
            let folder = try TemporaryFolder()
            for policy in policies {
                let name = try #require(try JSONText(policy.utf8)["resource"]?.string)
                let pantry = try await Pantry(
                    policies: [name: policy], registry: .standard.adding(.sync),
                    cache: folder.url.appending(path: "cache"), data: folder.url.appending(path: "data"), world: world)
                await pantry.close()
            }
        }
    }

    @Test func linesOfThePageWorkWithThePolicyOfThePage() throws {
        let policy = try #require(try Self.blocks("json").first)
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let folder = try TemporaryFolder()
            let notes =
                #"{ "resource": "notes", "origin": { "use": "constant", "value": 1 }, "records": { "id": "/id" } }"#
            let pantry = try await Pantry(
                policies: ["collections": policy, "notes": notes], registry: .standard.adding(.sync),
                cache: folder.url.appending(path: "cache"), data: folder.url.appending(path: "data"), world: world)
            let (screen, live) = (RecordsArticle.Screen(), RecordsArticle.Screen())
            let watching = world.spawn { await RecordsArticle.observe(pantry, "me", live) }
            try await RecordsArticle.run(
                pantry, "me",
                [RecordsArticle.Collection(id: "7", name: "Old", ownerId: "me", updatedAt: "2025-01-01T00:00:00Z")],
                screen)
            #expect(
                screen.shown == [
                    "Ramen & Udon (waits)", "unknown", "2 of mine, 0 in Osaka", "Ramen & Udon (waits)",
                    "placeholder of 42",
                ])
            let note = try await pantry.records("notes", of: RecordsArticle.Note.self).query().records.first
            let trip = try await pantry.records("collections", of: RecordsArticle.Collection.self).get(
                note?.value.collection ?? "")
            #expect(trip.record?.value.name == "Osaka" && trip.record?.isTemporary == true)
            await pantry.close()
            await watching.value
            #expect(live.shown.suffix(2) == ["Osaka, Old", "Not everything was loaded yet"])
        }
    }
}
