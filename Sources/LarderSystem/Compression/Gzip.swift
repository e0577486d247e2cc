/// Unpacks files of gzip.
package enum Gzip {
    /// The reason why a file cannot be unpacked.
    package struct Failure: Error, CustomStringConvertible {
        /// The reason.
        package let description: String
    }

    /// Returns whether a file that begins with these bytes is a gzip file.
    package static func isPacked(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

    /// Returns the contents of a gzip file.
    ///
    /// - Parameter limit: the largest size of the contents, in bytes. Unpacking stops there.
    /// - Throws: ``Failure`` if the file is damaged, incomplete or too large, or zlib is missing.
    package static func unpacked(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        let (contents, end) = try inflate(bytes, limit: limit + 1)
        if contents.count > limit { throw Failure(description: "unpacked, it is larger than \(limit / 1_000_000) MB") }
        guard end == .complete else {
            throw Failure(description: end == .missing ? "the gzip file ends too early" : "the gzip file is damaged")
        }
        return contents
    }

    /// Returns the beginning of the contents, at most `most` bytes, as far as these bytes tell.
    package static func beginning(of bytes: [UInt8], most: Int) throws(Failure) -> [UInt8] {
        Array(try inflate(bytes, limit: most).contents)
    }

    private enum End {
        case complete
        case missing
        case damaged
    }

    /// Unpacks up to `limit` bytes. A gzip file may consist of several parts, one after the other.
    private static func inflate(_ bytes: [UInt8], limit: Int) throws(Failure) -> (contents: [UInt8], end: End) {
        let unpacker: Unpacker
        do { unpacker = try Unpacker(.gzip) } catch { throw Failure(description: error.description) }
        var contents: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(1 << 16, max(limit, 1)))
        var place = 0
        while contents.count < limit {
            let room = min(chunk.count, limit - contents.count)
            let progress = bytes.withUnsafeBytes { input in
                chunk.withUnsafeMutableBytes { output in
                    try? unpacker.unpack(
                        UnsafeRawBufferPointer(rebasing: input[place...]),
                        into: UnsafeMutableRawBufferPointer(rebasing: output[..<room]))
                }
            }
            guard let progress else { return (contents, .damaged) }
            contents += chunk[..<progress.written]
            place += progress.taken
            // Zeros after the end are padding.
            if unpacker.isWhole, bytes[place...].allSatisfy({ $0 == 0 }) { return (contents, .complete) }
            if place == bytes.count, progress.written < room { return (contents, .missing) }
        }
        return (contents, .missing)
    }
}
