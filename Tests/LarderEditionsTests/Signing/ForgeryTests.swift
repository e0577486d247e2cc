import LarderSimulation
import Testing

@testable import LarderEditions

/// Changes to signed files by somebody who has no key that counts.
private struct Forger {
    var generator: SeededGenerator
    /// Signed files, each with its kind.
    let originals: [SignedFile]
    let foreign: SigningKey

    /// Returns bytes, the kind as which they are read, and the kind of forgery.
    mutating func next() throws -> (bytes: [UInt8], kind: SignedFile.Kind, how: Int) {
        let file = originals[generator.roll(originals.count)]
        let other = originals[generator.roll(originals.count)]
        var bytes = file.bytes
        let head = bytes.count - file.payload.count
        let how = generator.roll(14)
        switch how {
        case 0: bytes[generator.roll(bytes.count)] ^= 1 << UInt8(generator.roll(8))
        case 1: bytes = Array(bytes.prefix(generator.roll(bytes.count)))
        case 2: bytes += (0...generator.roll(4)).map { _ in UInt8(generator.roll(256)) }
        case 3: return (bytes, file.kind == .channel ? .edition : .channel, how)
        case 4: bytes = Array(bytes.prefix(head)) + other.payload
        case 5:
            var copy = file
            copy.signatures = other.signatures
            bytes = copy.bytes
        case 6:
            var copy = try SignedFile(file.kind, payload: file.payload + [UInt8(generator.roll(256))])
            try copy.sign(with: foreign)
            bytes = copy.bytes
        case 7:
            // The id of a key that counts, with a signature of another key.
            var copy = try SignedFile(file.kind, payload: file.payload)
            try copy.sign(with: foreign)
            copy.signatures[0].keyID = file.signatures[0].keyID
            bytes = copy.bytes
        case 8:
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let line = generator.roll(lines.count)
            bytes = Array((lines[...line] + lines[line...]).joined(separator: [UInt8(ascii: "\n")]))
        case 9: bytes = bytes.flatMap { $0 == UInt8(ascii: "\n") ? [UInt8(ascii: "\r"), $0] : [$0] }
        case 10: bytes.insert(UInt8(generator.roll(256)), at: generator.roll(bytes.count))
        case 11: bytes.remove(at: generator.roll(bytes.count))
        case 12:
            let (first, second) = (generator.roll(bytes.count), generator.roll(bytes.count))
            bytes.swapAt(first, second)
        default: bytes = (0..<generator.roll(400)).map { _ in UInt8(generator.roll(256)) }
        }
        return (bytes, file.kind, how)
    }
}

@Suite struct ForgeryTests {
    @Test func noneOf10000ForgedFilesIsAccepted() throws {
        let (release, steer) = try (TestKey.release(), TestKey.steer())
        let keys = [release.publicKey, steer.publicKey]
        let texts = [#"{ "number": 1 }"#, #"{ "number": 2 }"#, #"{ "name": "shop" }"#]
        var originals: [SignedFile] = []
        for text in texts {
            for kind in [SignedFile.Kind.channel, .edition] {
                originals.append(try SignedFileTests.signed(kind, payload: Array(text.utf8), by: [release]))
                originals.append(try SignedFileTests.signed(kind, payload: Array(text.utf8), by: [steer, release]))
            }
        }
        for original in originals { #expect(try !original.signers(among: keys).isEmpty) }
        var forger = Forger(generator: SeededGenerator(seed: 42), originals: originals, foreign: try TestKey.foreign())
        var refused: [Int: Int] = [:]
        while refused.values.reduce(0, +) < 10_000 {
            let (bytes, kind, how) = try forger.next()
            // By chance, some changes change nothing, or exchange parts of files that have the same.
            if originals.contains(where: { $0.kind == kind && $0.bytes == bytes }) { continue }
            do {
                let file = try SignedFile(kind, reading: bytes)
                _ = try file.signers(among: keys)
                // A file that lost its first signature, or has them in another order, says the same.
                let isSame = originals.contains { $0.kind == kind && $0.payload == file.payload }
                #expect(isSame, "forgery \(how) was accepted: \(String(decoding: bytes, as: UTF8.self))")
                if isSame { continue }
            } catch is EditionError {
                refused[how, default: 0] += 1
            }
        }
        #expect(refused.count == 14)
    }
}
