import Foundation
import Larder
import LarderSimulation
import LarderStories
import Testing

// The strategy of the article "Writing a plugin".

/// Returns a copy while a window allows it, and refreshes a stale one in the background.
struct ArticleStrategy: Loader {
    let sides: Sides

    func load(_ call: Call) async throws -> Loaded<Entry> {
        guard let copy = try await sides.copy(call)?.shown(for: [.fresh, .whileRevalidating]) else {
            return try await sides.load(call)
        }
        if copy.freshness == .stale { sides.refresh(call) }
        return copy
    }
}

@Suite struct ArticleStrategyTests {
    private static let plugin = Plugin.strategy("copy-if-any", "Returns a copy if there is one.") { sides in
        ArticleStrategy(sides: sides)
    }

    @Test func strategyOfArticleKeepsEveryPromise() {
        #expect(StrategyConformance(Self.plugin).brokenPromises() == [])
    }

    @Test func articleShowsTestedStrategy() throws {
        let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        func body(_ text: String) throws -> String {
            let start = try #require(text.range(of: ": Loader {\n    let sides: Sides\n"))
            let end = try #require(text.range(of: "\n}\n", range: start.upperBound..<text.endIndex))
            return String(text[start.lowerBound..<end.upperBound])
        }
        let article = try String(
            contentsOf: root.appending(path: "Sources/Larder/Larder.docc/WritingAPlugin.md"), encoding: .utf8)
        #expect(try body(article) == body(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)))
    }
}
