import LarderSimulation
import Testing

@testable import Larder

/// Keys chosen so that they would collide, in whatever way somebody could foresee, lie as far apart as any others.
@Suite struct CollisionTests {
    private static let count = 100_000

    /// How many cells of the tables are looked at to find each of so many keys once.
    private static func looks(_ key: (Int) -> Key) -> Int {
        let catalog = Catalog<Key, Int>(bytes: .max, eviction: LRU())
        for number in 0..<count {
            let key = key(number)
            _ = catalog.insert(number, as: key, hash: key.hash, weight: 1)
        }
        #expect(catalog.statistics.entries == count)
        return (0..<1 << catalog.bits).reduce(0) { sum, number in
            let shard = catalog.shards[number]
            return (0...shard.mask).reduce(sum) { sum, place in
                let cell = shard.table[place]
                return cell == 0 ? sum : sum + 1 + (place - Int(cell >> 32)) & shard.mask
            }
        }
    }

    @Test func keysThatWereChosenToCollideCostNoMoreThanTwice() {
        var dice = Dice(seed: 1)
        let random = Self.looks { _ in Key(resource: "feed", parameters: ["id": "\(dice.next())"]) }
        let chosen: [(Int) -> String] = [
            // "Aa" and "BB" are one to hashes that multiply by 31.
            { number in (0..<17).map { number >> $0 & 1 == 0 ? "Aa" : "BB" }.joined() },
            // Alike in the lower half of the number.
            { "\($0 << 32)" },
        ]
        for id in chosen {
            let looks = Self.looks { Key(resource: "feed", parameters: ["id": id($0)]) }
            #expect(looks <= 2 * random)
        }
        // What it looks like if hashes are known: the check can fail.
        #expect(random < 3 * Self.count)
    }

    @Test func allWithOneHashAreFoundAllTheSame() {
        let catalog = Catalog<Int, Int>(bytes: 500, eviction: LRU())
        for number in 0..<1_000 { _ = catalog.insert(number, as: number, hash: 5, weight: 1) }
        #expect((500..<1_000).allSatisfy { catalog.peek($0, hash: 5) == $0 })
        #expect((0..<500).allSatisfy { catalog.peek($0, hash: 5) == nil })
    }
}
