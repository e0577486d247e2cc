/// The tables of a database, and the ways from earlier forms of them to the present one.
///
/// A database says in its header which form of which tables it has. ``SQLiteFile`` makes the tables in a new file, brings
/// those of an earlier version forward, leaves those of a later version alone, and takes anything else for damage.
public struct SQLiteSchema: Sendable {
    /// A step from one version of the tables to the next. It runs in the transaction of all steps.
    public typealias Migration = @Sendable (SQLiteConnection) throws -> Void

    private let application: Int64
    private let tables: String
    private let migrations: [Migration]
    private let fill: Migration
    private let indexPrefix: String?
    private let cachedKilobytes: Int

    /// Whether the program makes indexes while it runs, which may contain functions.
    var hasOwnIndexes: Bool { indexPrefix != nil }
    /// The statements that make the tables, in order.
    private let expected: [String]

    /// The number of this form of the tables.
    public var version: Int { migrations.count + 1 }

    /// Tables.
    ///
    /// - Parameters:
    ///   - application: the number by which programs such as `file` know databases of this kind. The version is added to it,
    ///     so that a damaged version is not taken for a later one.
    ///   - tables: the statements that make the tables and indexes, each followed by a semicolon. No other semicolons may be
    ///     in them. The database is damaged if there is anything else in it, or one of them is missing. So no column is
    ///     `UNIQUE`, which makes an index without a statement: write `CREATE UNIQUE INDEX`.
    ///   - indexPrefix: the beginning of the names of indexes that may be there, too, and are not `UNIQUE`; nil for none.
    ///   - cachedKilobytes: the size of the pages that a connection keeps in memory.
    ///   - migrations: the steps from version 1 to 2, from 2 to 3, and so on. The version of the schema is one more than their
    ///     number. Afterwards the tables must be those that `tables` makes, to the letter, so a table that gets a column is
    ///     made anew.
    ///   - fill: writes the first rows of a new database.
    public init(
        application: Int32, tables: String, indexPrefix: String? = nil, cachedKilobytes: Int = 8_192,
        migrations: [Migration] = [], fill: @escaping Migration = { _ in }
    ) {
        self.application = Int64(application)
        (self.tables, self.indexPrefix, self.migrations, self.fill) = (tables, indexPrefix, migrations, fill)
        self.cachedKilobytes = cachedKilobytes
        let statements = tables.split(separator: ";").map { $0.drop { $0.isWhitespace } }.filter { !$0.isEmpty }
        // SQLite makes this one itself.
        let sequence = tables.contains("AUTOINCREMENT") ? ["CREATE TABLE sqlite_sequence(name,seq)"] : []
        expected = (statements.map(String.init) + sequence).sorted()
    }

    /// Returns the version of the tables in a database; 0 if there are no tables.
    ///
    /// - Throws: ``SQLiteFailure/madeLater`` if a later version of the program has made the database.
    ///   ``SQLiteFailure/damaged`` if the tables have another form, or if there is anything else, such as a view or a trigger.
    func version(of connection: SQLiteConnection) throws -> Int {
        let found = try connection.first("PRAGMA user_version") { $0.integer(0) } ?? 0
        let mark = try connection.first("PRAGMA application_id") { $0.integer(0) } ?? 0
        guard found == 0 && mark == 0 || found >= 0 && mark == application + found else { throw SQLiteFailure.damaged }
        if found > version { throw SQLiteFailure.madeLater }
        // The tables of an earlier version are compared when they have been brought forward.
        if found == 0 || found == version { try checkStatements(connection, found == 0 ? [] : expected) }
        return Int(found)
    }

    /// Throws an error unless the tables are those of this version.
    func check(_ connection: SQLiteConnection) throws {
        guard try version(of: connection) == version else { throw SQLiteFailure.damaged }
    }

    /// Throws an error unless these statements have made all that is in a database.
    private func checkStatements(_ connection: SQLiteConnection, _ expected: [String]) throws {
        var found: [String] = []
        try connection.each("SELECT sql, type, name FROM sqlite_master") { row in
            if !isOwnIndex(row.text(2), row.text(1), sql: row.text(0)) { found.append(row.text(0)) }
            return found.count <= expected.count
        }
        guard found.sorted() == expected else { throw SQLiteFailure.damaged }
    }

    /// Returns whether something in a database is an index of the program. One that refuses rows is none.
    private func isOwnIndex(_ name: String, _ kind: String, sql: String) -> Bool {
        guard let indexPrefix, kind == "index" else { return false }
        return name.utf8.starts(with: indexPrefix.utf8) && sql.utf8.starts(with: "CREATE INDEX ".utf8)
    }

    /// Sets how a connection writes, and makes the tables that are missing.
    ///
    /// - Throws: ``SQLiteFailure/madeLater`` if a later version of the program has made the database.
    func prepare(_ connection: SQLiteConnection) throws {
        let found = try version(of: connection)
        // Lets a removal shorten the file: see `incremental_vacuum`. In other databases it would only write.
        if found == 0 { try connection.run("PRAGMA auto_vacuum=INCREMENTAL") }
        guard try connection.first("PRAGMA journal_mode=WAL", read: { $0.text(0) }) == "wal" else {
            throw SQLiteFailure.noLog
        }
        try connection.run("PRAGMA journal_size_limit=4194304")
        try connection.run("PRAGMA secure_delete=FAST")
        try connection.run("PRAGMA cache_size=-\(cachedKilobytes)")
        try connection.run("PRAGMA fullfsync=ON")
        if found == version { return }
        try connection.transaction {
            // Another process may have been faster.
            let found = try version(of: connection)
            if found == version { return }
            if found == 0 {
                try connection.run(tables)
                try fill(connection)
            } else {
                for migration in migrations[(found - 1)...] { try migration(connection) }
            }
            try connection.run("PRAGMA application_id=\(application + Int64(version))")
            try connection.run("PRAGMA user_version=\(version)")
            try checkStatements(connection, expected)
        }
    }
}
