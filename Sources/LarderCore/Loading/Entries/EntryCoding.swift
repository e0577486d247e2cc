import LarderFoundation
import LarderSystem

/// The encoding of an entry and its key, for stores outside this process's memory.
///
/// The parts are `larder1\n`, the length of the head, the checksum of the head, the head and the payload. The head is a
/// list of fields. A field consists of a number, a length and a value. Numbers are little-endian.
///
/// A fact that only a later version knows is kept as it is, and is part of the entry when it is encoded again.
extension Entry {
    private static let magic = Array("larder1\n".utf8)
    /// The largest length of a head, in bytes. So a damaged or hostile entry takes little memory.
    private static let longestHead = 1 << 24

    /// Returns the encoded entry: ``encodedHead(for:)`` and the payload.
    ///
    /// - Throws: ``StoreError`` if the head is too large to be read again.
    public func encoded(for key: Key) throws(StoreError) -> [UInt8] {
        try encodedHead(for: key) + payload.bytes
    }

    /// Returns the bytes of ``encoded(for:)`` before the payload. A store can write the two parts without joining them.
    ///
    /// - Throws: ``StoreError`` if the head is too large to be read again: the key and the metadata have at most 16 MB.
    public func encodedHead(for key: Key) throws(StoreError) -> [UInt8] {
        try Self.encodedHead(owner: key.text, metadata, payloadSize: payload.bytes.count)
    }

    static func encodedHead(
        owner: String?, _ metadata: Metadata, payloadSize: Int
    ) throws(StoreError) -> [UInt8] {
        var fields = EncodedFields()
        if let owner { fields.add(.key, owner) }
        fields.add(metadata)
        fields.add(.length, Int64(payloadSize))
        guard fields.bytes.count <= longestHead else {
            throw StoreError("the key and the metadata of the entry are larger than 16 MB")
        }
        let count = withUnsafeBytes(of: UInt32(fields.bytes.count).littleEndian, Array.init)
        return magic + count + withUnsafeBytes(of: Checksum.of(fields.bytes).littleEndian, Array.init)
            + fields.bytes
    }

    /// Reads an entry from bytes that ``encoded(for:)`` returned. Returns nil if the entry has another key.
    ///
    /// - Throws: ``StoreError`` if the bytes are damaged, or if a later version wrote them in another form.
    ///   ``StoreError/isDamaged`` is then set.
    public init?(encoded bytes: [UInt8], for key: Key) throws(StoreError) {
        let head = try EncodedHead(of: bytes)
        guard head.payloadSize == bytes.count - head.size else { throw StoreError.damaged }
        guard head.isOf(key) else { return nil }
        self.init(Data(bytes[head.size...]), head.metadata)
    }

    /// The number of bytes before the fields.
    static let start = magic.count + 12

    static func readHead(_ bytes: [UInt8]) throws(StoreError) -> (
        owner: String?, metadata: Metadata, end: Int, length: Int
    ) {
        guard bytes.count >= start else { throw StoreError.damaged }
        guard bytes.starts(with: magic) else { throw isOfLaterVersion(bytes) ? StoreError.later : StoreError.damaged }
        let count = Int(clamping: UInt32(littleEndian: EncodedFields.number(bytes[magic.count..<magic.count + 4])))
        let checksum = UInt64(littleEndian: EncodedFields.number(bytes[magic.count + 4..<start]))
        guard count <= longestHead, count <= bytes.count - start,
            Checksum.of(bytes[start..<start + count]) == checksum
        else { throw StoreError.damaged }
        let head = EncodedFields(bytes: Array(bytes[start..<start + count])).decoded()
        guard let length = head.length, length >= 0, length <= .max - (start + count) else { throw StoreError.damaged }
        return (head.owner, head.metadata, start + count, length)
    }

    /// Returns the size of the head that begins with these bytes; nil if no head does.
    static func headSize(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= start, bytes.starts(with: magic) else { return nil }
        return start + Int(clamping: UInt32(littleEndian: EncodedFields.number(bytes[magic.count..<magic.count + 4])))
    }

    /// Returns whether the bytes begin as entries do, but with the number of a later version.
    private static func isOfLaterVersion(_ bytes: [UInt8]) -> Bool {
        let version = magic.count - 2
        return bytes[..<version].elementsEqual(magic[..<version]) && bytes[version + 1] == magic[version + 1]
            && UInt8(ascii: "2")...UInt8(ascii: "9") ~= bytes[version]
    }
}

extension Metadata {
    /// Reads the metadata of an entry from bytes that ``Entry/encoded(for:)`` returned. The key does not matter.
    ///
    /// - Throws: ``StoreError`` if the bytes are damaged, or if a later version wrote them in another form.
    ///   ``StoreError/isDamaged`` is then set.
    public init(ofEncoded bytes: [UInt8]) throws(StoreError) {
        let head = try EncodedHead(of: bytes)
        guard head.payloadSize == bytes.count - head.size else { throw StoreError.damaged }
        self = head.metadata
    }
}

extension StoreError {
    /// The failure of reading an entry in a form that this version does not know.
    fileprivate static var later: StoreError {
        var failure = StoreError("the entry was written by a later version of Larder")
        failure.isDamaged = true
        return failure
    }
}
