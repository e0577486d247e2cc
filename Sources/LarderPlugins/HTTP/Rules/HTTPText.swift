/// The smallest parts of the values of HTTP fields.
enum HTTPText {
    /// The largest number of seconds that HTTP caches count. Larger numbers stand for it.
    static let mostSeconds: Int64 = 1 << 31

    /// Returns an ASCII letter in lower case, and any other byte as it is.
    static func lowercased(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 32 : byte
    }

    /// Returns the value of a digit; nil for any other byte.
    static func digit(_ byte: UInt8) -> Int? {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte ? Int(byte - UInt8(ascii: "0")) : nil
    }

    /// Returns the bytes without the spaces and tabs around them.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let rest = bytes.drop(while: isBlank)
        guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return [] }
        return rest[...last]
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

    /// Returns a number of seconds, at most ``mostSeconds``. Returns nil if the text is not a whole number of digits
    /// only: a sign, a fraction or a blank makes it invalid.
    static func seconds(_ bytes: some Sequence<UInt8>) -> Int64? {
        var number: Int64?
        for byte in bytes {
            guard let digit = digit(byte) else { return nil }
            number = min(mostSeconds, (number ?? 0) * 10 + Int64(digit))
        }
        return number
    }
}
