import LarderSimulation
import Testing

@testable import Larder

/// What each eviction finds of traffic that is hard for some: an algorithm that broke would find less.
@Suite struct HitRatioTests {
    private static let capacity = 100

    /// How many of a hundred requests an eviction finds, by its name.
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
        var dice = Dice(seed: seed)
        let ranks = Zipf(count: keys, skew: 0.9)
        return (0..<count).map { ranks.rank(for: dice.chance()) + shift($0) }
    }

    @Test func aLoopThatDoesNotFitIsFoundInPart() throws {
        let found = try ratios((0..<12_000).map { $0 % 130 })
        // Nobody can find more than 99 of 130, and who forgets what is oldest finds nothing.
        #expect(found["lru"] == 0)
        #expect(found["adaptive", default: 0] > 72)
        #expect(found["s3-fifo", default: 0] > 55)
        #expect(found["w-tinylfu", default: 0] > 60)
    }

    @Test func aScanDoesNotEmptyTheStore() throws {
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

    @Test func whatIsPopularMayChange() throws {
        let found = try ratios(Self.zipf(15_000, keys: 3_000, seed: 2, shift: { $0 / 20 }))
        let best = found.values.max() ?? 0
        #expect(found["adaptive", default: 0] > best - 1)
        #expect(found["w-tinylfu", default: 100] < best - 3, "frequency alone does not do here")
    }

    @Test func whatIsNewMayMatterMost() throws {
        var dice = Dice(seed: 3)
        var requests: [Int] = []
        for number in 0..<12_000 {
            // Three of four requests are for one of the last eighty.
            requests.append(number < 80 || dice.roll(4) == 0 ? number : requests[number - 1 - dice.roll(80)])
        }
        let found = try ratios(requests)
        #expect(found["adaptive", default: 0] > found["lru", default: 100] - 3)
    }

    @Test func aLoopMayGiveWayToAnother() throws {
        let found = try ratios((0..<16_000).map { $0 / 8_000 * 1_000 + $0 % 400 })
        // Something of the second loop must be found as well: half of a quarter is what the first one gives.
        #expect(found["adaptive", default: 0] > 18)
    }

    @Test func aFewLargeEntriesDoNotDriveOutAllOthers() throws {
        let requests = Self.zipf(12_000, keys: 2_000, seed: 4)
        let found = try ratios(requests) { key in (key &* 0x9E37_79B1) >> 4 % 16 == 0 ? 160 : 4 + key % 13 }
        let best = found.values.max() ?? 0
        #expect(found["adaptive", default: 0] > best - 3)
        #expect(found["lru", default: 100] < best - 4)
    }
}
