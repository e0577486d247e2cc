import Dispatch
import Larder

/// What Larder's memory store is made of, beside what else there is to keep things in.
enum MemoryBench {
    private static let keys = 100_000

    static func figures(_ harness: Harness) async throws -> [Figure] {
        let popular = Traffic(keys: keys, skew: 0.99)
        var figures = try await hits(UInt64.self, "u64", popular, harness, goal: 30)
        figures += try await hits(UInt64.self, "u64, two threads", popular, harness, threads: 2, goal: 18)
        figures += try await hits(ShortText.self, "20-byte text", popular, harness, goal: 60)
        figures += try await hits(LongText.self, "80-byte text", popular, harness)
        figures += try await hits(Key.self, "request's key", popular, harness)
        return figures
    }

    /// Reading what is there.
    private static func hits<Key: BenchKey>(
        _ key: Key.Type, _ name: String, _ traffic: Traffic, _ harness: Harness, threads: Int = 1, goal: Double? = nil
    ) async throws -> [Figure] {
        let keys = (0..<keys).map { Key.key($0) }
        func hits(_ cache: some BenchCache<Key>, goal: Double? = nil) -> Case {
            for (number, key) in keys.enumerated() { cache.set(key, UInt64(number)) }
            return Case(type(of: cache).name, goal: goal) { count in
                spread(count, over: threads) { count, thread in
                    var sum: UInt64 = 0
                    traffic.forEach(count, from: thread) { sum &+= cache.get(keys[$0]) ?? 0 }
                    keep(sum)
                }
            }
        }
        return try await harness.compare(
            "get-hit, \(name)",
            [
                hits(try LarderCache<Key>(capacity: 2 * Self.keys), goal: goal),
                hits(LockedDictionary<Key>(capacity: 2 * Self.keys)),
                hits(FoundationCache<Key>(capacity: 2 * Self.keys)),
            ])
    }

    private static func spread(_ count: Int, over threads: Int, _ body: @Sendable (Int, Int) -> Void) {
        if threads == 1 { return body(count, 0) }
        DispatchQueue.concurrentPerform(iterations: threads) { body(count / threads, $0) }
    }
}
