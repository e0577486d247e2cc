import LarderFoundation
import LarderSystem
import LarderCore

extension SQLiteTransaction {
    /// Marks the selected entries as expired.
    func expire(_ selection: Selection) throws {
        try each(selection) { try expire($0) }
    }

    /// Removes the selected entries, and those under the keys.
    ///
    /// - Throws: ``SQLiteFailure/damaged`` if any of them is still there.
    func remove(_ selection: Selection, and keys: [Key]) throws {
        if case .all = selection {
            try removeAll()
            let left = try connection.first("SELECT 1 FROM entries") { _ in true }
            if left != nil { throw SQLiteFailure.damaged }
        } else {
            _ = try remove(selection, and: keys, most: .max)
            // Statements that do nothing are not believed.
            try each(selection) { _ in throw SQLiteFailure.damaged }
            for key in keys where try !rows(of: key).isEmpty { throw SQLiteFailure.damaged }
        }
    }

    /// Removes at most `count` of the entries.
    ///
    /// - Returns: whether all are removed.
    func remove(_ selection: Selection, and keys: [Key], most count: Int) throws -> Bool {
        // SQLite overwrites the bytes of the rows. Copies that it made while it moved rows may be left.
        try connection.run("PRAGMA secure_delete=ON")
        defer { try? connection.run("PRAGMA secure_delete=FAST") }
        var left = count
        func delete(_ row: SQLiteRow) throws {
            if left == 0 { throw IsIncomplete() }
            try self.delete(row)
            left -= 1
        }
        do {
            try each(selection, delete)
            for key in keys { for row in try rows(of: key) { try delete(row) } }
            return true
        } catch is IsIncomplete { return false }
    }

    private struct IsIncomplete: Error {}

    private func removeAll() throws {
        try connection.each("SELECT file FROM entries WHERE file IS NOT NULL") {
            obsoleteFiles.append($0.integer(0))
            return true
        }
        for table in ["entries", "tags", "uses"] { try connection.run("DELETE FROM \(table)") }
        totals = SQLiteTotals(next: totals.next)
    }

    /// Calls `body` with each selected row. Deletes damaged rows among those that it reads.
    private func each(_ selection: Selection, _ body: (SQLiteRow) throws -> Void) throws {
        for id in try ids(selection) {
            guard let row = try row(id) else { continue }
            let head = try EncodedHead(of: row.head)
            // Two accounts or tags can have the same digest.
            if let key = head.key, selection.contains(key, Entry(Data(), head.metadata)) { try body(row) }
        }
    }

    /// Returns the numbers of all rows that may be selected.
    private func ids(_ selection: Selection) throws -> [Int64] {
        var ids: [Int64] = []
        func add(_ row: SQLiteStatement) -> Bool {
            ids.append(row.integer(0))
            return true
        }
        switch selection {
        case .key(let key):
            try connection.each("SELECT id FROM entries WHERE hash=?", .integer(SQLiteRow.hash(of: key)), body: add)
        case .scope(let scope):
            let range = SQLiteRow.range(of: scope)
            try connection.each(
                "SELECT id FROM entries WHERE hash BETWEEN ? AND ?", .integer(range.lowerBound),
                .integer(range.upperBound), body: add)
        case .tag(let tag):
            try connection.each("SELECT entry FROM tags WHERE tag=?", .integer(SQLiteRow.hash(of: tag)), body: add)
        case .all: try connection.each("SELECT id FROM entries", body: add)
        }
        return ids
    }

    // MARK: Other processes

    /// The time in which other processes can notice a removal, in nanoseconds.
    private static let noticeTime: Int64 = 60_000_000_000

    /// Notes a removal or an expiry for other processes. The name of an account is not written: they drop all entries that
    /// they keep in memory instead.
    func announce(_ selection: Selection, _ process: Int64) throws {
        let kind: Int
        var text = ""
        switch selection {
        case .key(let key) where key.scope == nil: (kind, text) = (1, key.text)
        case .tag(let tag): (kind, text) = (2, tag)
        case .key, .scope, .all: kind = 0
        }
        // Other processes take a gap in the numbers for a removal of everything.
        if case .all = selection { try connection.run("DELETE FROM removals") }
        try connection.run(
            "DELETE FROM removals WHERE at NOT BETWEEN ? AND ?", .integer(now.nanoseconds &- Self.noticeTime),
            .integer(now.nanoseconds &+ Self.noticeTime))
        try connection.run(
            "INSERT INTO removals(process, at, kind, text) VALUES(?, ?, ?, ?)", .integer(process),
            .integer(now.nanoseconds), .integer(kind), .bytes(Array(text.utf8)))
    }
}
