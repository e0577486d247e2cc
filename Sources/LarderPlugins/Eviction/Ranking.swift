import LarderCore

/// A ranking of a few contestants, at most eight, by the number of keys that each finds. All look for the same keys.
/// Older results count less.
struct Ranking: Sendable {
    private let count: Int
    /// The number of keys that each contestant found and another one did not.
    private var found = SIMD8<Float>()
    /// The number of times that exactly these contestants found the key, by a set with one bit for each contestant.
    /// This is all that is needed to compare any two.
    private var outcomes: [Float] = []
    private(set) var leader = 0

    private static let bits = SIMD8<Int32>(1, 2, 4, 8, 16, 32, 64, 128)

    init(count: Int) {
        self.count = count
    }

    /// Records a result: the set of contestants that found the key, one bit for each.
    mutating func record(_ found: Int) {
        // A key that all or none found makes no difference.
        guard found != 0, found != 1 << count - 1 else { return }
        if outcomes.isEmpty { outcomes = Array(repeating: 0, count: 1 << count) }
        outcomes[found] += 1
        let isFound = (Self.bits & Int32(truncatingIfNeeded: found)) .!= 0
        self.found += SIMD8(repeating: 0).replacing(with: 1, where: isFound)
    }

    /// Makes the recorded results count less.
    mutating func fade() {
        for (outcome, times) in outcomes.enumerated() { outcomes[outcome] = times < 0.01 ? 0 : times * 0.75 }
        found = (found * 0.75).replacing(with: 0, where: found .< 0.01)
    }

    /// Makes a contestant the leader if it finds so much more that chance is an unlikely cause. Returns whether the
    /// leader changed.
    mutating func decide() -> Bool {
        var best = leader
        for one in 0..<count where found[one] > found[best] { best = one }
        guard best != leader else { return false }
        // Only results that differ between the two count. Among n of them, chance alone makes a difference of about √n.
        var others: Float = 0
        for (outcome, times) in outcomes.enumerated() where (outcome >> best ^ outcome >> leader) & 1 == 1 {
            others += times
        }
        guard found[best] - found[leader] > 2 * others.squareRoot() + 2 else { return false }
        leader = best
        return true
    }
}
