/// The text of a key, if it has at most 23 bytes. It has no reference, so that comparing keys reads no other memory.
@usableFromInline struct ShortKey: Sendable, Equatable {
    @usableFromInline var first: UInt64 = 0
    @usableFromInline var second: UInt64 = 0
    /// The last byte in memory is the number of bytes.
    @usableFromInline var third: UInt64 = 0

    /// The largest number of bytes.
    static let capacity = 23

    /// No text.
    init() {}

    /// Reads the text from the beginning of a buffer of at least 24 bytes, which are zero after the text.
    @inline(__always)
    init(_ buffer: UnsafeMutableBufferPointer<UInt8>, count: Int) {
        buffer[Self.capacity] = UInt8(truncatingIfNeeded: count)
        let bytes = UnsafeRawBufferPointer(buffer)
        first = bytes.loadUnaligned(as: UInt64.self)
        second = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        third = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
    }

    /// Returns whether two texts are the same.
    @inlinable @inline(__always)
    static func == (left: ShortKey, right: ShortKey) -> Bool {
        (left.first ^ right.first) | (left.second ^ right.second) | (left.third ^ right.third) == 0
    }

    /// Calls `body` with the bytes of the text.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: self) { bytes in
            body(UnsafeRawBufferPointer(rebasing: bytes[..<Int(bytes[Self.capacity])]))
        }
    }

    /// The number of bytes.
    var count: Int { withUnsafeBytes(of: self) { Int($0[Self.capacity]) } }

    /// The text as a string.
    var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }

    /// The process's own hash of the text.
    @inline(__always)
    var processHash: Int {
        var hasher = Hasher()
        hasher.combine(first)
        hasher.combine(second)
        hasher.combine(third)
        return hasher.finalize()
    }

    /// The beginning of a text.
    struct Prefix: Sendable {
        /// The bytes, and zeros after them.
        fileprivate(set) var bytes: ShortKey
        fileprivate var mask = ShortKey()
        let count: Int

        /// A beginning that no text has.
        static let impossible: Prefix = {
            var prefix = Prefix(ShortKey())
            (prefix.bytes.third, prefix.mask.third) = (.max, .max)
            return prefix
        }()

        init(_ text: ShortKey) {
            (bytes, count) = (text, text.count)
            withUnsafeMutableBytes(of: &bytes) { $0[ShortKey.capacity] = 0 }
            withUnsafeMutableBytes(of: &mask) { [count] mask in
                for place in 0..<count { mask[place] = 0xFF }
            }
        }
    }

    /// Returns whether the text begins with these bytes and another part of the key follows, if anything.
    @inline(__always)
    func begins(with name: Prefix) -> Bool {
        let difference =
            (first ^ name.bytes.first) & name.mask.first | (second ^ name.bytes.second) & name.mask.second
            | (third ^ name.bytes.third) & name.mask.third
        guard difference == 0 else { return false }
        return withUnsafeBytes(of: self) { bytes in
            let next = bytes[name.count]
            return next == UInt8(ascii: "?") || next == UInt8(ascii: "@") || Int(bytes[Self.capacity]) == name.count
        }
    }
}

/// The name of a resource, for comparing it with that of many keys.
struct ResourceName: Sendable {
    let text: String
    /// The beginning of short keys; nil if the name is too long for them.
    let beginning: ShortKey.Prefix?
    /// The beginning of short keys, for comparing.
    let prefix: ShortKey.Prefix

    init(_ text: String) {
        self.text = text
        beginning = Key(resource: text).short.map(ShortKey.Prefix.init)
        prefix = beginning ?? .impossible
    }
}
