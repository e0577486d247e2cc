import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderEditions

@Suite struct SigningKeyTests {
    /// A test of RFC 8032, section 7.1. All texts are hexadecimal.
    struct Vector: Sendable {
        var seed: String
        var publicKey: String
        var message: String
        var signature: String

        static let all = [
            Vector(
                seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", message: "",
                signature: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                    + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
            Vector(
                seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", message: "72",
                signature: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                    + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
            Vector(
                seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", message: "af82",
                signature: "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                    + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"),
        ]
    }

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
    }

    private static func pem(_ seed: String) -> String { PrivateKeyPEM.text(ofSeed: bytes(seed)) }

    @Test(arguments: Vector.all) func vectorOfRFC8032IsVerified(_ vector: Vector) throws {
        let key = try SigningKey(pem: Self.pem(vector.seed)).publicKey
        #expect(key.bytes == Self.bytes(vector.publicKey))
        let (signature, message) = (Self.bytes(vector.signature), Self.bytes(vector.message))
        #expect(try key.verifies(signature, of: message))
        #expect(try !key.verifies(signature, of: message + [0]))
    }

    /// CryptoKit adds random bits to its signatures.
    #if !canImport(CryptoKit)
        @Test(arguments: Vector.all) func signatureIsThatOfRFC8032(_ vector: Vector) throws {
            let key = try SigningKey(pem: Self.pem(vector.seed))
            #expect(try key.signature(of: Self.bytes(vector.message)) == Self.bytes(vector.signature))
        }
    #endif

    @Test func signatureOfAnotherLengthIsRefused() throws {
        let key = try TestKey.release()
        let signature = try key.signature(of: [1])
        #expect(try !key.publicKey.verifies(Array(signature.dropLast()), of: [1]))
        #expect(try !key.publicKey.verifies(signature + [0], of: [1]))
        #expect(try !key.publicKey.verifies([], of: [1]))
    }

    @Test func pemIsReadAsItWasWritten() throws {
        let key = try TestKey.release()
        #expect(try SigningKey(pem: key.pem).publicKey == key.publicKey)
        let windows = key.pem.replacing("\n", with: "\r\n")
        #expect(try SigningKey(pem: "a comment\n" + windows).pem == key.pem)
    }

    @Test func twoNewKeysDiffer() throws {
        #expect(try SigningKey.generate().publicKey != SigningKey.generate().publicKey)
    }

    @Test(arguments: [
        "", "ed25519:AAAA", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----\n-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEICanaryCanary\n-----END PRIVATE KEY-----",
        // A key of X25519.
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VuBCIEIKjjtSV7Bcanarycanarycanarycanarycanaryyyyyy\n"
            + "-----END PRIVATE KEY-----",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGbcanary\n-----END ENCRYPTED PRIVATE KEY-----",
        String(repeating: "-----BEGIN PRIVATE KEY-----\n", count: 1_000),
    ]) func textThatIsNoKeyIsRefusedWithoutBeingQuoted(_ text: String) {
        let error = #expect(throws: SigningKey.Failure.self) { try SigningKey(pem: text) }
        #expect(error?.description.contains("canary") == false)
        #expect(error?.description.contains("openssl") == true)
    }

    @Test func keyIsNeverPrinted() throws {
        let key = try TestKey.release()
        var dumped = ""
        dump(key, to: &dumped)
        let secret = key.pem.split(separator: "\n")[1].suffix(43)
        for text in ["\(key)", String(reflecting: key), "\([key])", "\(Optional(key) as Any)", dumped] {
            #expect(text.contains(key.publicKey.id))
            #expect(!text.contains(secret))
            #expect(!text.contains(", "), "bytes of the key are listed")
        }
    }

    #if !canImport(CryptoKit)
        @Test func missingLibraryNamesThePackageToInstall() {
            let error = #expect(throws: SystemLibrary.Failure.self) { try CryptoLibrary(files: ["libnone.so.7"]) }
            #expect(error?.description == "libcrypto is missing: install the package libssl3")
        }
    #endif
}

/// Keys that are the same in every run.
enum TestKey {
    static func release() throws -> SigningKey { try key(1) }
    static func steer() throws -> SigningKey { try key(2) }
    static func foreign() throws -> SigningKey { try key(3) }

    private static func key(_ seed: UInt64) throws -> SigningKey {
        var generator = SeededGenerator(seed: seed)
        return try SigningKey(pem: PrivateKeyPEM.text(ofSeed: (0..<32).map { _ in UInt8(generator.roll(256)) }))
    }
}
