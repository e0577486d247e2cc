/// The text of an Ed25519 private key (RFC 8410).
enum PrivateKeyPEM {
    private static let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----")

    /// The bytes of the structure before the 32 bytes of the key: its version, the algorithm, and the lengths.
    private static let head: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]

    /// Returns the 32 bytes of the key in a text.
    static func seed(in text: String) throws(SigningKey.Failure) -> [UInt8] {
        let lines = text.split(whereSeparator: \.isNewline).map { line in
            String(line.reversed().drop { $0 == " " }.reversed())
        }
        guard lines.count <= 100, let first = lines.firstIndex(of: begin), let last = lines.firstIndex(of: end),
            first < last
        else {
            let isLocked = text.contains("ENCRYPTED PRIVATE KEY")
            let reason =
                isLocked
                ? "the key has a password; write it without one: openssl pkey -in KEY -out FILE"
                : "this is no private key in PEM; 'larder edition key' and openssl genpkey -algorithm ed25519 make one"
            throw SigningKey.Failure(description: reason)
        }
        let bytes = Base64.bytes(of: lines[(first + 1)..<last].joined())
        guard let bytes, bytes.count == head.count + 32, bytes.starts(with: head) else {
            throw SigningKey.Failure(
                description: "this is no Ed25519 key; openssl genpkey -algorithm ed25519 makes one")
        }
        return Array(bytes.dropFirst(head.count))
    }

    /// Returns the text of a key of 32 bytes.
    static func text(ofSeed seed: [UInt8]) -> String {
        "\(begin)\n\(Base64.text(of: head + seed))\n\(end)\n"
    }
}
