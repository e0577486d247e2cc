/// A part of the bytes that Linux sends about its network: a message, its attributes, or the body of one of them.
///
/// The bytes are read as if they came from a stranger: nothing outside this part is ever read, and everything that does
/// not fit into it is nil or missing.
package struct NetlinkBytes {
    private let bytes: ArraySlice<UInt8>

    /// Creates a part that consists of these bytes.
    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// The number of bytes.
    package var count: Int { bytes.count }

    /// Returns the number at an offset, in the byte order of this machine; nil if the bytes end before it does.
    package func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number? {
        guard let part = part(from: offset, count: MemoryLayout<Number>.size) else { return nil }
        var number: Number = 0
        withUnsafeMutableBytes(of: &number) { $0.copyBytes(from: part.bytes) }
        return number
    }

    /// Returns `count` bytes from an offset on; nil if there are fewer.
    package func part(from offset: Int, count: Int) -> NetlinkBytes? {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
        let start = bytes.startIndex + offset
        return NetlinkBytes(bytes[start..<start + count])
    }

    /// The text before the first zero byte.
    package var text: String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }

    /// The attributes that begin at an offset, by their type, with the first one of each type. They end before the first
    /// one that does not fit.
    package func attributes(from offset: Int) -> [UInt16: NetlinkBytes] {
        var attributes: [UInt16: NetlinkBytes] = [:]
        var start = offset
        while let length: UInt16 = number(at: start), let type: UInt16 = number(at: start + 2), length >= 4,
            let body = part(from: start + 4, count: Int(length) - 4)
        {
            // The two highest bits say how the body is written.
            let type = type & 0x3FFF
            if attributes[type] == nil { attributes[type] = body }
            start += Int(length).roundedUpToFour
        }
        return attributes
    }
}

extension Int {
    /// The next multiple of four. Every netlink message and attribute begins at one.
    var roundedUpToFour: Int { (self + 3) & ~3 }
}
