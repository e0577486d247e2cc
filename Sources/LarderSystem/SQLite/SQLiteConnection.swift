import CLarder
import LarderFoundation

/// A connection to a database of SQLite. Blocks, so it is used on threads that may, such as those of `World.blocking(_:)`.
///
/// Nothing that another program has added to the tables is run: triggers and views are off, and functions that have side
/// effects cannot be used by the schema. ``SQLiteFile`` opens connections, and looks after the file.
///
/// ```swift
/// let connection = try SQLiteConnection(path)
/// try connection.transaction {
///     try connection.run("INSERT INTO notes(title, size) VALUES(?, ?)", .text("Shopping"), .integer(12))
/// }
/// let size = try connection.first("SELECT size FROM notes WHERE title=?", .text("Shopping")) { $0.integer(0) }
/// ```
///
/// All methods but ``interrupt()`` throw ``SQLiteFailure`` if SQLite refuses a statement, or if a statement with values has
/// more question marks than values, or fewer.
///
/// `@unchecked Sendable`: one thread at a time uses it, the one that has taken it from its owner.
public final class SQLiteConnection: @unchecked Sendable {
    private let library: SQLiteLibrary
    private let handle: SQLiteLibrary.Handle
    /// The statements that were used before.
    private var statements: [SQL: SQLiteStatement] = [:]
    /// The number of statements that are running, one inside the other.
    private var running = 0
    /// The number of pages in the write-ahead log after the last commit.
    private let pages = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    /// The time that an operation waits for a lock of another process, in milliseconds.
    private let patience = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    /// The functions of the file, which fill what is mapped.
    private let methods = UnsafeMutablePointer<FilledFileMethods>.allocate(capacity: 1)
    private var survivesPowerCuts: Bool?
    /// The file that the connection has opened.
    public let file: FileStamp

    /// The numbers by which `sqlite3_db_config` knows parts of SQLite.
    private static let (triggers, views): (Int32, Int32) = (1_003, 1_015)

    /// The longest time that an operation waits for a lock of another process, in milliseconds.
    private static let longestWait: Int32 = 5_000

    /// The longest time that emptying the log waits for readers, in milliseconds.
    private static let longestWaitForReaders: Int32 = 200

    /// The most statements that are kept for their next use.
    private static let mostStatements = 256

    /// Opens a database that exists. An empty file is one.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - isReader: whether the connection cannot change anything.
    ///   - isAlone: whether no other connection may use the database. Such a connection needs no file for the index of the
    ///     log, so it reads although the disk is full.
    ///   - longestValue: the most bytes of a value or a row. A longer value takes no memory.
    ///   - hasIndexedFunctions: whether indexes of the database may contain functions. SQLite then trusts all that the
    ///     schema names, so check it before: see ``SQLiteSchema``.
    /// - Throws: `SystemLibrary.Failure` if there is no SQLite. ``SQLiteFailure`` if the file cannot be opened, or is no
    ///   database.
    public init(
        _ path: String, isReader: Bool = false, isAlone: Bool = false, longestValue: Int = 1 << 30,
        hasIndexedFunctions: Bool = false
    ) throws {
        library = try SQLiteLibrary.system.get()
        guard let file = Disk.stamp(of: path) else { throw SQLiteFailure(code: 14) }
        self.file = file
        var opened: SQLiteLibrary.Handle?
        // Read and write, without creating a file and without SQLite's own mutexes. Readers, too, must be able to make the
        // index of the log.
        let code = library.open(path, &opened, 0x2 | 0x8000, nil)
        guard let opened else { throw SQLiteFailure(code: code) }
        handle = opened
        pages.initialize(to: 0)
        patience.initialize(to: Self.longestWait)
        methods.initialize(to: FilledFileMethods())
        guard code == 0 else { throw SQLiteFailure(code: code) }
        // SQLite's own handler soon tries ten times a second only, and rarely meets the moment between two transactions of a
        // process that writes without a pause.
        _ = library.waitWhenBusy(
            handle,
            { context, calls in
                let patience = context?.assumingMemoryBound(to: Int32.self).pointee ?? 0
                if calls >= patience { return 0 }
                usleep(1_000)
                return 1
            }, patience)
        // The log stays when the last connection is closed. SQLite would remove it by its name, which may already belong
        // to another database.
        var keepsLog: Int32 = 1
        _ = library.control(handle, "main", 10, &keepsLog)
        // The index of the log is mapped.
        var openFile: UnsafeMutableRawPointer?
        if library.control(handle, "main", 7, &openFile) == 0, let openFile {
            larder_fill_mapped_parts(openFile, methods)
        }
        for part in [Self.triggers, Self.views] { _ = larder_sqlite_configure(library.configure, handle, part, 0) }
        _ = library.limit(handle, 0, Int32(clamping: longestValue))
        _ = library.observeLog(
            handle,
            { context, _, _, pages in
                context?.assumingMemoryBound(to: Int32.self).pointee = pages
                return 0
            }, pages)
        if isAlone { try run("PRAGMA locking_mode=EXCLUSIVE") }
        if isReader { try run("PRAGMA query_only=ON") }
        try run("PRAGMA temp_store=MEMORY")
        // To some versions of SQLite, the functions that read JSON are among those that need trust.
        if !hasIndexedFunctions { try run("PRAGMA trusted_schema=OFF") }
        try run("PRAGMA cell_size_check=ON")
    }

    deinit {
        forgetStatements()
        _ = library.close(handle)
        pages.deallocate()
        patience.deallocate()
        methods.deallocate()
    }

    // MARK: Statements

    /// Runs statements without values.
    public func run(_ sql: String) throws {
        if library.execute(handle, sql, nil, nil, nil) != 0 { throw failure }
    }

    /// Runs a statement to its end. `values` take the places of the question marks in it.
    public func run(_ sql: String, _ values: SQLiteValue...) throws { try run(sql, values) }

    /// Runs a statement to its end. `values` take the places of the question marks in it.
    public func run(_ sql: String, _ values: [SQLiteValue]) throws {
        try step(try prepared(sql, values)) { _ in false }
    }

    /// Returns what `read` makes of the first row; nil if there is none. `read` must not run the same statement.
    public func first<Result>(
        _ sql: String, _ values: SQLiteValue..., read: (SQLiteStatement) throws -> Result
    ) throws -> Result? {
        var result: Result?
        try step(try prepared(sql, values)) { row in
            result = try read(row)
            return false
        }
        return result
    }

    /// Calls `body` with each row until it returns false. The body must not run the same statement.
    public func each(_ sql: String, _ values: SQLiteValue..., body: (SQLiteStatement) throws -> Bool) throws {
        try step(try prepared(sql, values), body)
    }

    /// Calls `body` with each row until it returns false. The body must not run the same statement.
    public func each(_ sql: String, _ values: [SQLiteValue], body: (SQLiteStatement) throws -> Bool) throws {
        try step(try prepared(sql, values), body)
    }

    /// Returns the number of steps that SQLite's machine has taken for a statement since this was asked before: a measure of its
    /// work that does not depend on the speed of the device. 0 if the statement was not run lately.
    public func takeWork(of sql: String) -> Int {
        statements[SQL(text: sql)].map { Int(library.statementStatus($0.handle, 4, 1)) } ?? 0
    }

    /// The number of rows that the last `INSERT`, `UPDATE` or `DELETE` has changed.
    public var changes: Int { Int(library.changedRows(handle)) }

    /// The number of the row that was inserted last; 0 if none was.
    public var lastRow: Int64 { library.lastRow(handle) }

    /// Checks the structure of the whole file, and that all indexes fit their tables. This takes long for a large file.
    ///
    /// Most damage is noticed by the statement that meets it. An index that lacks a row is not: the row is not found.
    ///
    /// - Throws: ``SQLiteFailure/damaged`` if the file is damaged.
    public func checkIntegrity() throws {
        guard try first("PRAGMA integrity_check(1)", read: { $0.text(0) }) == "ok" else { throw SQLiteFailure.damaged }
    }

    /// Ends the statement that is running, which throws ``SQLiteFailure`` then. A transaction that it changes is taken back.
    ///
    /// This is the only method that another thread may call at any time.
    public func interrupt() { library.interrupt(handle) }

    // MARK: Transactions

    /// Runs `body` in a transaction. Nothing has changed if it throws.
    ///
    /// - Throws: the error of `body`. ``SQLiteFailure`` if the transaction cannot begin or end: for example because another
    ///   connection has held the database for 5 seconds, or because this one is in a transaction.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try transaction(beginning: "BEGIN IMMEDIATE", body)
    }

    /// Runs `body`, all of whose reads see the database as it is at the first of them.
    ///
    /// - Throws: the error of `body`. ``SQLiteFailure`` if the connection is in a transaction.
    public func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try transaction(beginning: "BEGIN", body)
    }

    private func transaction<Result>(beginning begin: String, _ body: () throws -> Result) throws -> Result {
        // With values, though none: these statements are kept for their next use.
        try run(begin, [])
        do {
            let result = try body()
            try run("COMMIT", [])
            return result
        } catch {
            // After some failures, SQLite has done that already.
            if isInTransaction { try? run("ROLLBACK") }
            throw error
        }
    }

    /// Whether a transaction has begun that has not ended.
    public var isInTransaction: Bool { library.isOutsideTransaction(handle) == 0 }

    /// Sets whether commits wait until they survive a power cut. If not, they survive the end of the process.
    public func survivePowerCuts(_ survives: Bool) throws {
        if survives == survivesPowerCuts { return }
        try run(survives ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL")
        survivesPowerCuts = survives
    }

    // MARK: The write-ahead log

    /// The ways to copy the write-ahead log into the database.
    public enum LogCopy: Sendable {
        /// Copies what no reader needs. The log stays.
        case partly
        /// Copies all and empties the log, unless a reader prevents it.
        case whole
        /// Does the same, and waits for readers for a moment.
        case wholeAfterReaders
    }

    /// The number of pages in the write-ahead log after the last commit of this connection.
    public var logPages: Int { Int(pages.pointee) }

    /// Copies the write-ahead log into the database.
    ///
    /// - Returns: whether all of it was copied, and emptied if that was asked for.
    func copyLog(_ mode: LogCopy) throws -> Bool {
        var (all, copied): (Int32, Int32) = (0, 0)
        patience.pointee = mode == .wholeAfterReaders ? Self.longestWaitForReaders : 0
        let code = library.checkpoint(handle, nil, mode == .partly ? 0 : 3, &all, &copied)
        patience.pointee = Self.longestWait
        if code & 0xFF == 5 { return false }
        guard code == 0 else { throw failure }
        if mode != .partly { pages.pointee = 0 }
        return all == copied
    }

    // MARK: Calls

    private var failure: SQLiteFailure { SQLiteFailure(code: library.extendedCode(handle)) }

    private func prepared(_ sql: String, _ values: [SQLiteValue]) throws -> SQLiteStatement {
        let statement = try statement(sql)
        // A place without a value would be null.
        if values.count != statement.placeCount { throw SQLiteFailure(code: 25) }
        for (number, value) in values.enumerated() where statement.bind(value, at: Int32(number + 1)) != 0 {
            defer { statement.reset() }
            throw failure
        }
        return statement
    }

    private func statement(_ sql: String) throws -> SQLiteStatement {
        if let statement = statements[SQL(text: sql)] { return statement }
        var prepared: SQLiteLibrary.Handle?
        // The statement is kept, so SQLite may spend memory on it.
        guard library.prepare(handle, sql, -1, 1, &prepared, nil) == 0, let prepared else {
            throw SQLiteFailure(ofStatement: library.extendedCode(handle))
        }
        if statements.count >= Self.mostStatements, running == 0 { forgetStatements() }
        let statement = SQLiteStatement(prepared, in: library)
        statements[SQL(text: sql)] = statement
        return statement
    }

    private func forgetStatements() {
        for statement in statements.values { _ = library.finalize(statement.handle) }
        statements = [:]
    }

    /// Runs a statement until `body` returns false, and resets it.
    private func step(_ statement: SQLiteStatement, _ body: (SQLiteStatement) throws -> Bool) throws {
        running += 1
        defer {
            running -= 1
            statement.reset()
        }
        while true {
            switch library.step(statement.handle) {
            case 100: if try !body(statement) { return }
            case 101: return
            case 18 where library.isReading(statement.handle) != 0: throw SQLiteFailure.damaged
            default: throw failure
            }
        }
    }
}
