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
        requests = (0..<1 << 18).map { _ in names[ranks.rank(for: dice.chance())] }
    }

    /// So many requests, from one of two places, again and again.
    @inline(__always)
    func forEach(_ count: Int, from half: Int = 0, _ body: (Int) -> Void) {
        let mask = requests.count - 1
        requests.withUnsafeBufferPointer { requests in
            for number in 0..<count { body(requests[(number + half * (mask / 2)) & mask]) }
        }
    }
}
