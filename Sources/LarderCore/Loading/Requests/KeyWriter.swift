/// Writes the text of a key into memory on the stack, so that only a long text is allocated.
struct KeyWriter: ~Copyable {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private var length = 0

    private init(_ buffer: UnsafeMutableBufferPointer<UInt8>, _ beginning: ShortKey.Prefix) {
        self.buffer = buffer
        UnsafeMutableRawBufferPointer(buffer).storeBytes(of: beginning.bytes, as: ShortKey.self)
        length = beginning.count
    }

    /// The text of a key.
    enum Text {
        case short(ShortKey)
        case long(String)
    }

    /// Returns the text of a key with these parts.
    ///
    /// - Parameter beginning: the beginning of short keys of the resource, if it is known.
    @inline(__always)
    static func text(
        of resource: String, beginning: ShortKey.Prefix?, scope: String?, parameters: Parameters,
        bodyDigest: String?
    ) -> Text {
        var bytes = resource.utf8.count + (scope?.utf8.count ?? 0)
        // Each parameter has two separators, which take a byte each.
        parameters.forEach { bytes += $0.utf8.count + $1.utf8.count + 2 }
        // An escape takes three bytes.
        let capacity = max(3 * bytes + 1 + (bodyDigest.map { $0.utf8.count + 7 } ?? 0), ShortKey.capacity + 1)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
            var text = KeyWriter(buffer, beginning ?? ShortKey.Prefix(ShortKey()))
            if beginning == nil { text.write(resource) }
            if let scope {
                text.write(separator: "@")
                text.write(scope)
            }
            var separator: Unicode.Scalar = "?"
            parameters.forEach { name, value in
                text.write(separator: separator)
                text.write(name)
                text.write(separator: "=")
                text.write(value)
                separator = "&"
            }
            if let bodyDigest { text.write(plain: (parameters.isEmpty ? "??body=" : "?body=") + bodyDigest) }
            return text.end()
        }
    }

    @inline(__always)
    private func end() -> Text {
        if length <= ShortKey.capacity { return .short(ShortKey(buffer, count: length)) }
        return .long(String(decoding: UnsafeBufferPointer(rebasing: buffer[..<length]), as: UTF8.self))
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
