/// Which of a few contestants finds most, on tasks that all of them are set; what is long ago counts less and less.
struct Ranking: Sendable {
    private let count: Int
    /// How often exactly these found what was asked for, a contestant a bit: all that is needed to compare any two.
    private var outcomes: [Float]
    private(set) var leader = 0
    /// How many tasks the leader leads for.
    private var since = 0

    init(count: Int) {
        self.count = count
        outcomes = []
    }

    /// One task was set, and these found it.
    mutating func record(_ found: Int) {
        if outcomes.isEmpty { outcomes = Array(repeating: 0, count: 1 << count) }
        outcomes[found] += 1
        since += 1
    }

    /// Makes what was recorded count for less.
    mutating func fade() {
        for (outcome, times) in outcomes.enumerated() { outcomes[outcome] = times < 0.01 ? 0 : times * 0.917 }
    }

    /// Whether there is another leader now: one that finds so much more that chance would hardly do it.
    mutating func decide(notBefore least: Int) -> Bool {
        guard since >= least else { return false }
        var found = [Float](repeating: 0, count: count)
        for (outcome, times) in outcomes.enumerated() where times > 0 {
            for one in 0..<count where outcome >> one & 1 == 1 { found[one] += times }
        }
        guard let best = found.indices.max(by: { found[$0] < found[$1] }), best != leader else { return false }
        // Where both find or both miss nothing is learnt; of n others, chance divides the square root of n unevenly.
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
