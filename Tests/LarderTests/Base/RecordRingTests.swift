import LarderFoundation
import Testing

@testable import LarderSystem

@Suite struct RecordRingTests {
    private let folder: Folder
    private var path: String { folder.path + "/ring" }

    init() throws {
        folder = try Folder()
    }

    private func open(beginningAt last: UInt64? = nil) throws -> RecordRing {
        try RecordRing(path, beginningAt: last)
    }

    private static func record(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: RecordRing.recordSize) }

    @Test func recordsAreSeenThroughEveryOpening() throws {
        let (ours, theirs) = (try open(), try open())
        let start = theirs.last
        #expect(ours.last == start && ours.salt == theirs.salt && theirs.records(after: start) == [])
        for byte in 1...3 { try ours.append(Self.record(UInt8(byte))) }
        #expect(theirs.last == start + 3)
        #expect(theirs.records(after: start)?.map(Array.init) == (1...3).map { Self.record($0) })
        #expect(theirs.records(after: start + 2)?.map(Array.init) == [Self.record(3)])
    }

    @Test func recordsThatWereOverwrittenAreNotReturned() throws {
        let ring = try open()
        let start = ring.last
        for _ in 0..<RecordRing.capacity { try ring.append(Self.record(1)) }
        #expect(ring.records(after: start)?.count == RecordRing.capacity)
        try ring.append(Self.record(2))
        #expect(ring.records(after: start) == nil)
        #expect(ring.records(after: start + 1)?.count == RecordRing.capacity)
        #expect(ring.records(after: ring.last + 1) == nil)
    }

    @Test func fileHasFixedSize() throws {
        let ring = try open()
        for _ in 0..<2_000 { try ring.append(Self.record(7)) }
        let bytes = try Data(contentsOf: folder.url.appending(path: "ring"))
        #expect(bytes.count == 16_384)
    }

    @Test(arguments: ["folder", "link", "short", "other"])
    func pathThatIsNoRingIsReplaced(_ kind: String) throws {
        let file = folder.url.appending(path: "ring")
        switch kind {
        case "folder": try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        case "link": try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/dev/zero")
        case "short": try Data("lardring".utf8).write(to: file)
        default: try Data(repeating: 1, count: 16_384).write(to: file)
        }
        let ring = try open()
        try ring.append(Self.record(1))
        #expect(try open().last == ring.last && ring.isInPlace)
    }

    @Test func deletedFileIsMadeAgainWithLaterNumbers() throws {
        let ring = try open()
        try ring.append(Self.record(1))
        try FileManager.default.removeItem(at: folder.url.appending(path: "ring"))
        #expect(!ring.isInPlace)
        let next = try open(beginningAt: ring.last)
        #expect(next.last == ring.last && next.salt != ring.salt)
        // The records of the former file are not known any more.
        #expect(next.records(after: ring.last - 1) == nil)
    }

    @Test func claimsOfOthersAreSeenUntilTheyEnd() throws {
        let (ours, theirs) = (try open(), try open())
        func seen(_ range: Range<UInt64>) -> Int { ours.othersClaims(in: range).count }
        let first = try #require(theirs.claim(oneOf: 0..<1_000))
        let second = try #require(theirs.claim(oneOf: 1_000..<2_000))
        #expect(seen(0..<3_000) == 2 && seen(1_000..<2_000) == 1 && seen(2_000..<9_000) == 0)
        #expect(theirs.othersClaims(in: 0..<3_000).isEmpty, "one's own")
        second.release()
        #expect(seen(0..<3_000) == 1 && seen(1_000..<2_000) == 0)
        first.release()
        #expect(seen(0..<3_000) == 0)
    }

    @Test func claimsEndWithTheOpeningThatMadeThem() throws {
        let ours = try open()
        do {
            let theirs = try open()
            #expect(theirs.claim(oneOf: 5..<6) != nil && ours.othersClaims(in: 0..<9) == [5..<6])
        }
        #expect(ours.othersClaims(in: 0..<9).isEmpty)
    }

    @Test func claimsAreAmongManyFoundOneByOne() throws {
        let (ours, theirs) = (try open(), try open())
        let claims = (0..<100).compactMap { theirs.claim(oneOf: UInt64($0 * 10)..<UInt64($0 * 10 + 1)) }
        #expect(claims.count == 100 && ours.othersClaims(in: 0..<1_000).count == 100)
        #expect(ours.othersClaims(in: 205..<301).count == 10)
    }
}
