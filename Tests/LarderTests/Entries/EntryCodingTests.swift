import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct EntryCodingTests {
    private let key = Key.id("42", scope: "alice")
    private let full = Entry(
        Data("payload 😀\0\n".utf8),
        Metadata(
            fetchedAt: Timestamp(nanoseconds: 1), validatedAt: Timestamp(nanoseconds: -1),
            askedAt: Timestamp(nanoseconds: -2), initialAge: .seconds(60), etag: "\"é\"", lastModified: "Mon",
            contentType: "a/b", status: 200, fields: ["Link": "<a>:é", "b": "", "link": "c"],
            variesBy: ["Accept-Language", "*"], tags: ["x", "", "x"],
            notes: ["n": .number(-7), "é": .text("😀"), "b": .bytes([0, 255])], spread: 0.75))

    private func bytes(_ entry: Entry, _ key: Key) throws -> [UInt8] {
        try entry.encoded(for: key)
    }

    @Test func encodedEntryDecodesUnchanged() throws {
        let edges = [
            Metadata(
                fetchedAt: Timestamp(nanoseconds: .min), notes: ["a": .number(.max), "b": .text(""), "c": .bytes([])]),
            Metadata(initialAge: .forever, status: .min, spread: 0.999),
        ]
        for entry in [full, Entry(Data())] + edges.map({ Entry(Data([0]), $0) }) {
            let decoded = try Entry(encoded: bytes(entry, key), for: key)
            #expect(decoded?.payload.bytes == entry.payload.bytes)
            #expect(decoded?.metadata == entry.metadata)
        }
    }

    @Test func entryOfOtherKeyIsNotReturned() throws {
        for other in [Key.id("42"), .id("43", scope: "alice"), .id("42", scope: "alic")] {
            #expect(try Entry(encoded: bytes(full, key), for: other) == nil)
        }
    }

    @Test func factsOfALaterVersionAreWrittenBack() throws {
        let facts: [(UInt8, [UInt8])] = [(200, [1, 2, 3]), (13, [1, 110, 200, 7]), (255, []), (200, [4])]
        let coded = try adding(facts)
        var entry = try #require(try Entry(encoded: coded, for: key))
        #expect(entry.metadata.notes == [:] && entry.metadata != Metadata())
        #expect(entry.weight == Entry(Data()).weight + 3 + 2 + 1)
        entry.metadata.etag = "changed by this version"
        let again = try #require(try Entry(encoded: entry.encoded(for: key), for: key))
        #expect(again.metadata == entry.metadata)
        entry.metadata.etag = nil
        #expect(fields(of: try entry.encoded(for: key)) == fields(of: coded))
    }

    @Test func noteReplacesALaterNoteOfItsName() throws {
        let coded = try adding([(13, [1, 110, 200, 7]), (13, [1, 111, 200, 7])])
        var metadata = try Metadata(ofEncoded: coded)
        metadata[NoteKey<Int>("n")] = 5
        let written = try Entry(Data(), metadata).encoded(for: key)
        #expect(
            fields(of: written).filter { $0.first == 13 } == [
                [13, 1, 110, 1, 5, 0, 0, 0, 0, 0, 0, 0], [13, 1, 111, 200, 7],
            ])
        metadata[NoteKey<Int>("o")] = nil
        #expect(metadata == Metadata(notes: ["n": .number(5)]))
        #expect(
            try Metadata(ofEncoded: adding([(13, [1, 110, 200, 7]), (13, [1, 110, 2])]))
                == Metadata(notes: ["n": .text("")]))
    }

    @Test func entryOfALaterVersionIsDamagedAndSaysSo() throws {
        var coded = try bytes(full, key)
        coded[6] = UInt8(ascii: "2")
        do throws(StoreError) {
            _ = try Metadata(ofEncoded: coded)
            Issue.record("read an entry of another form")
        } catch {
            #expect(error.isDamaged && error.message == "the entry was written by a later version of Larder")
        }
    }

    @Test(arguments: [[], [58], [97], [97, 32, 58], [97, 58, 10], [97, 58, 0], [58, 97]] as [[UInt8]])
    func fieldThatIsNotAllowedIsLeftOut(value: [UInt8]) throws {
        #expect(try Metadata(ofEncoded: adding([(18, value)])) == Metadata())
    }

    @Test func headThatIsTooLongIsNotRead() {
        let note = [1, 110, 3] + [UInt8](repeating: 0, count: 1 << 24)
        #expect(throws: StoreError.self) { try Metadata(ofEncoded: adding([(13, note)])) }
    }

    @Test(
        arguments: [
            [], [0], [0, 1], [1, 110], [3, 110, 1], [255, 110, 1], [1, 110, 1], [1, 110, 1, 0, 0, 0],
            [0, 1, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0xC3, 2, 97],
            [1, 110, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ] as [[UInt8]])
    func noteThatCannotBeReadIsLeftOut(value: [UInt8]) throws {
        let coded = try adding([(13, value)])
        #expect(try Entry(encoded: coded, for: key)?.metadata == Metadata())
        #expect(try Metadata(ofEncoded: coded) == Metadata())
    }

    @Test func noteWithAnUnsoundNameCostsNoEntry() throws {
        let (long, longest) = (String(repeating: "é", count: 128), String(repeating: "é", count: 127) + "e")
        let metadata = Metadata(notes: ["": .number(1), long: .number(2), long + "a": .number(3), longest: .number(4)])
        #expect(metadata.notes == [longest: .number(4)])
        let coded = try Entry(Data(), metadata).encoded(for: key)
        #expect(try Metadata(ofEncoded: coded) == metadata)
    }

    @Test func headThatIsTooLargeToBeReadIsNotWritten() throws {
        let fits = Entry(Data(), Metadata(etag: String(repeating: "e", count: (1 << 24) - 500)))
        #expect(try Entry(encoded: fits.encoded(for: key), for: key)?.metadata == fits.metadata)
        let tooLarge = Entry(Data(), Metadata(etag: String(repeating: "e", count: 1 << 24)))
        let error = #expect(throws: StoreError.self) { try tooLarge.encoded(for: key) }
        #expect(error?.message == "the key and the metadata of the entry are larger than 16 MB")
        #expect(error?.isDamaged == false)
    }

    /// The fields of the head, each with its number and its value, sorted.
    private func fields(of coded: [UInt8]) -> [[UInt8]] {
        var (fields, rest): ([[UInt8]], ArraySlice<UInt8>) = ([], coded[20...])
        while rest.count >= 5 {
            let count = rest[(rest.startIndex + 1)...].prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            fields.append([rest[rest.startIndex]] + rest.dropFirst(5).prefix(count))
            rest = rest.dropFirst(5 + count)
        }
        return fields.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// The bytes of an empty entry with more fields.
    private func adding(_ fields: [(number: UInt8, value: [UInt8])]) throws -> [UInt8] {
        var coded = try bytes(Entry(Data()), key)
        for field in fields { coded += [field.number] + little(UInt32(field.value.count)) + field.value }
        coded.replaceSubrange(8..<12, with: little(UInt32(coded.count - 20)))
        coded.replaceSubrange(12..<20, with: little(Checksum.of(Array(coded[20...]))))
        return coded
    }

    @Test func truncatedEntryIsDamaged() throws {
        let coded = try bytes(full, key)
        for count in 0..<coded.count {
            #expect(throws: StoreError.self) { try Entry(encoded: Array(coded[..<count]), for: key) }
        }
        #expect(throws: StoreError.self) { try Entry(encoded: coded + [0], for: key) }
    }

    @Test func damagedEntryIsNeverServed() throws {
        var entry = full
        _ = try ChecksumValidator().admit(&entry, from: .origin, for: Request("feed"))
        let coded = try bytes(entry, key)
        let head = try entry.encodedHead(for: key).count
        var dice = SeededGenerator(seed: 11)
        for _ in 0..<10_000 {
            let damaged = mutated(coded, &dice)
            guard damaged != coded, var decoded = try? Entry(encoded: damaged, for: key) else { continue }
            #expect(decoded.metadata == entry.metadata && damaged[..<head] == coded[..<head])
            #expect(throws: Refusal.self) {
                _ = try ChecksumValidator().admit(&decoded, from: .store, for: Request("feed"))
            }
        }
    }

    @Test(arguments: [false, true]) func checksumChangesWithEveryBitLengthAndOrder(isFast: Bool) {
        func sum(_ bytes: [UInt8]) -> UInt64 {
            bytes.withUnsafeBytes { isFast ? Checksum.fast(of: $0) : Checksum.of($0) }
        }
        let bytes = (0..<101).map { UInt8($0 * 7 & 255) }
        var sums: Set<UInt64> = [sum(bytes), sum(bytes + [0]), sum([0] + bytes), sum([])]
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            sums.insert(sum(changed))
        }
        for count in 1...128 { sums.insert(sum([UInt8](repeating: 0, count: count))) }
        for (first, second) in (0..<12).flatMap({ first in (first + 1..<12).map { (first, $0) } }) {
            var words = (0..<12).map { Array(bytes[$0 * 8..<$0 * 8 + 8]) }
            words.swapAt(first, second)
            sums.insert(sum(words.flatMap { $0 }))
        }
        #expect(sums.count == 4 + 101 * 8 + 128 + 66)
    }

    private func little(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian, Array.init)
    }

    private func mutated(_ bytes: [UInt8], _ dice: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0...dice.roll(3) {
            let place = dice.roll(bytes.count)
            switch dice.roll(5) {
            case 0: bytes[place] ^= 1 << UInt8(dice.roll(8))
            case 1: bytes[place] = [0, 1, 127, 128, 255][dice.roll(5)]
            case 2: bytes.swapAt(place, dice.roll(bytes.count))
            case 3: bytes.insert(UInt8(dice.roll(256)), at: place)
            default: if bytes.count > 1 { bytes.remove(at: place) }
            }
        }
        return bytes
    }
}
