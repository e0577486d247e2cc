/// A stream of numbers that depends on nothing but its seed.
public struct Dice: Sendable, RandomNumberGenerator {
    private var state: UInt64

    /// The stream of `seed`.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// A number in 0 ..< sides.
    public mutating func roll(_ sides: Int) -> Int {
        Int(next() % UInt64(sides))
    }

    /// A number in 0 ..< 1.
    public mutating func chance() -> Double { Double(next() >> 11) * 0x1p-53 }
}
