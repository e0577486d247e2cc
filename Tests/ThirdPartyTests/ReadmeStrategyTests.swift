import Foundation
import Larder
import LarderSimulation
import Testing

// The strategy that README shows.

/// Shows a copy at once while its windows last, and asks behind a stale one.
struct ReadmeStrategy: Loader {
    let sides: Sides

    func load(_ call: Call) async throws -> Loaded<Entry> {
        guard let copy = try await sides.copy(call)?.shown(for: [.fresh, .whileRevalidating]) else {
            return try await sides.load(call)
        }
        if copy.freshness == .stale { sides.refresh(call) }
        return copy
    }
}

@Suite struct ReadmeStrategyTests {
    private static let plugin = Plugin.strategy("copy-if-any", "A copy, if there is any.") { sides in
        ReadmeStrategy(sides: sides)
    }

    @Test func theStrategyThatReadmeShowsKeepsEveryPromise() {
        #expect(StrategyConformance(Self.plugin).brokenPromises() == [])
    }

    @Test func readmeShowsTheStrategyThatIsTested() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        func body(_ text: String) throws -> String {
            let start = try #require(text.range(of: ": Loader {\n    let sides: Sides\n"))
            let end = try #require(text.range(of: "\n}\n", range: start.upperBound..<text.endIndex))
            return String(text[start.lowerBound..<end.upperBound])
        }
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        #expect(try body(readme) == body(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)))
    }
}
