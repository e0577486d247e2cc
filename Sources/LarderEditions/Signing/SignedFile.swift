import LarderSystem

/// A channel or an edition with its signatures.
///
/// The file begins with the line `larder-signed/1`. A line `KEYID BASE64` follows for each signature, then an empty line,
/// then the payload, byte for byte. Each signature is one of the line `larder-channel/1` or `larder-edition/1` and the
/// payload, so a signed edition cannot stand for a channel.
public struct SignedFile: Hashable, Sendable {
    /// A kind of signed file.
    public enum Kind: String, Sendable {
        /// A channel, which says who gets which edition.
        case channel = "larder-channel/1"
        /// An edition, which has the policies.
        case edition = "larder-edition/1"
    }

    /// One signature.
    struct Signature: Hashable {
        /// The ``PublicKey/id`` of the key.
        var keyID: String
        /// The 64 bytes.
        var bytes: [UInt8]
    }

    /// The largest size of a signed file, in bytes.
    public static let mostBytes = 4_000_000
    static let mostSignatures = 16
    static let firstLine = "larder-signed/1"

    /// The kind.
    public let kind: Kind
    /// The signed content.
    public let payload: [UInt8]
    var signatures: [Signature] = []

    /// Makes a file without signatures.
    ///
    /// - Throws: ``EditionError`` if the payload is larger than 4 MB.
    public init(_ kind: Kind, payload: [UInt8]) throws(EditionError) {
        guard payload.count <= Self.mostBytes else { throw .tooLarge(kind) }
        (self.kind, self.payload) = (kind, payload)
    }

    /// The digest by which a channel names an edition: `sha256:` and the SHA-256 of the payload in hexadecimal digits.
    ///
    /// Signatures do not count. So a file that was signed once more is still the one that the channel names.
    public var digest: String { "sha256:" + SHA256.hex(payload) }

    /// The ids of the keys that signed the file, according to the file. Nothing is verified.
    public var keyIDs: [String] { signatures.map(\.keyID) }

    /// The bytes that are signed.
    private var message: [UInt8] { Array("\(kind.rawValue)\n".utf8) + payload }

    /// Adds a signature, which replaces an earlier one by the same key.
    ///
    /// - Throws: ``EditionError`` if the file has 16 signatures of other keys, or is larger than 4 MB afterwards.
    public mutating func sign(with key: SigningKey) throws {
        var others = signatures
        others.removeAll { $0.keyID == key.publicKey.id }
        guard others.count < Self.mostSignatures else {
            throw EditionError(.badFile, "\(kind.inWords) has \(Self.mostSignatures) signatures already")
        }
        var copy = self
        copy.signatures = others + [Signature(keyID: key.publicKey.id, bytes: try key.signature(of: message))]
        guard copy.bytes.count <= Self.mostBytes else { throw EditionError.tooLarge(kind) }
        self = copy
    }

    /// Returns those of `keys` that signed the file.
    ///
    /// - Throws: ``EditionError`` with the code `badSignature` if a signature in the name of one of the keys is wrong,
    ///   with `unknownKey` if no signature is in the name of one of them. `SystemLibrary.Failure` on Linux if libcrypto is
    ///   missing.
    public func signers(among keys: [PublicKey]) throws -> [PublicKey] {
        let message = message
        let signers = try keys.filter { key in
            guard let signature = signatures.first(where: { $0.keyID == key.id }) else { return false }
            guard try key.verifies(signature.bytes, of: message) else {
                throw EditionError(.badSignature, "\(kind.inWords) was changed after it was signed by key \(key.id)")
            }
            return true
        }
        if signers.isEmpty {
            let names = signatures.isEmpty ? "it has no signature" : "it is signed by " + keyIDs.joined(separator: ", ")
            throw EditionError(.unknownKey, "\(kind.inWords) is signed by no known key: \(names)")
        }
        return signers
    }
}

extension SignedFile.Kind {
    /// `channel`.
    var noun: String {
        switch self {
        case .channel: "channel"
        case .edition: "edition"
        }
    }

    /// `the channel`.
    var inWords: String { "the \(noun)" }
}

extension EditionError {
    static func tooLarge(_ kind: SignedFile.Kind) -> EditionError {
        EditionError(.tooLarge, "\(kind.inWords) is larger than 4 MB")
    }
}
