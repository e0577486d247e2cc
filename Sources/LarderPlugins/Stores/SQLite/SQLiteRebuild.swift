import LarderFoundation
import LarderSystem
import LarderCore

/// The rows of a database that are put into a new one.
struct SQLiteRebuild {
    private var rows: [(row: SQLiteRow, metadata: Metadata, payload: Data)] = []
    /// The number of the next new row.
    private var next: Int64 = 1

    /// Reads the sound rows that `isKept` selects.
    init(_ connection: SQLiteConnection, longestPayload: Int, isKept: (Metadata, Key) -> Bool) throws {
        next = try SQLiteTotals.read(connection).next
        let sql = "SELECT \(SQLiteRow.columns), \(SQLiteRow.payloadColumn) FROM entries ORDER BY id"
        try connection.each(sql, .integer(longestPayload)) { statement in
            guard let row = try? SQLiteRow(reading: statement), let head = try? EncodedHead(of: row.head),
                let key = head.key, isKept(head.metadata, key)
            else { return true }
            rows.append((row, head.metadata, row.file == nil ? statement.data(7) : Data()))
            return true
        }
    }

    /// Writes the rows.
    func put(_ connection: SQLiteConnection, isDurable: Bool) throws {
        try connection.survivePowerCuts(isDurable)
        try connection.transaction {
            var totals = SQLiteTotals(next: next)
            for (row, metadata, payload) in rows {
                try row.insert(connection, payload: payload)
                for tag in metadata.tags { try row.addTag(tag, connection) }
                totals.add(row)
            }
            try totals.save(connection)
        }
    }
}
