import Foundation
import Larder
import Testing

@Suite struct DownloadForOfflineTests {
    private static let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    private static let page = "Sources/Larder/Larder.docc/DownloadForOffline.md"

    private static func blocks(_ language: String, in page: String = page) throws -> [String] {
        try String(contentsOf: root.appending(path: page), encoding: .utf8).components(separatedBy: "```\(language)\n")
            .dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
    }

    private static func lines(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }

    @Test func readmeShowsTheFirstLinesOfThePage() throws {
        let whole = Self.lines(try #require(try Self.blocks("swift").first))
        let shown = try Self.blocks("swift", in: "README.md").map(Self.lines).filter { $0.contains(".keep(") }
        #expect(shown.count == 1)
        for block in shown { #expect(whole.hasPrefix(block)) }
    }

    @Test func pageShowsTheCompiledCode() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "DownloadForOffline.swift")
        let code = Self.lines(try String(contentsOf: file, encoding: .utf8))
        let blocks = try Self.blocks("swift")
        #expect(blocks.count == 1)
        for block in blocks { #expect(code.contains(Self.lines(block)), "not in DownloadForOffline.swift: \(block)") }
    }

    @Test func linesOfThePageKeepArticlesWithThePolicyOfThePage() async throws {
        let server = try LoopbackServer { request in
            let id = request.path.split(separator: "/").last.map(String.init) ?? ""
            if id == "3" { return LoopbackServer.Reply(status: 404) }
            return LoopbackServer.Reply(status: 200, body: #"{"title":"Article \#(id)"}"#)
        }
        let policy = try #require(try Self.blocks("json").first).replacing(
            "https://api.example.com/", with: server.url.absoluteString + "/")
        let folder = FileManager.default.temporaryDirectory.appending(path: "larder-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let pantry = try await Pantry(
            policies: ["articles": policy], cache: folder.appending(path: "cache"), data: folder.appending(path: "data")
        )
        let bar = DownloadForOffline.Bar()
        let title = try await DownloadForOffline.run(pantry, [["id": "1"], ["id": "2"], ["id": "3"]], bar)
        #expect(title == "Article 1" && bar.share == 1 && bar.warnings.count == 1)
        #expect(bar.shown.last == "42 bytes are on the device")
        #expect(try await pantry.resource("articles").kept().isEmpty)
        await pantry.close()
    }
}
