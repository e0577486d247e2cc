import Foundation
import Larder
import LarderSimulation
import Testing

@Suite struct InAnIOSAppTests {
    private static let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    private static func blocks(_ language: String) throws -> [String] {
        let page = root.appending(path: "Sources/Larder/Larder.docc/InAnIOSApp.md")
        return try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```\(language)\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
            !$0.isEmpty && !$0.hasPrefix("import ")
        }
    }

    @Test func pageShowsTheCompiledCode() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "InAnIOSApp.swift")
        let code = Self.lines(try String(contentsOf: file, encoding: .utf8)).joined(separator: "\n")
        // Two further blocks are a few lines each, of a file's attributes and of an extension.
        let blocks = try Self.blocks("swift").filter { $0.contains("struct ") || $0.contains("class ") }
        #expect(blocks.count == 4)
        for part in blocks.flatMap({ $0.components(separatedBy: "\n\n") }).map(Self.lines) where !part.isEmpty {
            #expect(code.contains(part.joined(separator: "\n")), "not in InAnIOSApp.swift: \(part)")
        }
    }

    @Test func screenHasAtMostFortyLines() throws {
        let block = try #require(try Self.blocks("swift").first { $0.contains("struct NewsScreen") })
        let screen = try #require(block.components(separatedBy: "struct NewsScreen").last)
        #expect(screen.split(separator: "\n").count <= 41)
    }

    @Test func policiesOfThePageServeTheScreenOffline() throws {
        let policies = try Self.blocks("json")
        #expect(policies.count == 2)
        let scripted = policies.map { policy in
            policy.replacing(#/"origin": \{.*\}/#, with: #""origin": "scripted""#).replacing(
                #/"store": \{(?s:.*?)\n  \}/#, with: #""store": "faulty""#)
        }
        try SimulatedPantry.run(["news": scripted[0], "pictures": scripted[1]]) { simulated in
            let headlines = Data(#"[{ "id": "1", "title": "One", "picture": "one.jpg" }]"#.utf8)
            simulated.origin.play(.answering { _ in Entry(headlines, Metadata()) })
            let news = simulated.pantry.resource("news", as: [Headline].self)
            #expect(try await news.load().value.map(\.title) == ["One"])
            simulated.world.network = .offline
            simulated.origin.play(then: .failure(.status(503)))
            try await simulated.world.sleep(for: .seconds(86_400))
            let shown = try await news.load()
            #expect(shown.value.map(\.title) == ["One"] && shown.freshness == .stale)
        }
    }

    @Test func policiesOfThePageAreSound() async throws {
        let policies = try Self.blocks("json")
        let cache = try TemporaryFolder()
        let pantry = try await Pantry(
            policies: ["news": policies[0], "pictures": policies[1]], cache: cache.url, data: cache.url)
        #expect(pantry.resources == ["news", "pictures"] && pantry.warnings.isEmpty, "\(pantry.warnings)")
        await pantry.close()
    }

    @Test func privacyManifestOfThePageIsAPropertyList() throws {
        let text = try #require(try Self.blocks("xml").first { $0.contains("NSPrivacyTracking") })
        let list = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil) as? [String: Any]
        let calls = list?["NSPrivacyAccessedAPITypes"] as? [[String: Any]]
        #expect(
            calls?.compactMap { $0["NSPrivacyAccessedAPITypeReasons"] as? [String] } == [["C617.1"], ["E174.1"]])
    }
}
