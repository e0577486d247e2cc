import Larder
import LarderSimulation

/// A stream of keys, a few of them often, most of them rarely. It is the same each time.
struct BenchTraffic: Sendable {
    /// The numbers of keys. Their count is a power of two.
    let requests: [Int]

    /// Creates traffic. With a skew of 1 the second key is asked for half as often as the first.
    init(keys: Int, skew: Double, seed: UInt64 = 1) {
        var dice = SeededGenerator(seed: seed)
        let ranks = Zipf(count: keys, skew: skew)
        // The popularity of a key does not depend on its number.
        let names = (0..<keys).shuffled(using: &dice)
        requests = (0..<1 << 17).map { _ in names[ranks.rank(for: dice.chance())] }
    }

    /// The keys in the order of the requests, so that only the cache is looked up while it is timed.
    func stream<Key: BenchKey>(of keys: [Key]) -> Stream<Key> { Stream(keys: requests.map { keys[$0] }) }

    struct Stream<Key: BenchKey>: Sendable {
        fileprivate let keys: [Key]

        /// Visits `count` keys from one of two places, beginning again at the end.
        @inline(__always)
        func forEach(_ count: Int, from half: Int = 0, _ body: (Key) -> Void) {
            let mask = keys.count - 1
            keys.withUnsafeBufferPointer { keys in
                for number in 0..<count { body(keys[(number + half * (mask / 2)) & mask]) }
            }
        }
    }
}
