import LarderFoundation

/// Base64 with one text for the same bytes.
enum Base64 {
    /// Returns the text of `bytes`.
    static func text(of bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Returns the bytes of a text. Returns nil if the text has other characters, other padding or unused bits.
    static func bytes(of text: some StringProtocol) -> [UInt8]? {
        guard let data = Data(base64Encoded: String(text)) else { return nil }
        let bytes = Array(data)
        return Self.text(of: bytes) == text ? bytes : nil
    }
}
