/// The field `Content-Range` of an answer with one part (RFC 9110, section 14.4).
struct HTTPContentRange: Equatable {
    /// The offset of the first byte.
    let start: Int
    /// The number of bytes.
    let count: Int
    /// The size of the whole.
    let total: Int

    /// Reads `bytes 100-199/200`. Returns nil if the text has another form, or does not tell the whole size.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let total = Self.number(parts[1]) else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(Self.number)
        guard ends.count == 2, let start = ends[0], let last = ends[1], start <= last, last < total else { return nil }
        (self.start, count, self.total) = (start, last - start + 1, total)
    }

    /// Returns a number of at most 18 digits.
    private static func number(_ text: Substring) -> Int? {
        (1...18).contains(text.utf8.count) && text.utf8.allSatisfy { HTTPText.digit($0) != nil } ? Int(text) : nil
    }
}
