import LarderSystem
import LarderCore

/// The tables of a database.
///
/// - `entries`: the entries. New ones get increasing row numbers, which are never used again, so that rows are added at the
///   end of the table.
/// - `tags`: the digests of the entries' tags.
/// - `uses`: how often entries were read, and when.
/// - `removals`: what was removed lately, for other processes.
/// - `totals`: the numbers of all entries, in a single row.
enum SQLiteSchema {
    /// The number of this form of the tables. Later versions of Larder may have larger ones.
    static let version = 1
    /// The number by which programs such as `file` know the databases of Larder. It has the version, too, so that a
    /// damaged version is not taken for a later one.
    private static let application = Int64(0x4C61_7200)

    private static let tables = """
        CREATE TABLE entries(
          id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, at INTEGER NOT NULL, size INTEGER NOT NULL,
          state INTEGER NOT NULL, file INTEGER, head BLOB NOT NULL, payload BLOB NOT NULL);
        CREATE INDEX entries_by_hash ON entries(hash);
        CREATE UNIQUE INDEX entries_by_file ON entries(file) WHERE file IS NOT NULL;
        CREATE TABLE tags(tag INTEGER, entry INTEGER, PRIMARY KEY(tag, entry)) WITHOUT ROWID;
        CREATE TABLE uses(entry INTEGER PRIMARY KEY, at INTEGER NOT NULL, count INTEGER NOT NULL);
        CREATE TABLE removals(
          id INTEGER PRIMARY KEY AUTOINCREMENT, process INTEGER NOT NULL, at INTEGER NOT NULL, kind INTEGER NOT NULL,
          text BLOB NOT NULL);
        CREATE TABLE totals(
          id INTEGER PRIMARY KEY, next INTEGER NOT NULL, entries INTEGER NOT NULL, size INTEGER NOT NULL,
          pinned_entries INTEGER NOT NULL, pinned_size INTEGER NOT NULL, seal INTEGER NOT NULL);
        """

    /// Returns the number of the form of the tables in a database; 0 if there are no tables.
    ///
    /// - Throws: ``StoreError`` if a later version of Larder has made the database. ``SQLiteFailure/damaged`` if the tables
    ///   have another form, or if there is anything else, such as a view or a trigger.
    static func version(of connection: SQLiteConnection) throws -> Int64 {
        let found = try connection.first("PRAGMA user_version") { $0.integer(0) } ?? 0
        let mark = try connection.first("PRAGMA application_id") { $0.integer(0) } ?? 0
        guard found == 0 && mark == 0 || mark == application &+ found else { throw SQLiteFailure.damaged }
        if found > version {
            throw StoreError("the database was made by a later version of Larder, and is left as it is")
        }
        guard try statements(of: connection) == (found == 0 ? [] : expected) else { throw SQLiteFailure.damaged }
        return found
    }

    /// The statements that make the tables, in order.
    private static let expected: [String] = {
        let statements = tables.split(separator: ";").map { $0.drop { $0.isWhitespace } }.filter { !$0.isEmpty }
        // SQLite makes this one itself.
        return (statements.map(String.init) + ["CREATE TABLE sqlite_sequence(name,seq)"]).sorted()
    }()

    /// Returns the statements that have made all that is in a database, in order.
    private static func statements(of connection: SQLiteConnection) throws -> [String] {
        var statements: [String] = []
        try connection.each("SELECT sql FROM sqlite_master LIMIT ?", .integer(expected.count + 1)) { row in
            statements.append(String(decoding: row.bytes(0), as: UTF8.self))
            return true
        }
        return statements.sorted()
    }

    /// Throws an error unless the tables are those of this version.
    static func check(_ connection: SQLiteConnection) throws {
        guard try version(of: connection) == version else { throw SQLiteFailure.damaged }
    }

    /// Makes the tables that are missing.
    ///
    /// - Throws: ``StoreError`` if a later version of Larder has made the database.
    static func prepare(_ connection: SQLiteConnection) throws {
        let found = try self.version(of: connection)
        // Lets a removal shorten the file: see `incremental_vacuum`. In other databases it would only write.
        if found == 0 { try connection.run("PRAGMA auto_vacuum=INCREMENTAL") }
        let mode = try connection.first("PRAGMA journal_mode=WAL") { $0.bytes(0) }
        guard mode.map({ $0.elementsEqual("wal".utf8) }) == true else {
            throw StoreError("the file system cannot hold a database with a write-ahead log")
        }
        try connection.run("PRAGMA journal_size_limit=4194304")
        try connection.run("PRAGMA secure_delete=FAST")
        try connection.run("PRAGMA cache_size=-8192")
        try connection.run("PRAGMA fullfsync=ON")
        if found == version { return }
        try connection.transaction {
            // Another process may have been faster.
            if try connection.first("PRAGMA user_version", read: { $0.integer(0) }) == Int64(version) { return }
            try connection.run(tables)
            try connection.run("PRAGMA application_id=\(application + Int64(version))")
            try connection.run("PRAGMA user_version=\(version)")
            try SQLiteTotals().save(connection)
        }
    }
}

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
