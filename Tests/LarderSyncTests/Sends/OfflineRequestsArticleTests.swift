import Larder
import LarderFoundation
import LarderSimulation
import LarderSync
import LarderSystem
import Testing

@Suite struct OfflineRequestsArticleTests {
    private static let page: String = {
        let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let path = root.appending(path: "Sources/LarderSync/LarderSync.docc/OfflineRequests.md")
        return (try? String(contentsOf: path, encoding: .utf8)) ?? ""
    }()

    private static func blocks(_ language: String) -> [String] {
        page.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
    }

    private static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test func pageShowsTheCompiledCode() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "OfflineRequestsArticle.swift")
        let code = Self.words(try String(contentsOf: file, encoding: .utf8))
        let blocks = Self.blocks("swift")
        #expect(blocks.count == 3)
        for block in blocks { #expect(code.contains(Self.words(block)), "not in the code: \(block)") }
    }

    @Test func exampleDoesWhatThePageSays() throws {
        let policy = try #require(Self.blocks("json").first)
            .replacing(#"{ "use": "http", "url": "https://api.example.com/likes/{id}" }"#, with: #""service""#)
        let simulated = SimulatedWorld(seed: 1)
        try simulated.run(leaving: .anything) { world in
            let (app, sent, screen) = (try RecordsApp(in: world), Locked<[String]>([]), OfflineRequestsArticle.Screen())
            app.changes.withLock {
                $0 = { _, request in
                    let id = request.parameters["id"] ?? ""
                    if id == "13" { throw LoadError.status(422) }
                    sent.withLock { $0.append(id) }
                    return "{}"
                }
            }
            let pantry = try await app.pantry(["likes": policy])
            try await OfflineRequestsArticle.like("1", body: Data("{}".utf8), in: pantry, on: screen)
            simulated.network = .offline
            try await OfflineRequestsArticle.like("2", body: Data("{}".utf8), in: pantry, on: screen)
            #expect(
                screen.texts.withLock { $0 } == ["Liked", "Liked. It is sent when there is a network."])
            simulated.network = NetworkState(.online)
            try await world.sleep(for: .seconds(10))
            #expect(sent.withLock { $0 } == ["1", "2"])
            simulated.network = .offline
            try await OfflineRequestsArticle.like("3", body: Data(), in: pantry, on: screen)
            try await OfflineRequestsArticle.like("4", body: Data(), in: pantry, on: screen)
            await #expect(throws: RecordError.self) { try await OfflineRequestsArticle.takeBack(pantry) }
            simulated.network = NetworkState(.online)
            try await world.sleep(for: .seconds(10))
            #expect(sent.withLock { $0 } == ["1", "2"])
            await #expect(throws: LoadError.self) {
                try await OfflineRequestsArticle.like("13", body: Data(), in: pantry, on: screen)
            }
            try await OfflineRequestsArticle.correct(pantry)
            try await world.sleep(for: .seconds(10))
            #expect(sent.withLock { $0 } == ["1", "2", "43"])
            await pantry.close()
        }
    }
}
