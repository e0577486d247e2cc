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

    /// Mixes the bits of a word. Both steps are reversible, so two different words stay different.
    ///
    /// The first step spreads the high bits. Without it, the product would leave a flipped high bit in its place, and a
    /// flipped bit in the next word could cancel it.
    private static func mix(_ word: UInt64) -> UInt64 {
        let product = (word ^ word >> 32) &* 0xD6E8_FEB8_6659_FD93
        return product ^ product >> 29
    }
}
