import LarderFoundation
public import LarderSystem

/// The private half of an Ed25519 key, which signs channels and editions. It is never printed.
public struct SigningKey: Sendable {
    /// The reason why a text is no signing key. It quotes nothing of the text.
    public struct Failure: Error, Hashable, CustomStringConvertible {
        /// The reason.
        public let description: String
    }

    /// The public half.
    public let publicKey: PublicKey
    private let seed: [UInt8]

    /// Reads a key in the form that `openssl genpkey -algorithm ed25519` writes: PKCS#8 in PEM, without a password.
    ///
    /// - Throws: ``Failure`` if the text is not such a key, `SystemLibrary.Failure` on Linux if libcrypto is missing.
    public init(pem: String) throws {
        try self.init(seed: try PrivateKeyPEM.seed(in: pem))
    }

    private init(seed: [UInt8]) throws {
        self.seed = seed
        guard let publicKey = PublicKey(bytes: try Ed25519.publicKey(ofSeed: seed)) else {
            throw Failure(description: "the key has no public key")
        }
        self.publicKey = publicKey
    }

    /// Makes a new key of the random numbers of `world`. Those of the real world are secure.
    ///
    /// - Throws: `SystemLibrary.Failure` on Linux if libcrypto is missing.
    public static func generate(in world: any World = SystemWorld()) throws -> SigningKey {
        let words = (0..<4).map { _ in world.random() }
        return try SigningKey(seed: words.flatMap { word in withUnsafeBytes(of: word.littleEndian, Array.init) })
    }

    /// The key as PKCS#8 in PEM, which openssl reads. Keep it secret.
    public var pem: String { PrivateKeyPEM.text(ofSeed: seed) }

    /// Returns the 64 bytes of a signature of `message`.
    ///
    /// - Throws: `SystemLibrary.Failure` on Linux if libcrypto is missing.
    public func signature(of message: [UInt8]) throws -> [UInt8] {
        try Ed25519.signature(of: message, seed: seed)
    }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The short name of the public key, and nothing of the private one.
    public var description: String { "signing key \(publicKey.id)" }

    /// The description.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}
