import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Thousands of concurrent loads on real threads.
@Suite struct CrowdTests {
    private static let policy = """
        { "resource": "feed", "origin": "service", "strategy": { "use": "network-first", "patience": "1ms" },
          "around": [{ "use": "timeout", "after": "1m" }], "store": "memory",
          "validators": [{ "use": "age", "fresh": "0s", "onError": "1d" }] }
        """

    @Test func loadsThatJoinOverrunAndAreCancelledAllEnd() async throws {
        let world = SystemWorld()
        let cache = try TemporaryFolder()
        var registry = Registry.standard
        try registry.register(
            .origin("service", "Answers after a moment.") { _ in
                try await world.sleep(for: .milliseconds(2))
                return Data("value".utf8)
            })
        let pantry = try await Pantry(
            policies: ["feed": Self.policy], registry: registry, cache: cache.url, world: world)
        let feed = pantry.resource("feed")
        let tasks = (0..<4_000).map { number in
            let task = Task { _ = try await feed.load(["id": "\(number % 40)"]) }
            if number % 3 == 0 { task.cancel() }
            return task
        }
        var cancelled = 0
        for task in tasks {
            do { try await task.value } catch is CancellationError { cancelled += 1 }
        }
        let metrics = feed.metrics
        #expect(metrics[.loads] + metrics[.cancelled] == 4_000 && metrics[.failures] == 0)
        #expect(Int(metrics[.cancelled]) == cancelled)
        await pantry.close()
    }
}
