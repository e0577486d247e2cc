/// A fast 64-bit checksum that detects damage.
///
/// A change within one word of eight bytes always changes the sum. Any other change almost certainly does. The sum is
/// easy to forge.
public enum Checksum {
    /// Returns the sum of `bytes`.
    public static func of(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { of($0) }
    }

    /// Returns the sum of `bytes`.
    public static func of(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.withUnsafeBytes { of($0) }
    }

    /// Returns the sum of `bytes`.
    public static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var sum: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(bytes.count)
        let words = bytes.count / 8
        for word in 0..<words {
            sum = mix(sum ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self)))
        }
        var rest: UInt64 = 0
        for byte in bytes[(words * 8)...] { rest = rest << 8 | UInt64(byte) }
        sum = mix(sum ^ rest)
        return mix(sum ^ (sum >> 29))
    }

    /// Returns another sum of `bytes`, which detects as much and is computed more than twice as fast. Four chains, each over every
    /// fourth word, do not wait for each other.
    public static func fast(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        func word(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var (a, b): (UInt64, UInt64) = (0x9E37_79B9_7F4A_7C15, 0x6A09_E667_F3BC_C908)
        var (c, d): (UInt64, UInt64) = (0xBB67_AE85_84CA_A73B, 0x3C6E_F372_FE94_F82B)
        let end = bytes.count / 32 * 32
        for block in stride(from: 0, to: end, by: 32) {
            a = mix(a ^ word(block))
            b = mix(b ^ word(block + 8))
            c = mix(c ^ word(block + 16))
            d = mix(d ^ word(block + 24))
        }
        let rest = of(UnsafeRawBufferPointer(rebasing: bytes[end...]))
        return mix(a ^ mix(b ^ mix(c ^ mix(d ^ mix(rest ^ UInt64(bytes.count))))))
    }

    /// Mixes the bits of a word. Both steps are reversible, so two different words stay different.
    ///
    /// The first step spreads the high bits. Without it, the product would leave a flipped high bit in its place, and a
    /// flipped bit in the next word could cancel it.
    private static func mix(_ word: UInt64) -> UInt64 {
        let product = (word ^ word >> 32) &* 0xD6E8_FEB8_6659_FD93
        return product ^ product >> 29
    }
}
