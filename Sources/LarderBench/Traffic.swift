import Larder
import LarderSimulation

/// Keys as traffic asks for them: a few often, most of them rarely, the same ones each time.
struct Traffic: Sendable {
    /// Numbers below the count of keys, a power of two of them.
    let requests: [Int]

    /// With a skew of 1 the second key is wanted half as often as the first.
    init(keys: Int, skew: Double, seed: UInt64 = 1) {
        var dice = Dice(seed: seed)
        let ranks = Zipf(count: keys, skew: skew)
        // How popular a key is has nothing to do with its number.
        let names = (0..<keys).shuffled(using: &dice)
        requests = (0..<1 << 17).map { _ in names[ranks.rank(for: dice.chance())] }
    }

    /// The keys in the order in which they are asked for, so that nothing but the cache is looked up while it is timed.
    func stream<Key: BenchKey>(of keys: [Key]) -> Stream<Key> { Stream(keys: requests.map { keys[$0] }) }

    struct Stream<Key: BenchKey>: Sendable {
        fileprivate let keys: [Key]

        /// So many keys, from one of two places, again and again.
        @inline(__always)
        func forEach(_ count: Int, from half: Int = 0, _ body: (Key) -> Void) {
            let mask = keys.count - 1
            keys.withUnsafeBufferPointer { keys in
                for number in 0..<count { body(keys[(number + half * (mask / 2)) & mask]) }
            }
        }
    }
}
