import LarderFoundation
import LarderSystem
import Testing

/// Files that are compressed by gzip.
@Suite struct GzipTests {
    /// `larder` in capitals and small letters, 40 times, compressed by gzip.
    private static let packed = Array(
        Data(base64Encoded: "H4sIAAAAAAACA/NxDHJxDVLISSxKSS1S8BnljfLw8gCSudt4MAIAAA==") ?? Data())
    private static let contents = Array(String(repeating: "LARDER larder ", count: 40).utf8)

    @Test func fileIsUnpacked() throws {
        #expect(Gzip.isPacked(Self.packed) && !Gzip.isPacked(Self.contents) && !Gzip.isPacked([]))
        #expect(try Gzip.unpacked(Self.packed, limit: 1_000) == Self.contents)
        #expect(try Gzip.unpacked(Self.packed, limit: Self.contents.count) == Self.contents)
    }

    @Test func partsAreJoinedAndPaddingIsIgnored() throws {
        let twice = Self.packed + Self.packed
        #expect(try Gzip.unpacked(twice, limit: 10_000) == Self.contents + Self.contents)
        #expect(try Gzip.unpacked(Self.packed + [0, 0, 0], limit: 10_000) == Self.contents)
    }

    @Test func unpackingStopsAtLimit() {
        #expect(throws: Gzip.Failure.self) { try Gzip.unpacked(Self.packed, limit: Self.contents.count - 1) }
    }

    @Test func damagedFileIsRefused() {
        for length in 0..<Self.packed.count {
            #expect(throws: Gzip.Failure.self) { try Gzip.unpacked(Array(Self.packed.prefix(length)), limit: 1_000) }
        }
        for place in Self.packed.indices where ![4, 5, 6, 7, 8, 9].contains(place) {
            var broken = Self.packed
            broken[place] ^= 0x55
            // A damaged file gives an error or, rarely, other bytes, but never a crash.
            _ = try? Gzip.unpacked(broken, limit: 1_000)
        }
        var broken = Self.packed
        broken[broken.count - 6] ^= 1
        let error = #expect(throws: Gzip.Failure.self) { try Gzip.unpacked(broken, limit: 1_000) }
        #expect(error?.description == "the gzip file is damaged")
    }

    @Test func beginningIsUnpacked() throws {
        let half = Array(Self.packed.prefix(Self.packed.count * 3 / 4))
        let start = try Gzip.beginning(of: half, most: 10)
        #expect(start == Array(Self.contents.prefix(start.count)) && !start.isEmpty)
        #expect(try Gzip.beginning(of: Self.packed, most: 20) == Array(Self.contents.prefix(20)))
    }
}
