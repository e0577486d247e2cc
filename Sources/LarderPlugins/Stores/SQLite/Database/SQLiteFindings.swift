import LarderBase
import LarderCore

/// The findings of a check of a database.
struct SQLiteFindings: Sendable {
    /// A record of a tag.
    struct Tag: Sendable {
        var tag: Int64
        var entry: Int64
    }

    /// The file that was checked; nil if there is none.
    var file: FileStamp?
    /// The number of rows that were checked.
    var checked = 0
    /// The numbers of the damaged rows.
    var damaged: [Int64] = []
    /// The records of tags that belong to no entry.
    var tags: [Tag] = []
    /// The number of records of uses that belong to no entry.
    var uses = 0
    /// The number of payload files that no row names.
    var files = 0
    /// Whether the stored totals are not those of the entries.
    var hasWrongTotals = false
    /// Whether the index does not lead to every row.
    var hasWrongIndex = false
    /// Whether SQLite says that the file itself is damaged.
    var isFileDamaged = false

    /// The result of the check, before anything is repaired.
    var verification: StoreVerification {
        var faults: [String] = []
        if isFileDamaged { faults.append("the file of the database is damaged") }
        if hasWrongIndex { faults.append("the index of the database does not fit its rows") }
        if hasWrongTotals { faults.append("the totals of the database are wrong") }
        return StoreVerification(
            checked: checked, damaged: damaged.count, leftovers: tags.count + uses + files, faults: faults)
    }
}
