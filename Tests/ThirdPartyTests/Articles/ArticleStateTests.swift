import Foundation
import Larder
import LarderSimulation
import Synchronization
import Testing

// MARK: Strategy of the article

/// Refreshes stale copies at most once in a pause, for all keys together.
struct Sparing: Loader {
    let sides: Sides
    let pause: Duration
    private let refreshes: Refreshes

    init(sides: Sides, pause: Duration) {
        self.sides = sides
        self.pause = pause
        refreshes = sides.keep { Refreshes() }
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let copy = try await sides.copy(call)
        guard let shown = copy?.shown(for: [.fresh, .whileRevalidating]) else {
            return try await sides.load(call.knowing(copy?.revalidatable))
        }
        if shown.freshness == .stale {
            if refreshes.begin(at: sides.world.uptime, after: pause) {
                sides.refresh(call.knowing(copy?.revalidatable))
            } else {
                sides.count(.spared)
            }
        }
        return shown
    }
}

/// The time of the last refresh.
final class Refreshes: Sendable {
    private let last = Mutex<Duration?>(nil)

    func begin(at now: Duration, after pause: Duration) -> Bool {
        last.withLock { last in
            if let last, now - last < pause { return false }
            last = now
            return true
        }
    }
}

extension Counter {
    static let spared = Counter("spared", "Stale copies that were not refreshed because of the pause")
}

extension Plugin {
    static let sparing = Plugin.strategy(
        "sparing", "Refreshes stale copies at most once in a pause.",
        Setting("pause", .duration, default: .seconds(10), help: "The shortest time between two refreshes"),
        counters: [.spared]
    ) { sides, pause in Sparing(sides: sides, pause: pause) }
}

// MARK: Tests

@Suite struct ArticleStateTests {
    private static func policy(_ whileRevalidating: String = "1h") -> String {
        """
        { "resource": "feed", "origin": "scripted", "strategy": "sparing", "store": "faulty",
          "validators": [{ "use": "age", "fresh": "1m", "whileRevalidating": "\(whileRevalidating)" }] }
        """
    }

    @Test func storeOfArticleKeepsEveryPromise() {
        #expect(StoreConformance(.garage).brokenPromises() == [])
    }

    @Test func stateIsSharedByAllKeysAndSurvivesReload() throws {
        try SimulatedPantry.run(["feed": Self.policy()], plugins: [.sparing]) { simulated in
            let feed = simulated.resource
            for id in ["1", "2", "3"] { simulated.stock("old", age: .seconds(120), for: simulated.key(["id": id])) }
            _ = try await feed.load(["id": "1"])
            _ = try await feed.load(["id": "2"])
            #expect(feed.metrics[.spared] == 1)
            try await simulated.world.sleep(for: .seconds(1))
            try await simulated.pantry.replace(policies: ["feed": Self.policy("2h")])
            _ = try await feed.load(["id": "2"])
            #expect(feed.metrics[.spared] == 2 && simulated.origin.calls.count == 1)
            try await simulated.world.sleep(for: .seconds(10))
            _ = try await feed.load(["id": "3"])
            try await simulated.world.sleep(for: .seconds(1))
            #expect(feed.metrics[.spared] == 2 && simulated.origin.calls.count == 2)
        }
    }

    @Test(arguments: [
        ("ArticleStateTests.swift", "// MARK: Strategy of the article\n\n", "\n// MARK: Tests"),
        ("ArticleStore.swift", "// MARK: Store\n\n", "\n// MARK: End"),
    ])
    func articleShowsTestedCode(_ file: String, _ from: String, _ to: String) throws {
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        let article = try String(
            contentsOf: here.appending(path: "../../../Sources/Larder/Larder.docc/WritingAPlugin.md"), encoding: .utf8)
        let text = try String(contentsOf: here.appending(path: file), encoding: .utf8)
        let start = try #require(text.range(of: from)?.upperBound)
        let end = try #require(text.range(of: to, range: start..<text.endIndex)?.lowerBound)
        #expect(article.contains("```swift\n" + text[start..<end] + "```\n"))
    }
}
