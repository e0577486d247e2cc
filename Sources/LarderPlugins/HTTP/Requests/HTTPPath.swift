/// The ways in which servers read the path of a URL.
///
/// They differ: some decode a path before they split it, some do it twice because a proxy did it before, some take a
/// backslash for a slash, and some ignore what stands behind a semicolon.
enum HTTPPath {
    /// A path that is encoded more often is not looked into.
    private static let mostDecodings = 8

    /// Returns whether a server may read one of the segments as `.` or `..`, and so another path.
    static func mayHaveDotSegment(_ path: some StringProtocol) -> Bool {
        var bytes = Array(path.utf8)
        for _ in 0...mostDecodings {
            if hasDotSegment(bytes) { return true }
            let decoded = decoded(bytes)
            if decoded.count == bytes.count { return false }
            bytes = decoded
        }
        return true
    }

    private static func hasDotSegment(_ path: [UInt8]) -> Bool {
        path.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.contains { segment in
            // Behind these bytes, a segment has parameters, or a query, fragment or nothing begins.
            let name = segment.prefix { $0 != 0 && !";?#".utf8.contains($0) }
            guard let end = name.lastIndex(where: { $0 > 0x20 }) else { return false }
            return end - name.startIndex < 2 && name[...end].allSatisfy { $0 == UInt8(ascii: ".") }
        }
    }

    /// Returns the bytes with one percent-encoding less. Characters of ASCII that are encoded as two bytes of UTF-8, which
    /// is not valid, are decoded, too.
    private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var place = 0
        while place < bytes.count {
            var byte = bytes[place]
            if let decoded = URLTemplate.byte(encodedAt: place, in: bytes) {
                byte = decoded
                place += 2
            }
            place += 1
            if let last = result.last, last & 0xFE == 0xC0, byte & 0xC0 == 0x80 {
                result[result.count - 1] = last << 6 | byte & 0x3F
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
