import Foundation
import Larder

/// The sizes of payloads. A key always has the same size.
struct WeightSpec {
    /// The exponent. The smaller it is, the heavier is the tail.
    private let alpha: Double
    private let least: Double
    /// The largest size.
    let most: Double

    /// Reads a bounded Pareto distribution, such as `pareto:1.2,1KB,1MB`; nil for any other text.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "pareto" else { return nil }
        let values = parts[1].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard values.count == 3, let alpha = Double(values[0]), alpha > 0, alpha.isFinite,
            let least = UnitNotation.size.amount(values[1]), let most = UnitNotation.size.amount(values[2]),
            least > 0, most > least, most <= 1_000_000_000
        else { return nil }
        (self.alpha, self.least, self.most) = (alpha, Double(least), Double(most))
    }

    /// The size of a key's payload in bytes.
    func bytes(of key: String) -> Int {
        // Swift's own hashes differ in each process.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ hash >> 32) &* 0xD6E8_FEB8_6659_FD93
        hash = (hash ^ hash >> 32) &* 0xD6E8_FEB8_6659_FD93
        let chance = Double(hash >> 11) / Double(1 << 53)
        let (low, high) = (pow(least, alpha), pow(most, alpha))
        return Int(pow((high - chance * (high - low)) / (high * low), -1 / alpha))
    }
}
