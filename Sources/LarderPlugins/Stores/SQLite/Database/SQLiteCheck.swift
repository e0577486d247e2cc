import LarderBase
import LarderCore

/// Checks a database with a connection of its own, page by page, so that others can go on reading and writing. Blocks.
struct SQLiteCheck {
    /// A payload in a file, to be checked.
    private struct PayloadToCheck {
        var id: Int64
        var file: Int64
        var size: Int
        var digest: [UInt8]
    }

    private let connection: SQLiteConnection
    private let payloads: SQLitePayloads
    private let progress: @Sendable (Double) -> Void
    private(set) var findings = SQLiteFindings()

    /// The rows that are checked together.
    private static let page = 64
    /// The records of tags that are checked together.
    private static let tagPage = 1_000
    /// The share of the rows in all of the work.
    private static let shareOfRows = 0.9

    /// Checks with a connection that nothing else uses meanwhile.
    init(
        _ connection: SQLiteConnection, _ payloads: SQLitePayloads, progress: @escaping @Sendable (Double) -> Void
    ) {
        self.connection = connection
        self.payloads = payloads
        self.progress = progress
    }

    /// Checks everything.
    ///
    /// - Throws: ``SQLiteFailure`` whose ``SQLiteFailure/isDamaged`` is set if SQLite cannot read the file.
    mutating func run() throws {
        if try SQLiteSchema.version(of: connection) == 0 { return }
        let verdict = try connection.first("PRAGMA quick_check(1)") { String(decoding: $0.bytes(0), as: UTF8.self) }
        findings.isFileDamaged = verdict != "ok"
        try checkTotals()
        let rows = try connection.first("SELECT count(*) FROM entries") { $0.integer(0) } ?? 0
        var position = Int64.min
        while let last = try checkRows(after: position) {
            position = last
            progress(min(1, Double(findings.checked) / Double(max(1, rows))) * Self.shareOfRows)
        }
        try checkTags()
        let unused = "SELECT count(*) FROM uses WHERE entry NOT IN (SELECT id FROM entries)"
        findings.uses = try connection.first(unused) { Int($0.integer(0)) } ?? 0
        findings.files = try payloads.countUnnamed(connection)
        progress(1)
    }

    private mutating func checkTotals() throws {
        findings.hasWrongTotals = try connection.snapshot {
            let saved = try SQLiteTotals.saved(connection)
            return try saved != SQLiteTotals.counted(connection, next: saved?.next ?? 1)
        }
    }

    // MARK: Rows

    /// Checks the next rows.
    ///
    /// - Returns: the number of the last one; nil if there are no more.
    private mutating func checkRows(after position: Int64) throws -> Int64? {
        var last: Int64?
        var inFiles: [PayloadToCheck] = []
        try connection.snapshot {
            let columns = SQLiteRow.columns + ", " + SQLiteRow.payloadColumn
            let sql = "SELECT \(columns) FROM entries WHERE id > ?2 ORDER BY id LIMIT ?3"
            let longest = connection.longestPayload
            try connection.each(sql, .integer(longest), .integer(position), .integer(Self.page)) { statement in
                let id = statement.integer(0)
                last = id
                findings.checked += 1
                guard let (row, head) = try soundRow(statement) else {
                    findings.damaged.append(id)
                    return true
                }
                if let file = row.file {
                    inFiles.append(
                        PayloadToCheck(id: id, file: file, size: head.payloadSize, digest: row.digest))
                } else {
                    let payload = statement.data(7)
                    if payload.count != head.payloadSize || !SQLiteChecksum.check(payload, row.digest) {
                        findings.damaged.append(id)
                    }
                }
                return true
            }
        }
        for payload in inFiles where try !payloads.isIntact(payload.file, size: payload.size, digest: payload.digest) {
            // Another process may have replaced the entry, and deleted the file, meanwhile.
            let isNamed = try connection.first(
                "SELECT 1 FROM entries WHERE id=? AND file=?", .integer(payload.id), .integer(payload.file)
            ) { _ in true }
            if isNamed != nil { findings.damaged.append(payload.id) }
        }
        return last
    }

    /// Returns a row if its seal, its digest of the key and the records of its tags are sound, and no later row has the same
    /// key.
    private mutating func soundRow(_ statement: SQLiteStatement) throws -> (SQLiteRow, EncodedHead)? {
        guard let row = try? SQLiteRow(reading: statement), let head = try? EncodedHead(of: row.head),
            let key = head.key, row.hash == SQLiteRow.hash(of: key), row.isTagged == !head.metadata.tags.isEmpty
        else { return nil }
        var (isFound, isReplaced) = (false, false)
        try connection.each("SELECT id, \(SQLiteRow.headColumn) FROM entries WHERE hash=?", .integer(row.hash)) {
            other in
            let id = other.integer(0)
            if id == row.id { isFound = true }
            if id > row.id, (try? EncodedHead(of: other.bytes(1)))?.isOf(key) == true { isReplaced = true }
            return true
        }
        if !isFound { findings.hasWrongIndex = true }
        if isReplaced { return nil }
        for tag in head.metadata.tags {
            let found = try connection.first(
                "SELECT 1 FROM tags WHERE tag=? AND entry=?", .integer(SQLiteRow.hash(of: tag)), .integer(row.id)
            ) { _ in true }
            if found == nil { return nil }
        }
        return (row, head)
    }

    // MARK: Tags

    /// Looks for records of tags whose entry is gone or has no such tag.
    private mutating func checkTags() throws {
        let sql = """
            SELECT t.tag, t.entry, e.id, \(SQLiteRow.headColumn) FROM tags t LEFT JOIN entries e ON e.id = t.entry
            WHERE (t.tag, t.entry) > (?, ?) ORDER BY t.tag, t.entry LIMIT ?
            """
        // The tags of damaged entries are not known. Their records are removed with them.
        let damaged = Set(findings.damaged)
        var last = SQLiteFindings.Tag(tag: .min, entry: .min)
        var count = 0
        repeat {
            count = 0
            try connection.each(sql, .integer(last.tag), .integer(last.entry), .integer(Self.tagPage)) { record in
                count += 1
                last = SQLiteFindings.Tag(tag: record.integer(0), entry: record.integer(1))
                if record.optional(2) == nil {
                    findings.tags.append(last)
                } else if !damaged.contains(last.entry), let head = try? EncodedHead(of: record.bytes(3)),
                    !head.metadata.tags.contains(where: { SQLiteRow.hash(of: $0) == last.tag })
                {
                    findings.tags.append(last)
                }
                return true
            }
        } while count == Self.tagPage
    }
}
