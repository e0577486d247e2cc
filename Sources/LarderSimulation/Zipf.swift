import LarderFoundation

/// A Zipf distribution: the n-th rank is 1/nˢ times as likely as the first.
package struct Zipf: Sendable {
    /// The cumulative probability of each rank.
    private let sums: [Double]

    /// Creates a distribution of the ranks below `count`.
    package init(count: Int, skew: Double) {
        var sum = 0.0
        let weights = (1...max(1, count)).map { rank in
            sum += pow(Double(rank), -skew)
            return sum
        }
        sums = weights.map { $0 / sum }
    }

    /// Returns the rank for a random number in 0 ..< 1.
    package func rank(for chance: Double) -> Int {
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] < chance { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
