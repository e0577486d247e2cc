import LarderCore

/// A ranking of a few contestants by the number of keys that each finds. All look for the same keys. Older results
/// count less.
struct Ranking: Sendable {
    private let count: Int
    /// The number of times that exactly these contestants found the key, by a set with one bit for each contestant.
    /// This is all that is needed to compare any two.
    private var outcomes: [Float]
    private(set) var leader = 0
    /// The number of results since the leader last changed.
    private var since = 0

    init(count: Int) {
        self.count = count
        outcomes = []
    }

    /// Records a result: the set of contestants that found the key, one bit for each.
    mutating func record(_ found: Int) {
        if outcomes.isEmpty { outcomes = Array(repeating: 0, count: 1 << count) }
        outcomes[found] += 1
        since += 1
    }

    /// Makes the recorded results count less.
    mutating func fade() {
        for (outcome, times) in outcomes.enumerated() { outcomes[outcome] = times < 0.01 ? 0 : times * 0.917 }
    }

    /// Makes a contestant the leader if it finds so much more that chance is an unlikely cause. Returns whether the
    /// leader changed.
    mutating func decide(notBefore least: Int) -> Bool {
        guard since >= least else { return false }
        var found = [Float](repeating: 0, count: count)
        for (outcome, times) in outcomes.enumerated() where times > 0 {
            for one in 0..<count where outcome >> one & 1 == 1 { found[one] += times }
        }
        guard let best = found.indices.max(by: { found[$0] < found[$1] }), best != leader else { return false }
        // Only results that differ between the two count. Among n of them, chance alone makes a difference of about √n.
        var others: Float = 0
        for (outcome, times) in outcomes.enumerated() where (outcome >> best ^ outcome >> leader) & 1 == 1 {
            others += times
        }
        guard found[best] - found[leader] > 2 * others.squareRoot() + 2 else { return false }
        leader = best
        since = 0
        return true
    }
}
