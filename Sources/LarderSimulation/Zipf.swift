#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Ranks of which the n-th is 1/nˢ times as likely as the first.
package struct Zipf: Sendable {
    /// For each rank, the chance of it or a lower one.
    private let sums: [Double]

    /// Ranks below `count`.
    package init(count: Int, skew: Double) {
        var sum = 0.0
        let weights = (1...max(1, count)).map { rank in
            sum += pow(Double(rank), -skew)
            return sum
        }
        sums = weights.map { $0 / sum }
    }

    /// The rank that a number in 0 ..< 1 drawn at random stands for.
    package func rank(for chance: Double) -> Int {
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] < chance { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
