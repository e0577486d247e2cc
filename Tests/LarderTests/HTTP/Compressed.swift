import LarderFoundation

/// Compressed bytes, made without a library.
enum Compressed {
    /// Returns the bytes as a file of gzip that stores them as they are.
    static func gzip(_ bytes: Data) -> Data {
        var (packed, rest) = (gzipHead, bytes)
        repeat {
            let block = rest.prefix(Int(UInt16.max))
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            packed += [rest.isEmpty ? 1 : 0] + little(length) + little(~length) + block
        } while !rest.isEmpty
        return packed + little(checksum(of: bytes)) + little(UInt32(bytes.count))
    }

    /// Returns the bytes as a stream of brotli that stores them as they are. They may be from 1 to 65,536 bytes.
    static func brotli(_ bytes: Data) -> Data {
        var bits = Bits()
        // A window of 64 KB; not the last block; a length of four digits; stored.
        for (value, count) in [(0, 1), (0, 1), (0, 2), (bytes.count - 1, 16), (1, 1)] { bits.add(value, count) }
        return Data(bits.bytes) + bytes + [3]
    }

    /// Returns the beginning of a file of gzip: one zero byte. Each ``bombByte`` after it stands for 1,032 zero bytes
    /// more, without end.
    static var bombHead: Data {
        var bits = Bits()
        // The last block, with codes of its own: 286 for lengths, 1 for distances, described by 18 lengths of codes.
        for (value, count) in [(1, 1), (2, 2), (29, 5), (0, 5), (14, 4)] { bits.add(value, count) }
        // Runs of zeros have a code of one bit (0). The lengths 1 and 2 have codes of two bits (01 and 11, first bit last).
        for place in 0..<18 { bits.add(place == 2 ? 1 : place == 15 || place == 17 ? 2 : 0, 3) }
        // The zero byte has a code of length 2, the end too, and a match of 258 bytes a code of length 1.
        bits.add(3, 2)
        for run in [138, 117] { bits.add((run - 11) << 1, 8) }
        bits.add(3, 2)
        bits.add((28 - 11) << 1, 8)
        bits.add(1, 2)
        // One distance, with a code of length 1.
        bits.add(1, 2)
        // The zero byte. The bits that fill the last byte are matches.
        bits.add(1, 2)
        return gzipHead + bits.bytes
    }

    /// Four matches of 258 bytes.
    static let bombByte: UInt8 = 0

    /// Returns a stream of brotli that unpacks to 16 MB of zeros for each block of about 13 bytes.
    static func brotliBomb(blocks: Int) -> Data {
        let length = 1 << 24
        var bits = Bits()
        // A window of 64 KB.
        bits.add(0, 1)
        for _ in 0..<blocks {
            // Not the last block; a length of six digits; compressed.
            for (value, count) in [(0, 1), (2, 2), (length - 1, 24), (0, 1)] { bits.add(value, count) }
            // One type of block of each kind; no postfix and no direct codes of distances; one tree of each kind.
            for count in [3, 2, 4, 2, 1, 1] { bits.add(0, count) }
            // The only literal is 0. The only command is one literal, then a copy of at least 2,118 bytes.
            for (value, count) in [(1, 2), (0, 2), (0, 8), (1, 2), (0, 2), (399, 10)] { bits.add(value, count) }
            // The only distance is 1 or 2. How many bytes more are copied, and that it is 1.
            for (value, count) in [(1, 2), (0, 2), (16, 6), (length - 1 - 2_118, 24), (0, 1)] { bits.add(value, count) }
        }
        // The last block is empty.
        bits.add(3, 2)
        return Data(bits.bytes)
    }

    /// Returns a frame of Zstandard that unpacks to 128 KB of zeros for each block of 4 bytes.
    static func zstdBomb(blocks: Int) -> Data {
        Data([0x28, 0xB5, 0x2F, 0xFD, 0, 7 << 3])
            + (1...blocks).reduce(into: Data()) { bytes, number in
                // A byte that is repeated, and whether the block is the last one.
                bytes += [number == blocks ? 3 : 2, 0, 0x10, 0]
            }
    }

    private static let gzipHead = Data([31, 139, 8, 0, 0, 0, 0, 0, 0, 255])

    private static func little(_ number: some FixedWidthInteger) -> Data {
        Data((0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
    }

    private static func checksum(of bytes: Data) -> UInt32 {
        var checksum = ~UInt32(0)
        for byte in bytes {
            checksum ^= UInt32(byte)
            for _ in 0..<8 { checksum = checksum & 1 == 1 ? checksum >> 1 ^ 0xEDB8_8320 : checksum >> 1 }
        }
        return ~checksum
    }

    /// Bits, with the lowest of each byte first.
    private struct Bits {
        var bytes: [UInt8] = []
        private var free = 0

        mutating func add(_ value: Int, _ count: Int) {
            for place in 0..<count {
                if free == 0 { (bytes, free) = (bytes + [0], 8) }
                if value >> place & 1 == 1 { bytes[bytes.count - 1] |= 1 << (8 - free) }
                free -= 1
            }
        }
    }
}
