import Larder

/// The expressions of SQL by which records are indexed and queried. An index serves a query only if both are written alike.
enum RecordColumns {
    /// The record as the user sees it: JSON as text.
    static let shown = "coalesce(shown, base)"

    /// Returns the expression of a place in a record; nil if SQLite cannot name the place.
    static func field(_ path: [String]) -> String? {
        place(path).map { "json_extract(\(shown),\($0))" }
    }

    /// Returns the expression of the kind of value at a place in a record; nil if SQLite cannot name the place.
    static func kind(_ path: [String]) -> String? {
        place(path).map { "json_type(\(shown),\($0))" }
    }

    /// Returns the expression of the fact that the texts at a place have no character U+0000, after which SQLite would not
    /// read them; nil if SQLite cannot name the place.
    static func hasWholeTexts(_ path: [String]) -> String? {
        // With two places, SQLite returns a list of the values as they are written. In it, pairs of backslashes are no part of
        // the escape. Few records have any.
        place(path).map { place in
            "(instr(\(shown),'\\u0000') = 0"
                + " OR instr(replace(json_extract(\(shown),\(place),\(place)),'\\\\',''),'\\u0000') = 0)"
        }
    }

    /// Returns a path in the notation of SQLite, in quotes; nil if SQLite cannot name the place.
    static func place(_ path: [String]) -> String? {
        guard !path.isEmpty, path.allSatisfy(isName) else { return nil }
        let steps = path.map { ".\"\($0.replacing("'", with: "''"))\"" }.joined()
        return "'$\(steps)'"
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && !name.unicodeScalars.contains { $0 == "\"" || $0 == "\\" || $0.value < 0x20 }
    }
}
