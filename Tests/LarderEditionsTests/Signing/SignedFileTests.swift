import LarderSystem
import Testing

@testable import LarderEditions

@Suite struct SignedFileTests {
    static let payload = Array(#"{ "format": "larder-edition/1" }"#.utf8)

    static func signed(
        _ kind: SignedFile.Kind = .edition, payload: [UInt8] = payload, by keys: [SigningKey]
    ) throws -> SignedFile {
        var file = try SignedFile(kind, payload: payload)
        for key in keys { try file.sign(with: key) }
        return file
    }

    @Test func fileIsReadAsItWasWritten() throws {
        let file = try Self.signed(by: [TestKey.release(), TestKey.steer()])
        let read = try SignedFile(.edition, reading: file.bytes)
        #expect(read == file)
        #expect(read.bytes == file.bytes)
    }

    @Test func formIsThatOfTheDocumentation() throws {
        let key = try TestKey.release()
        let file = try Self.signed(by: [key])
        let message = Array("larder-edition/1\n".utf8) + Self.payload
        let text = "larder-signed/1\n\(key.publicKey.id) \(Base64.text(of: try key.signature(of: message)))\n\n"
        #expect(file.bytes == Array(text.utf8) + Self.payload)
    }

    @Test func signersAreThoseOfTheKeysThatSigned() throws {
        let (release, steer, foreign) = try (TestKey.release(), TestKey.steer(), TestKey.foreign())
        let file = try Self.signed(by: [release, foreign])
        #expect(try file.signers(among: [steer.publicKey, release.publicKey]) == [release.publicKey])
        #expect(file.keyIDs == [release.publicKey.id, foreign.publicKey.id])
    }

    @Test func fileOfUnknownKeyIsRefused() throws {
        let key = try TestKey.release().publicKey
        for signers in [[], [try TestKey.foreign()]] {
            let file = try Self.signed(by: signers)
            let error = #expect(throws: EditionError.self) { try file.signers(among: [key]) }
            #expect(error?.code == .unknownKey)
            #expect(throws: EditionError.self) { try file.signers(among: []) }
        }
    }

    @Test func wrongSignatureOfKnownKeyIsRefusedBesideRightOne() throws {
        var file = try Self.signed(by: [TestKey.release(), TestKey.steer()])
        file.signatures[1].bytes[5] ^= 1
        let keys = try [TestKey.release().publicKey, TestKey.steer().publicKey]
        let error = #expect(throws: EditionError.self) { try file.signers(among: keys) }
        #expect(error?.code == .badSignature)
    }

    @Test func signatureOfAnEditionIsNoneOfAChannel() throws {
        let key = try TestKey.release()
        let bytes = try Self.signed(.edition, by: [key]).bytes
        let error = #expect(throws: EditionError.self) {
            try SignedFile(.channel, reading: bytes).signers(among: [key.publicKey])
        }
        #expect(error?.code == .badSignature)
    }

    @Test func digestStaysWhenASignatureIsAdded() throws {
        let one = try Self.signed(by: [TestKey.release()])
        let two = try Self.signed(by: [TestKey.release(), TestKey.steer()])
        #expect(one.digest == two.digest)
        #expect(one.digest == "sha256:" + SHA256.hex(Self.payload))
        #expect(try Self.signed(payload: [1], by: []).digest != one.digest)
    }

    @Test func secondSignatureOfOneKeyReplacesTheFirst() throws {
        let file = try Self.signed(by: [TestKey.release(), TestKey.release()])
        #expect(file.keyIDs == [try TestKey.release().publicKey.id])
    }

    @Test func seventeenthSignatureIsRefused() throws {
        var file = try SignedFile(.edition, payload: Self.payload)
        for _ in 0..<16 { try file.sign(with: .generate()) }
        #expect(try SignedFile(.edition, reading: file.bytes) == file)
        #expect(throws: EditionError.self) { try file.sign(with: .generate()) }
        file.signatures.append(SignedFile.Signature(keyID: "0123456789abcdef", bytes: Array(repeating: 0, count: 64)))
        #expect(throws: EditionError.self) { try SignedFile(.edition, reading: file.bytes) }
    }

    @Test func fileOver4MBIsRefused() throws {
        let largest = try SignedFile(.edition, payload: Array(repeating: 32, count: 4_000_000 - 17))
        #expect(largest.bytes.count == 4_000_000)
        #expect(try SignedFile(.edition, reading: largest.bytes) == largest)
        let error = #expect(throws: EditionError.self) { try SignedFile(.edition, reading: largest.bytes + [32]) }
        #expect(error?.code == .tooLarge)
        #expect(throws: EditionError.self) {
            var file = largest
            try file.sign(with: TestKey.release())
        }
    }

    @Test func fileThatIsWrittenInAnotherWayIsRefused() throws {
        let file = try Self.signed(by: [TestKey.release()])
        let text = String(decoding: file.bytes, as: UTF8.self)
        let line = file.signatures[0].line
        let (id, signature) = (line.prefix(16), line.dropFirst(17))
        func with(_ other: some StringProtocol) -> String { text.replacing(line, with: other) }
        let wrong = [
            "", "larder-signed/1", "larder-signed/1\n", "\n" + text, "\u{FEFF}" + text,
            text.replacing("/1\n", with: "/1 \n"),
            text.replacing("larder-signed/1", with: "larder-signed/2"), text.replacing("\n", with: "\r\n"),
            text.replacing("larder-signed/1\n", with: "larder-signed/1\n\n"), with(line + "\n" + line),
            with(line + " "),
            with(line.uppercased()), with(id + "  " + signature), with(id + "\t" + signature), with(" " + line),
            with(id.dropLast() + " " + signature), with(id + "0 " + signature), with(id.uppercased() + " " + signature),
            with(id + " " + signature.dropLast()), with(id + " " + signature + "="),
            with(id + " " + signature.dropLast(4)),
            with("\(id) \(signature.dropLast(3))B=="), with(id), with(signature), String(text.prefix(100)),
            text.replacing("\n\n", with: "\n"), text.replacing("\n\n", with: "\n \n"),
            text.replacing("\n\n", with: "\n\0\n"),
        ]
        for text in wrong {
            let error = #expect(throws: EditionError.self, "\(text)") {
                // Some of these are read as files with an empty line at another place, which have another payload.
                try SignedFile(.edition, reading: Array(text.utf8)).signers(among: [TestKey.release().publicKey])
            }
            #expect(error?.code == .badFile || error?.code == .unknownKey)
        }
    }
}
