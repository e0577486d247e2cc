import LarderFoundation
import LarderSystem

/// The public half of an Ed25519 key, which checks signatures.
///
/// Its text is `ed25519:` and the base64 of its 32 bytes, as `larder edition key` prints it.
public struct PublicKey: Hashable, Sendable, CustomStringConvertible {
    private static let prefix = "ed25519:"

    /// The 32 bytes of the key.
    let bytes: [UInt8]

    /// A short name for messages and signed files: the first 16 hexadecimal digits of the SHA-256 of the 32 bytes.
    public let id: String

    /// Reads the text of a key. Returns nil if the text is not that of an Ed25519 key.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let bytes = Base64.bytes(of: text.dropFirst(Self.prefix.count)) else {
            return nil
        }
        self.init(bytes: bytes)
    }

    /// Makes a key of its 32 bytes. Returns nil if there are more or fewer.
    init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
        id = String(SHA256.hex(bytes).prefix(16))
    }

    /// The text of the key.
    public var description: String { Self.prefix + Base64.text(of: bytes) }

    /// Whether `signature` is a signature of `message` by this key.
    ///
    /// - Throws: `SystemLibrary.Failure` on Linux if libcrypto is missing.
    public func verifies(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
        guard signature.count == 64 else { return false }
        return try Ed25519.verifies(signature, of: message, key: bytes)
    }
}
