/// A text of at most 15 bytes in UTF-8. It has no reference, so that copying it is free.
struct InlineText: Sendable, Equatable {
    private var first: UInt64 = 0
    /// The highest byte is the number of bytes.
    private var second: UInt64 = 0

    /// The largest number of bytes.
    static let capacity = 15

    /// The empty text.
    init() {}

    /// Returns nil if the text is too long.
    init?(_ text: String) {
        let count = text.utf8.count
        guard count <= Self.capacity else { return nil }
        var shift: UInt64 = 0
        for byte in text.utf8 {
            if shift < 64 { first |= UInt64(byte) &<< shift } else { second |= UInt64(byte) &<< (shift &- 64) }
            shift += 8
        }
        second |= UInt64(count) << 56
    }

    /// Whether the text is empty.
    var isEmpty: Bool { second >> 56 == 0 }

    /// The text as a string.
    var text: String {
        let bytes = (0..<Int(second >> 56)).map { place -> UInt8 in
            let word = place < 8 ? first : second
            return UInt8(truncatingIfNeeded: word >> UInt64(place % 8 * 8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
