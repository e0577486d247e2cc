import LarderFoundation

/// A difference with the interval in which it lies 95 times of 100.
///
/// The interval comes from groups that behave independently of each other: installations, or parts of the time. The
/// difference is computed again without each group in turn. The size of these changes shows how much of the difference is
/// chance. This does not assume that loads are independent: loads of one phone resemble each other. (The method is known as
/// the delete-a-group jackknife.)
struct GroupedEstimate: Sendable, Hashable {
    /// The number of groups from which an interval is given.
    static let fewestGroups = 8

    let value: Double
    /// The error of the value by chance; nil if there are too few groups.
    let error: Double?
    private let groups: Int

    /// Estimates a value.
    ///
    /// - Parameters:
    ///   - groups: the number of groups.
    ///   - compute: returns the value without a group, or with nil of all groups. Returns nil if there is too little data.
    init?(groups: Int, _ compute: (_ left: Int?) -> Double?) {
        guard let value = compute(nil) else { return nil }
        self.value = value
        self.groups = groups
        let others = groups >= Self.fewestGroups ? (0..<groups).compactMap { compute($0) } : []
        guard others.count == groups, groups > 1 else {
            error = nil
            return
        }
        let mean = others.reduce(0, +) / Double(groups)
        let spread = others.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        error = (spread * Double(groups - 1) / Double(groups)).squareRoot()
    }

    /// The interval in which the value lies 95 times of 100; nil if it is not known.
    var interval: ClosedRange<Double>? {
        error.map { error in
            let width = Self.quantile(1.96, groups - 1) * error
            return (value - width)...(value + width)
        }
    }

    /// Whether chance alone would bring such a difference less than once in 10,000 comparisons. A report makes dozens of
    /// comparisons, so that once in 20 would be far too often.
    var isCertain: Bool { error.map { abs(value) > Self.quantile(3.89, groups - 1) * $0 } ?? false }

    /// The quantile of Student's distribution that corresponds to a quantile of the normal distribution.
    private static func quantile(_ z: Double, _ freedom: Int) -> Double {
        let n = Double(max(1, freedom))
        let (cube, fifth) = (z * z * z, z * z * z * z * z)
        return z + (cube + z) / (4 * n) + (5 * fifth + 16 * cube + 3 * z) / (96 * n * n)
    }
}
