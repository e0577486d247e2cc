import LarderSystem
import Testing

@testable import LarderEditions

@Suite struct PublicKeyTests {
    @Test func keyIsReadFromItsText() throws {
        let key = try TestKey.release().publicKey
        #expect(PublicKey(key.description) == key)
        #expect(key.description.hasPrefix("ed25519:"))
        #expect(key.description.utf8.count == 8 + 44)
    }

    @Test func idIsTheBeginningOfTheDigest() throws {
        let key = try TestKey.release().publicKey
        #expect(key.id == String(SHA256.hex(key.bytes).prefix(16)))
    }

    @Test func otherTextsAreNoKeys() throws {
        let text = try TestKey.release().publicKey.description
        // 32 bytes leave two bits of the last letter unused, which must be zero.
        let last = text.dropLast().last!
        let other = String(text.dropLast(2)) + String(UnicodeScalar(last.asciiValue! + 1)) + "="
        let wrong = [
            "", "ed25519:", String(text.dropFirst(8)), "ED25519:" + text.dropFirst(8), text + "\n", " " + text,
            String(text.dropLast()), text + "=", "ed25519: " + text.dropFirst(8), other,
            "rsa:" + text.dropFirst(8),
        ]
        for text in wrong { #expect(PublicKey(text) == nil, "\(text)") }
    }
}
