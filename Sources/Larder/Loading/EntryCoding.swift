#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An entry and its key as bytes, for stores outside this process's memory.
///
/// `larder1\n`, the length of the head, the head's checksum, the head, the payload. The head is a list of fields, each a
/// number, a length and the value, so that fields can be added and unknown ones skipped. Numbers are little-endian.
extension Entry {
    private static let magic = Array("larder1\n".utf8)

    private enum Field: UInt8 {
        case key = 1
        case fetchedAt, validatedAt, etag, lastModified, contentType, tag, version, checksum, spread, length, expired
    }

    /// Everything but the payload, which follows it.
    package func head(for key: Key) -> [UInt8] {
        var fields = Fields()
        fields.add(Field.key.rawValue, Array(key.text.utf8))
        fields.add(Field.fetchedAt.rawValue, metadata.fetchedAt.nanoseconds)
        if let time = metadata.validatedAt { fields.add(Field.validatedAt.rawValue, time.nanoseconds) }
        if let text = metadata.etag { fields.add(Field.etag.rawValue, Array(text.utf8)) }
        if let text = metadata.lastModified { fields.add(Field.lastModified.rawValue, Array(text.utf8)) }
        if let text = metadata.contentType { fields.add(Field.contentType.rawValue, Array(text.utf8)) }
        for tag in metadata.tags { fields.add(Field.tag.rawValue, Array(tag.utf8)) }
        if let version = metadata.version { fields.add(Field.version.rawValue, Int64(version)) }
        if let checksum = metadata.checksum { fields.add(Field.checksum.rawValue, checksum) }
        fields.add(Field.spread.rawValue, metadata.spread.bitPattern)
        fields.add(Field.length.rawValue, Int64(payload.bytes.count))
        if metadata.isExpired { fields.add(Field.expired.rawValue, [1]) }
        let count = withUnsafeBytes(of: UInt32(fields.bytes.count).littleEndian, Array.init)
        return Self.magic + count + withUnsafeBytes(of: Checksum.of(fields.bytes).littleEndian, Array.init)
            + fields.bytes
    }

    /// The entry that `bytes` hold, if they hold a whole one and it is kept under `key`.
    ///
    /// - Throws: ``StoreError`` when the bytes are damaged.
    /// - Returns: nil when another key's entry is there.
    package static func decode(_ bytes: [UInt8], for key: Key) throws(StoreError) -> Entry? {
        let head = try readHead(bytes)
        guard head.owner == key.text else { return nil }
        return Entry(Data(bytes[head.end...]), head.metadata)
    }

    /// What is known about the entry that `bytes` hold, whoever's it is.
    ///
    /// - Throws: ``StoreError`` when the bytes are damaged.
    package static func metadata(in bytes: [UInt8]) throws(StoreError) -> Metadata {
        try readHead(bytes).metadata
    }

    private static func readHead(_ bytes: [UInt8]) throws(StoreError) -> (owner: String?, metadata: Metadata, end: Int)
    {
        let start = magic.count + 12
        guard bytes.count >= start, bytes.starts(with: magic) else { throw StoreError.damaged }
        let count = Int(clamping: UInt32(littleEndian: load(bytes[magic.count..<magic.count + 4])))
        let checksum = UInt64(littleEndian: load(bytes[magic.count + 4..<start]))
        guard count <= bytes.count - start, Checksum.of(bytes[start..<start + count]) == checksum else {
            throw StoreError.damaged
        }
        var metadata = Metadata()
        var length: Int?
        var owner: String?
        var fields = Fields(bytes: Array(bytes[start..<start + count]))
        while let (number, value) = fields.next() {
            switch Field(rawValue: number) {
            case .key: owner = String(decoding: value, as: UTF8.self)
            case .fetchedAt: metadata.fetchedAt = Timestamp(nanoseconds: Int64(littleEndian: load(value)))
            case .validatedAt: metadata.validatedAt = Timestamp(nanoseconds: Int64(littleEndian: load(value)))
            case .etag: metadata.etag = String(decoding: value, as: UTF8.self)
            case .lastModified: metadata.lastModified = String(decoding: value, as: UTF8.self)
            case .contentType: metadata.contentType = String(decoding: value, as: UTF8.self)
            case .tag: metadata.tags.append(String(decoding: value, as: UTF8.self))
            case .version: metadata.version = Int(clamping: Int64(littleEndian: load(value)))
            case .checksum: metadata.checksum = UInt64(littleEndian: load(value))
            case .spread:
                let spread = Double(bitPattern: UInt64(littleEndian: load(value)))
                metadata.spread = (0..<1).contains(spread) ? spread : 0
            case .length: length = Int(clamping: Int64(littleEndian: load(value)))
            case .expired: metadata.isExpired = true
            case nil: break
            }
        }
        guard length == bytes.count - start - count else { throw StoreError.damaged }
        return (owner, metadata, start + count)
    }

    /// The number whose bytes these are, missing ones taken as zero.
    private static func load<Number: FixedWidthInteger>(_ bytes: some Sequence<UInt8>) -> Number {
        var number = Number.zero
        withUnsafeMutableBytes(of: &number) { buffer in
            for (index, byte) in bytes.prefix(buffer.count).enumerated() { buffer[index] = byte }
        }
        return number
    }

    private struct Fields {
        var bytes: [UInt8] = []
        private var position = 0

        init(bytes: [UInt8] = []) {
            self.bytes = bytes
        }

        mutating func add(_ number: UInt8, _ value: [UInt8]) {
            bytes.append(number)
            bytes += withUnsafeBytes(of: UInt32(value.count).littleEndian, Array.init)
            bytes += value
        }

        mutating func add(_ number: UInt8, _ value: some FixedWidthInteger) {
            add(number, withUnsafeBytes(of: value.littleEndian, Array.init))
        }

        mutating func next() -> (UInt8, ArraySlice<UInt8>)? {
            guard bytes.count - position >= 5 else { return nil }
            let count = Int(clamping: UInt32(littleEndian: Entry.load(bytes[position + 1..<position + 5])))
            let start = position + 5
            guard count <= bytes.count - start else { return nil }
            defer { position = start + count }
            return (bytes[position], bytes[start..<start + count])
        }
    }
}

/// A fast 64-bit sum of bytes that tells damage: any change within eight bytes changes it, any other almost surely.
/// Whoever wants to can forge it.
package enum Checksum {
    /// The sum of `bytes`.
    package static func of(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { of($0) }
    }

    /// The sum of `bytes`.
    package static func of(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.withUnsafeBytes { of($0) }
    }

    /// The sum of `bytes`.
    package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
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

    /// Neither step loses anything: two different words stay different. The first spreads the high bits, which a product
    /// alone would pass on unchanged, so that a flipped one could be undone by another in the next word.
    private static func mix(_ word: UInt64) -> UInt64 {
        let product = (word ^ word >> 32) &* 0xD6E8_FEB8_6659_FD93
        return product ^ product >> 29
    }
}
