import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Hits are counted without a lock, by real threads, while another thread reads the counts.
@Suite struct HitCountTests {
    @Test func concurrentHitsAreAllCountedWhileCountsAreRead() async throws {
        let policy = """
            { "resource": "feed", "origin": { "use": "constant", "value": "abc" }, "strategy": "cache-first",
              "validators": [{ "use": "age", "fresh": "1h" }], "store": "memory" }
            """
        let pantry = try await Pantry(policies: ["feed": policy], cache: TemporaryFolder().url)
        let feed = pantry.resource("feed")
        let keys = (0..<8).map { feed.request(["id": "\($0)"]) }
        for key in keys { _ = try await feed.load(key) }
        let before = feed.metrics
        let each: UInt64 = 20_000
        let read = try await withThrowingTaskGroup(of: UInt64.self) { group in
            for turn in 0..<4 {
                group.addTask {
                    for number in 0..<Int(each) { _ = try await feed.load(keys[(number + turn) % keys.count]) }
                    return 0
                }
            }
            group.addTask {
                // The counts never decrease.
                var last: UInt64 = 0
                for _ in 0..<2_000 {
                    let loads = feed.metrics.loads
                    guard loads >= last else { return 0 }
                    last = loads
                }
                return last
            }
            return try await group.reduce(0, max)
        }
        let counted = feed.metrics.since(before)
        #expect(read > 0 && counted.loads == 4 * each && counted.hits == 4 * each)
        #expect(counted[.bytesOut] == 4 * each * 5 && counted.ages[.fresh]?.count == 4 * each)
        #expect(counted.latency[.fresh]?.count == 4 * each && counted.stale == 0)
    }
}
