import Foundation
import Larder
import LarderSimulation
import LarderSync
import Testing

// The code of the page "Testing", as it stands there.

@Suite struct TestingPageTests {
    private static let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    @Test func policyInATestFallsBackToItsCopyWhenTheOriginFails() throws {
        let feed = """
            {
              "resource": "feed",
              "origin": "scripted",
              "strategy": "network-first",
              "validators": [{ "use": "age", "fresh": "5m", "onError": "7d" }],
              "store": "faulty"
            }
            """
        try SimulatedPantry.run(["feed": feed]) { simulated in
            simulated.origin.play(.value("one"), .failure(.status(503)))
            _ = try await simulated.resource.load()
            try await simulated.world.sleep(for: .seconds(3_600))  // takes no time at all
            let later = try await simulated.resource.load()
            #expect(later.fellBack && later.age == .seconds(3_600))
        }
    }

    @Test func policyThatAnAppShipsShowsNoOldPricesWhenTheOriginFails() throws {
        let policies = Self.root.appending(path: "Policies")
        try SimulatedPantry.run(folder: policies, registry: .standard.adding(.sync)) { simulated in
            let catalog = simulated.pantry.resource("catalog")
            _ = try await catalog.load()
            simulated.origin.play(then: .failure(.status(503)))
            try await simulated.world.sleep(for: .seconds(7 * 3_600))
            // Prices older than six hours are not shown, even offline.
            await #expect(throws: LoadError.self) { try await catalog.load() }
        }
    }

    @Test func pageShowsTestedCode() throws {
        func lines(_ text: String) -> String {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        }
        let page = try String(
            contentsOf: Self.root.appending(path: "Sources/Larder/Larder.docc/Testing.md"), encoding: .utf8)
        let tests = lines(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
        let section = try #require(
            page.components(separatedBy: "## In Swift\n").last?.components(separatedBy: "\n###").first)
        let blocks = section.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        #expect(blocks.count == 2)
        for block in blocks { #expect(tests.contains(lines(block)), "not tested:\n\(block)") }
    }
}
