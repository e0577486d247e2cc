import LarderSystem

/// A stream of pseudorandom numbers that depends only on its seed.
public struct SeededGenerator: Sendable, RandomNumberGenerator {
    private var state: UInt64

    /// Creates the stream of `seed`.
    public init(seed: UInt64) {
        state = seed
    }

    /// Creates one of the many streams of `seed`. Streams of different names are independent of each other.
    public init(seed: UInt64, stream name: String) {
        self.init(seed: seed ^ Checksum.of(Array(name.utf8)))
        self.init(seed: next())
    }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// Returns a number in 0 ..< `sides`.
    public mutating func roll(_ sides: Int) -> Int {
        Int(next() % UInt64(sides))
    }

    /// Returns a number in 0 ..< 1.
    public mutating func chance() -> Double { Double(next() >> 11) * 0x1p-53 }
}
