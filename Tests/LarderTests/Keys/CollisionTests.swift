import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@_spi(Bench) @testable import LarderPlugins

/// Keys that were chosen to collide under a predictable hash are spread like all other keys.
@Suite struct CollisionTests {
    private static let count = 100_000

    /// Returns the number of table cells that are examined to find each key once.
    private static func looks(_ key: (Int) -> Key) -> Int {
        let table = ShardedTable<Key, Int>(bytes: .max, eviction: LRU())
        for number in 0..<count {
            let key = key(number)
            _ = table.insert(number, as: key, hash: key.hash, weight: 1)
        }
        #expect(table.statistics.entries == count)
        return (0..<1 << table.bits).reduce(0) { sum, number in
            let shard = table.shards[number].content
            return (0...shard.mask).reduce(sum) { sum, place in
                let cell = shard.table[place]
                return cell == 0 ? sum : sum + 1 + (place - Int(cell >> 32)) & shard.mask
            }
        }
    }

    @Test func collidingKeysTakeAtMostTwiceTheTime() {
        var dice = SeededGenerator(seed: 1)
        let random = Self.looks { _ in Key(resource: "feed", parameters: ["id": "\(dice.next())"]) }
        let chosen: [(Int) -> String] = [
            // "Aa" and "BB" have the same hash if a hash multiplies by 31.
            { number in (0..<17).map { number >> $0 & 1 == 0 ? "Aa" : "BB" }.joined() },
            // These keys have the same lower half.
            { "\($0 << 32)" },
        ]
        for id in chosen {
            let looks = Self.looks { Key(resource: "feed", parameters: ["id": id($0)]) }
            #expect(looks <= 2 * random)
        }
        // With predictable hashes the check fails, so it can fail.
        #expect(random < 3 * Self.count)
    }

    @Test func keysWithEqualHashesAreAllFound() {
        let table = ShardedTable<Int, Int>(bytes: 500, eviction: LRU())
        for number in 0..<1_000 { _ = table.insert(number, as: number, hash: 5, weight: 1) }
        #expect((500..<1_000).allSatisfy { table.peek($0, hash: 5) == $0 })
        #expect((0..<500).allSatisfy { table.peek($0, hash: 5) == nil })
    }
}
