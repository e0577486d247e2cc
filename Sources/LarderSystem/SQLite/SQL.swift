import LarderFoundation

/// The text of a statement, by which the prepared one is found.
///
/// Two texts are equal if they have the same bytes: Swift's strings are also equal if one writes a letter with its accent and
/// the other one writes both apart, and names in a statement may differ in nothing else. Few statements have the same length,
/// so nothing but the length is hashed.
struct SQL: Hashable {
    let text: String

    static func == (left: SQL, right: SQL) -> Bool {
        var (left, right) = (left.text, right.text)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard left.count == right.count, let start = left.baseAddress, let other = right.baseAddress else {
                    return left.isEmpty && right.isEmpty
                }
                return memcmp(start, other, left.count) == 0
            }
        }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(text.utf8.count) }
}
