import Larder

/// Files that are not dumps, as they turn up in any collection of thousands.
enum FleetBadFiles {
    /// Returns the names and contents of ten files.
    ///
    /// - Parameter dump: the text of a sound dump, of which some are made.
    static func all(from dump: [UInt8]) -> [(name: String, bytes: [UInt8])] {
        let text = String(decoding: dump, as: UTF8.self)
        let format = MetricsDump.format
        let next = format + "0"
        let contents: [[UInt8]] = [
            // Nothing at all.
            [],
            // An upload that was interrupted, after the head and in it.
            Array(dump.prefix(dump.count * 2 / 3)), Array(dump.prefix(40)),
            // A page of a proxy.
            Array("<html><body>502 Bad Gateway</body></html>\n".utf8),
            // Another format, and another version of this one.
            Array(#"{"name":"package","version":"1.0.0"}"#.utf8), Array(text.replacing(format, with: next).utf8),
            // Contents that are made to harm a reader.
            Array(repeatElement(UInt8(ascii: "["), count: 100_000)),
            Array(text.replacing(#""resources":["#, with: #""resources":[{"resource":1e308},"#).utf8),
            Array(text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }),
        ]
        let files = contents.enumerated().map { (name: "bad-0\($0 + 1).json", bytes: $1) }
        // The beginning of a compressed file.
        return files + [("bad-10.json.gz", [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xAB, 0x56, 0x4A])]
    }
}
