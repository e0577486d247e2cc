import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// The hit ratios of all evictions for difficult traffic. A broken algorithm would have a lower ratio.
@Suite struct HitRatioTests {
    private static let capacity = 100

    /// Returns the hit ratio of each eviction in percent, by its name.
    private func ratios(_ requests: [Int], weight: (Int) -> Int = { _ in 1 }) throws -> [String: Double] {
        let mean = requests.reduce(0) { $0 + weight($1) } / requests.count
        return try Dictionary(
            uniqueKeysWithValues: Evictions.names.map { name in
                var store = PlainStore(try Evictions.named(name), capacity: Self.capacity * mean)
                for key in requests { store.ask(key, weight: weight(key)) }
                return (name, 100 * Double(store.hits) / Double(requests.count))
            })
    }

    private static func zipf(_ count: Int, keys: Int, seed: UInt64, shift: (Int) -> Int = { _ in 0 }) -> [Int] {
        var dice = SeededGenerator(seed: seed)
        let ranks = Zipf(count: keys, skew: 0.9)
        return (0..<count).map { ranks.rank(for: dice.chance()) + shift($0) }
    }

    @Test func loopLargerThanStoreHasSomeHits() throws {
        let found = try ratios((0..<12_000).map { $0 % 130 })
        // No eviction can find more than 99 of 130. One that evicts the oldest entry finds nothing.
        #expect(found["lru"] == 0)
        #expect(found["adaptive", default: 0] > 72)
        #expect(found["s3-fifo", default: 0] > 55)
        #expect(found["w-tinylfu", default: 0] > 60)
    }

    @Test func scanDoesNotEvictPopularEntries() throws {
        var scanned = 100_000
        let requests = Self.zipf(12_000, keys: 2_000, seed: 1).enumerated().map { number, key in
            guard number % 3_000 > 2_000 else { return key }
            scanned += 1
            return scanned
        }
        let found = try ratios(requests)
        let best = found.values.max() ?? 0
        #expect(found["adaptive", default: 0] > best - 1.5)
        #expect(found["lru", default: 100] < best - 4)
        #expect(found["s3-fifo", default: 0] > best - 1.5 && found["w-tinylfu", default: 0] > best - 4)
    }

    @Test func evictionFollowsChangeOfPopularKeys() throws {
        let found = try ratios(Self.zipf(15_000, keys: 3_000, seed: 2, shift: { $0 / 20 }))
        let best = found.values.max() ?? 0
        #expect(found["adaptive", default: 0] > best - 1)
        #expect(found["w-tinylfu", default: 100] < best - 3, "frequency alone does not do here")
    }

    @Test func evictionFavorsNewEntriesIfTrafficDoes() throws {
        var dice = SeededGenerator(seed: 3)
        var requests: [Int] = []
        for number in 0..<12_000 {
            // Three of four requests are for one of the last eighty.
            requests.append(number < 80 || dice.roll(4) == 0 ? number : requests[number - 1 - dice.roll(80)])
        }
        let found = try ratios(requests)
        #expect(found["adaptive", default: 0] > found["lru", default: 100] - 3)
    }

    @Test func evictionFollowsChangeOfLoop() throws {
        let found = try ratios((0..<16_000).map { $0 / 8_000 * 1_000 + $0 % 400 })
        // Some of the second loop must be found as well: the first loop alone gives half of a quarter.
        #expect(found["adaptive", default: 0] > 18)
    }

    @Test func loopIsFoundAmongLongerOnes() throws {
        var dice = SeededGenerator(seed: 5)
        var turns = [0, 0, 0]
        var store = PlainStore(try Evictions.named("adaptive"), capacity: 300)
        for _ in 0..<150_000 {
            let loop = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2][dice.roll(10)]
            turns[loop] += 1
            store.ask(loop * 100_000 + turns[loop] % [700, 4_000, 20_000][loop])
        }
        // A table of evicted keys that is too small forgets the shortest loop before it returns, which gives 7 percent.
        #expect(store.hits > 150_000 * 13 / 100)
    }

    @Test func hashesOfKeysHardlyChangeHitRatio() throws {
        let requests = Self.zipf(60_000, keys: 20_000, seed: 6, shift: { $0 / 40 })
        let found = try (0..<5).map { seed in
            var store = PlainStore(try Evictions.named("adaptive"), capacity: 2_000, seed: seed)
            for key in requests { store.ask(key) }
            return 100 * Double(store.hits) / Double(requests.count)
        }
        let (least, most) = (found.min() ?? 0, found.max() ?? 0)
        #expect(most - least < 0.5 && least > 50, "\(found)")
    }

    @Test func largeEntriesDoNotEvictAllOthers() throws {
        let requests = Self.zipf(12_000, keys: 2_000, seed: 4)
        let found = try ratios(requests) { key in (key &* 0x9E37_79B1) >> 4 % 16 == 0 ? 160 : 4 + key % 13 }
        let best = found.values.max() ?? 0
        #expect(found["adaptive", default: 0] > best - 3)
        #expect(found["lru", default: 100] < best - 4)
    }
}
