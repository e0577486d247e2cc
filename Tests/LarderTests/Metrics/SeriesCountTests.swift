import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Keys never become labels.
@Suite struct SeriesCountTests {
    /// Returns the series of a text, without their numbers.
    private func series(_ text: String) -> Set<Substring> {
        Set(text.split(separator: "\n").map { $0.hasPrefix("#") ? $0 : $0[..<($0.lastIndex(of: " ") ?? $0.endIndex)] })
    }

    @Test func numberOfSeriesDoesNotDependOnKeys() throws {
        let policy = """
            { "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first",
              "store": { "use": "memory", "entries": 5 } }
            """
        try SimulatedPantry.run(["feed": policy]) { simulated in
            let (pantry, feed) = (simulated.pantry, simulated.feed)
            for key in 0..<10 { _ = try await feed.load(["id": "secret-\(key)"]) }
            _ = try await feed.load(["id": "secret-9"])
            let few = await pantry.metrics.dump()
            for key in 10..<100_000 { _ = try await feed.load(["id": "secret-\(key)"]) }
            let many = await pantry.metrics.dump()

            #expect(
                many.prometheus.contains(
                    "larder_load_duration_seconds_count{resource=\"feed\",outcome=\"live\"} 100000\n"))
            #expect(series(many.prometheus) == series(few.prometheus))
            #expect(series(many.openMetrics) == series(few.openMetrics))
            #expect(series(few.prometheus).count > 100)
            #expect(!many.prometheus.contains("secret") && !many.openMetrics.contains("secret"))
        }
    }
}
