import LarderFoundation

/// The text of a statement, by which the prepared one is found.
///
/// Texts are compared by their bytes. To Swift, strings that look alike are equal, such as two spellings of `é`, but they name
/// two members of a record.
struct SQL: Hashable {
    let text: String

    static func == (left: SQL, right: SQL) -> Bool {
        if left.text.utf8.count != right.text.utf8.count { return false }
        return left.text.withCString { left in right.text.withCString { right in strcmp(left, right) == 0 } }
    }

    /// Few statements have the same length, so their texts, which are long, are not hashed.
    func hash(into hasher: inout Hasher) { hasher.combine(text.utf8.count) }
}
