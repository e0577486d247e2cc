import LarderCore

/// The field `ETag` of an answer (RFC 9110, section 8.8.3).
///
/// A text that is not a valid tag names no version. Sent back, it could mean something else: `*` is any version.
enum HTTPEntityTag {
    /// Returns the tag in the fields of an answer; nil if there is none that is valid.
    static func tag(in fields: Fields) -> String? { fields["etag"].flatMap { isValid($0) ? $0 : nil } }

    /// Returns whether a text is a tag: `"1"`, or `W/"1"` if it is weak.
    static func isValid(_ text: String) -> Bool { isStrong(text.hasPrefix("W/") ? text.dropFirst(2) : text[...]) }

    /// Returns whether a text is a strong tag, which names one sequence of bytes.
    static func isStrong(_ text: some StringProtocol) -> Bool {
        let bytes = Array(text.utf8)
        let quote = UInt8(ascii: "\"")
        guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != quote && $0 != 0x7F }
    }
}
