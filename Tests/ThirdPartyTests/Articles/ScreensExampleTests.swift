import Foundation
import Larder
import LarderSimulation
import Testing

@Suite struct ScreensExampleTests {
    private static let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    private static func lines(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }

    @Test func pageShowsTheCompiledCode() throws {
        let page = try String(
            contentsOf: Self.root.appending(path: "Sources/Larder/Larder.docc/Screens.md"), encoding: .utf8)
        let code = Self.lines(
            try String(
                contentsOf: Self.root.appending(path: "Tests/ThirdPartyTests/Articles/ScreensExample.swift"),
                encoding: .utf8))
        let blocks = page.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(blocks.count == 3)
        for block in blocks { #expect(code.contains(Self.lines(block)), "not in ScreensExample.swift: \(block)") }
    }

    @Test func screenIsUsableFromAnotherPackage() throws {
        let feed = #"{ "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "faulty" }"#
        try SimulatedPantry.run(["feed": feed]) { simulated in
            let live = simulated.pantry.resource("feed").live(["id": "42"])
            await live.reload()
            guard case .fresh(let value, isRefreshing: false) = live.phase else {
                Issue.record("not fresh")
                return
            }
            #expect(value == Data("value".utf8))
        }
    }
}
