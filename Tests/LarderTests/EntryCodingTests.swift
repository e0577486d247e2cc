import FoundationEssentials
import LarderSimulation
import Testing

@testable import Larder

@Suite struct EntryCodingTests {
    private let key = Key.id("42", scope: "alice")
    private let full = Entry(
        Data("payload 😀\0\n".utf8),
        Metadata(
            fetchedAt: Timestamp(nanoseconds: 1), validatedAt: Timestamp(nanoseconds: -1), etag: "\"é\"",
            lastModified: "Mon", contentType: "a/b", tags: ["x", "", "x"], version: -7, checksum: .max, spread: 0.75))

    private func bytes(_ entry: Entry, _ key: Key) -> [UInt8] {
        entry.head(for: key) + Array(entry.payload.bytes)
    }

    @Test func whatIsCodedIsDecoded() throws {
        let edges = [Metadata(fetchedAt: Timestamp(nanoseconds: .min), version: .max, checksum: 0)]
        for entry in [full, Entry(Data())] + edges.map({ Entry(Data([0]), $0) }) {
            let decoded = try Entry.decode(bytes(entry, key), for: key)
            #expect(decoded?.payload.bytes == entry.payload.bytes)
            #expect(decoded?.metadata == entry.metadata)
        }
    }

    @Test func anotherKeysEntryIsNotGiven() throws {
        for other in [Key.id("42"), .id("43", scope: "alice"), .id("42", scope: "alic")] {
            #expect(try Entry.decode(bytes(full, key), for: other) == nil)
        }
    }

    @Test func aFieldOfALaterVersionIsSkipped() throws {
        var coded = bytes(Entry(Data()), key)
        coded += [200, 3, 0, 0, 0, 1, 2, 3]
        coded.replaceSubrange(8..<12, with: little(UInt32(coded.count - 20)))
        coded.replaceSubrange(12..<20, with: little(Checksum.of(Array(coded[20...]))))
        #expect(try Entry.decode(coded, for: key)?.metadata == Metadata())
    }

    @Test func anEntryCutShortAnywhereIsDamaged() {
        let coded = bytes(full, key)
        for count in 0..<coded.count {
            #expect(throws: StoreError.self) { try Entry.decode(Array(coded[..<count]), for: key) }
        }
        #expect(throws: StoreError.self) { try Entry.decode(coded + [0], for: key) }
    }

    @Test func damageIsNeverServedAsAnEntry() throws {
        var entry = full
        try ChecksumValidator().admit(&entry, from: .origin)
        let coded = bytes(entry, key)
        let head = entry.head(for: key).count
        var dice = Dice(seed: 11)
        for _ in 0..<10_000 {
            let damaged = mutated(coded, &dice)
            guard damaged != coded, var decoded = try? Entry.decode(damaged, for: key) else { continue }
            #expect(decoded.metadata == entry.metadata && damaged[..<head] == coded[..<head])
            #expect(throws: Refusal.self) { try ChecksumValidator().admit(&decoded, from: .store) }
        }
    }

    @Test func aCheckSumChangesWithEveryBitAndWithLength() {
        let bytes = (0..<37).map { UInt8($0 * 7 & 255) }
        var sums: Set<UInt64> = [
            Checksum.of(bytes), Checksum.of(bytes + [0]), Checksum.of([0] + bytes), Checksum.of([UInt8]()),
        ]
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            sums.insert(Checksum.of(changed))
        }
        for count in 1...64 { sums.insert(Checksum.of([UInt8](repeating: 0, count: count))) }
        #expect(sums.count == 4 + 37 * 8 + 64)
    }

    private func little(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian, Array.init)
    }

    private func mutated(_ bytes: [UInt8], _ dice: inout Dice) -> [UInt8] {
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
