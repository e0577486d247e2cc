/// Writes the text of a key into memory on the stack, so that only a text of more than 15 bytes is allocated.
struct KeyWriter: ~Copyable {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private var length = 0

    private init(_ buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

    /// Returns the text that `write` writes.
    ///
    /// - Parameter capacity: the largest number of bytes that are written. An escape takes three bytes.
    static func text(atMost capacity: Int, _ write: (inout KeyWriter) -> Void) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
            var writer = KeyWriter(buffer)
            write(&writer)
            return String(decoding: UnsafeBufferPointer(rebasing: buffer[..<writer.length]), as: UTF8.self)
        }
    }

    /// Writes an ASCII character that separates texts.
    @inline(__always)
    mutating func write(separator character: Unicode.Scalar) { put(UInt8(truncatingIfNeeded: character.value)) }

    /// Writes a text as it is.
    mutating func write(plain text: String) {
        for byte in text.utf8 { put(byte) }
    }

    /// Writes a text with separators and bytes that are not ASCII as escapes such as `%40`. It works on bytes because
    /// characters fail here: a combining mark hides the separator before it, and equivalent texts would be equal keys.
    mutating func write(_ text: String) {
        let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { bytes in
            for byte in bytes { escape(byte) }
        }
        if isWritten == nil {
            for byte in text.utf8 { escape(byte) }
        }
    }

    @inline(__always)
    private mutating func escape(_ byte: UInt8) {
        if Self.isPlain(byte) { return put(byte) }
        put(UInt8(ascii: "%"))
        put(Self.digit(byte >> 4))
        put(Self.digit(byte & 15))
    }

    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        buffer[length] = byte
        length += 1
    }

    /// One bit for each byte below 128, set for bytes that need an escape: `%`, `&`, `=`, `?` and `@`.
    private static var escaped: (UInt64, UInt64) {
        (1 << 0x25 | 1 << 0x26 | 1 << 0x3D | 1 << 0x3F, 1 << (0x40 - 64))
    }

    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte < 0x80 && (byte < 64 ? escaped.0 : escaped.1) &>> UInt64(byte & 63) & 1 == 0
    }

    private static func digit(_ number: UInt8) -> UInt8 {
        number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "A") + number - 10
    }
}
