import LarderFoundation
import LarderSystem
import LarderCore
import Testing

@testable import LarderPlugins

/// Compressed bodies as they are unpacked.
@Suite struct HTTPBodyUnpackerTests {
    private static let compressed = CompressedSample.allCases.filter { $0 != .identity }

    private func body(capacity: Int = .max) -> HTTPBody {
        HTTPBody(capacity: capacity, HTTPBody.Control(resume: {}, cancel: {}))
    }

    private func unpacker(_ sample: CompressedSample) throws -> HTTPBodyUnpacker {
        try HTTPBodyUnpacker([sample.name ?? ""])
    }

    private func append(
        _ bytes: Data, by unpacker: HTTPBodyUnpacker, to body: HTTPBody
    ) throws -> (reception: HTTPBody.Reception, isTaken: Bool) {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(HTTPFailure) in try unpacker.append(bytes, to: body) }
        }.get()
    }

    @Test(arguments: compressed, [1, 2, 3, 7, 10_000])
    func piecesOfAnySizeAreUnpacked(_ sample: CompressedSample, _ size: Int) async throws {
        let (unpacker, body) = (try unpacker(sample), body())
        var rest = sample.packed
        while !rest.isEmpty {
            #expect(!unpacker.isWhole)
            let (reception, isTaken) = try append(rest.prefix(size), by: unpacker, to: body)
            #expect(reception == .goOn && isTaken)
            rest = rest.dropFirst(size)
        }
        #expect(unpacker.isWhole)
        body.finish()
        #expect(try await body.whole() == CompressedSample.content)
    }

    @Test(arguments: [CompressedSample.gzip, .zstd])
    func partsOfAStreamAreJoined(_ sample: CompressedSample) async throws {
        let (unpacker, body) = (try unpacker(sample), body())
        _ = try append(sample.packed + sample.packed, by: unpacker, to: body)
        #expect(unpacker.isWhole)
        body.finish()
        #expect(try await body.whole() == CompressedSample.content + CompressedSample.content)
        _ = try append(sample.packed.prefix(20), by: unpacker, to: body)
        #expect(!unpacker.isWhole)
    }

    @Test(arguments: compressed)
    func damagedStreamCrashesNothing(_ sample: CompressedSample) throws {
        for place in sample.packed.indices {
            var packed = sample.packed
            packed[place] ^= 0x55
            let unpacker = try unpacker(sample)
            // It gives an error or, without a checksum, other bytes.
            _ = try? append(packed, by: unpacker, to: body())
            // The time and the system in the head of gzip, and a window of zstd that is large enough, change nothing.
            let isUnused = sample == .gzip && (4...9).contains(place) || sample == .zstd && place == 5
            if sample.checksumSize > 0, !isUnused { #expect(!unpacker.isWhole, "\(place)") }
        }
    }

    /// A few bytes that unpack to very many.
    static let bombs: [(String, Data)] = [
        ("gzip", Compressed.bombHead + Data(repeating: Compressed.bombByte, count: 100_000)),
        ("br", Compressed.brotliBomb(blocks: 8)), ("zstd", Compressed.zstdBomb(blocks: 1_000)),
    ]

    @Test(arguments: bombs)
    func unpackingStopsUntilTheBodyIsRead(_ name: String, _ bomb: Data) async throws {
        let (unpacker, body) = (try HTTPBodyUnpacker([name]), body())
        var size = 0
        var rounds = 0
        var isTaken = false
        while !isTaken {
            let (reception, taken) = try append(bomb, by: unpacker, to: body)
            #expect(taken || reception == .pause)
            isTaken = taken
            if taken { body.finish() }
            let bytes = try await body.next() ?? Data()
            #expect(bytes == Data(count: bytes.count) && bytes.count < 2 * HTTPBody.mostWaiting)
            size += bytes.count
            rounds += 1
        }
        #expect(size > 100_000_000 && rounds > size / (2 * HTTPBody.mostWaiting))
    }

    @Test(arguments: bombs)
    func capacityCountsUnpackedBytes(_ name: String, _ bomb: Data) async throws {
        let (unpacker, body) = (try HTTPBodyUnpacker([name]), body(capacity: 100_000))
        #expect(try append(bomb, by: unpacker, to: body).reception == .end)
        await #expect(throws: HTTPFailure.largerThanCapacity) { try await body.next() }
    }

    @Test func bytesThatAreBroughtAgainInOtherPiecesAreUnpackedOnce() async throws {
        let (unpacker, body) = (try HTTPBodyUnpacker(["gzip"]), body())
        let content = DownloadServer.content(2_000_000)
        var waiting = Compressed.gzip(content)
        var unpacked = Data()
        for round in 0... {
            // Some pieces are smaller than the part of the bytes that was unpacked before.
            let piece = waiting.prefix([300_001, 700_000, 1, 50_000, 400_000][round % 5])
            let (reception, isTaken) = try append(piece, by: unpacker, to: body)
            if isTaken { waiting = waiting.dropFirst(piece.count) }
            if reception == .pause { unpacked += try await body.next() ?? Data() }
            if waiting.isEmpty { break }
        }
        body.finish()
        unpacked += try await body.whole()
        #expect(unpacked == content && unpacker.isWhole)
    }

    @Test(arguments: [["canary"], ["gzip", "br"], ["gzip", "gzip"], ["identity", "none"], []])
    func otherCodingsAreRefused(_ codings: [String]) {
        #expect(throws: HTTPFailure.undecodable) { try HTTPBodyUnpacker(codings) }
        #expect((try? HTTPBodyUnpacker(["identity", "x-gzip"])) != nil)
    }

    @Test func compressionsAreAskedForWhoseLibrariesAreFound() {
        let names = Unpacker.Format.acceptedCodings.split(separator: ", ").map(String.init)
        #expect(names.contains("gzip") == Unpacker.canUnpack(.gzip))
        #expect(names.contains("br") == Unpacker.canUnpack(.brotli))
        #expect(!names.isEmpty && names.allSatisfy { Unpacker.Format(contentCoding: $0) != nil })
    }

    @Test func windowOfMoreThanEightMegabytesIsRefused() throws {
        // A frame without a size of its own, whose window is 16 MB, with a block of one byte.
        let frame = Data([0x28, 0xB5, 0x2F, 0xFD, 0, 14 << 3, 9, 0, 0, 1])
        #expect(throws: HTTPFailure.undecodable) {
            _ = try append(frame, by: try HTTPBodyUnpacker(["zstd"]), to: body())
        }
    }
}
