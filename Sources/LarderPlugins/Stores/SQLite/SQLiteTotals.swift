import LarderSystem

/// The numbers of all entries in a database.
struct SQLiteTotals: Equatable {
    /// The number of the next new row.
    var next: Int64 = 1
    var entries = 0
    var size = 0
    var pinnedEntries = 0
    var pinnedSize = 0

    /// The checksum of the numbers.
    private var seal: Int64 {
        let numbers = [next, Int64(entries), Int64(size), Int64(pinnedEntries), Int64(pinnedSize)]
        return Int64(bitPattern: numbers.withUnsafeBytes { Checksum.of($0) })
    }

    mutating func add(_ row: SQLiteRow) { change(by: 1, row) }

    mutating func remove(_ row: SQLiteRow) { change(by: -1, row) }

    private mutating func change(by sign: Int, _ row: SQLiteRow) {
        // Damage must not overflow the sums. They are counted again when it is noticed.
        entries &+= sign
        size &+= sign &* row.size
        if row.isPinned { (pinnedEntries, pinnedSize) = (pinnedEntries &+ sign, pinnedSize &+ sign &* row.size) }
    }

    /// Reads the numbers. Counts again if they are damaged.
    static func read(_ connection: SQLiteConnection) throws -> SQLiteTotals {
        try saved(connection) ?? counted(connection)
    }

    /// Reads the numbers. Returns nil if they are damaged.
    static func saved(_ connection: SQLiteConnection) throws -> SQLiteTotals? {
        let found = try connection.first("SELECT next, entries, size, pinned_entries, pinned_size, seal FROM totals") {
            let totals = SQLiteTotals(
                next: $0.integer(0), entries: Int(clamping: $0.integer(1)), size: Int(clamping: $0.integer(2)),
                pinnedEntries: Int(clamping: $0.integer(3)), pinnedSize: Int(clamping: $0.integer(4)))
            return $0.integer(5) == totals.seal ? totals : nil
        }
        return found.flatMap { $0 }
    }

    /// Counts the entries.
    ///
    /// - Parameter next: the least number of the next new row.
    static func counted(_ connection: SQLiteConnection, next: Int64 = 1) throws -> SQLiteTotals {
        var totals = SQLiteTotals()
        // Numbers that no row can have are left out.
        let sql = """
            SELECT count(*), total(size), total(state & 1), total(size * (state & 1)), max(id) FROM entries
            WHERE size BETWEEN 0 AND 1 << 46 AND id BETWEEN 1 AND 1 << 60
            """
        try connection.each(sql) { row in
            totals = SQLiteTotals(
                next: max(next, row.integer(4) &+ 1), entries: Int(clamping: row.integer(0)),
                size: Int(clamping: row.integer(1)),
                pinnedEntries: Int(clamping: row.integer(2)), pinnedSize: Int(clamping: row.integer(3)))
            return false
        }
        return totals
    }

    func save(_ connection: SQLiteConnection) throws {
        try connection.run(
            "INSERT OR REPLACE INTO totals VALUES(1, ?, ?, ?, ?, ?, ?)", .integer(next), .integer(entries),
            .integer(size), .integer(pinnedEntries), .integer(pinnedSize), .integer(seal))
    }
}
