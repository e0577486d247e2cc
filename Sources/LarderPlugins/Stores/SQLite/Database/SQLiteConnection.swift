import LarderFoundation
import CLarder
import LarderSystem

/// A connection to a database. Blocks.
///
/// `@unchecked Sendable`: one thread at a time uses it, the one that has taken it from its owner.
final class SQLiteConnection: @unchecked Sendable {
    private let library: SQLiteLibrary
    private let handle: SQLiteLibrary.Handle
    /// The statements that were used before.
    private var statements: [String: SQLiteStatement] = [:]
    /// The number of pages in the write-ahead log after the last commit.
    private let pages = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    /// The functions of the file, which fill what is mapped.
    private let methods = UnsafeMutablePointer<FilledFileMethods>.allocate(capacity: 1)
    private var survivesPowerCuts: Bool?
    /// The most bytes of a payload that are read from a row.
    let longestPayload: Int
    /// The file that the connection has opened.
    let file: FileStamp

    /// The numbers by which `sqlite3_db_config` knows parts of SQLite.
    private static let (triggers, views): (Int32, Int32) = (1_003, 1_015)

    /// The longest time that an operation waits for a lock of another process, in milliseconds.
    private static let patience: Int32 = 5_000

    /// The longest time that emptying the log waits for readers, in milliseconds.
    private static let patienceForReaders: Int32 = 200

    /// Opens a database that exists.
    ///
    /// - Parameters:
    ///   - isAlone: whether no other connection may use the database. Such a connection needs no file for the index of the
    ///     log, so it reads although the disk is full.
    ///   - longestPayload: the most bytes of a payload that are read from a row. A longer value takes no memory.
    init(_ path: String, isReader: Bool, isAlone: Bool = false, longestPayload: Int = 1 << 30) throws {
        self.longestPayload = longestPayload
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
        methods.initialize(to: FilledFileMethods())
        guard code == 0 else { throw SQLiteFailure(code: code) }
        _ = library.waitWhenBusy(handle, Self.patience)
        // The log stays when the last connection is closed. SQLite would remove it by its name, which may already belong
        // to another database.
        var keepsLog: Int32 = 1
        _ = library.control(handle, "main", 10, &keepsLog)
        // The index of the log is mapped.
        var openFile: UnsafeMutableRawPointer?
        if library.control(handle, "main", 7, &openFile) == 0, let openFile {
            larder_fill_mapped_parts(openFile, methods)
        }
        // Nothing that another program has added to the tables is run.
        for part in [Self.triggers, Self.views] { _ = larder_sqlite_configure(library.configure, handle, part, 0) }
        _ = library.limit(handle, 0, Int32(clamping: longestPayload + 2 * SQLiteRow.longestHead))
        _ = library.observeLog(
            handle,
            { context, _, _, pages in
                context?.assumingMemoryBound(to: Int32.self).pointee = pages
                return 0
            }, pages)
        if isAlone { try run("PRAGMA locking_mode=EXCLUSIVE") }
        if isReader { try run("PRAGMA query_only=ON") }
        try run("PRAGMA temp_store=MEMORY")
        try run("PRAGMA trusted_schema=OFF")
        try run("PRAGMA cell_size_check=ON")
    }

    deinit {
        for statement in statements.values { _ = library.finalize(statement.handle) }
        _ = library.close(handle)
        pages.deallocate()
        methods.deallocate()
    }

    /// The number of pages in the write-ahead log after the last commit of this connection.
    var logPages: Int { Int(pages.pointee) }

    /// Runs statements without values.
    func run(_ sql: String) throws {
        if library.execute(handle, sql, nil, nil, nil) != 0 { throw failure }
    }

    /// Runs a statement to its end.
    func run(_ sql: String, _ values: SQLiteValue...) throws {
        _ = try step(try prepared(sql, values)) { _ in false }
    }

    /// Returns what `read` makes of the first row; nil if there is none.
    func first<Result>(_ sql: String, _ values: SQLiteValue..., read: (SQLiteStatement) throws -> Result) throws
        -> Result?
    {
        var result: Result?
        try step(try prepared(sql, values)) { row in
            result = try read(row)
            return false
        }
        return result
    }

    /// Calls `body` with each row until it returns false. The body must not run the same statement.
    func each(_ sql: String, _ values: SQLiteValue..., body: (SQLiteStatement) throws -> Bool) throws {
        try step(try prepared(sql, values), body)
    }

    /// Runs `body` in a transaction. Nothing has changed if it throws.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try run("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // After some failures, SQLite has done that already.
            if library.isOutsideTransaction(handle) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }

    /// Sets whether commits wait until they survive a power cut. If not, they survive the end of the process.
    func survivePowerCuts(_ survives: Bool) throws {
        if survives == survivesPowerCuts { return }
        try run(survives ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL")
        survivesPowerCuts = survives
    }

    /// The ways to copy the write-ahead log into the database.
    enum LogCopy {
        /// Copies what no reader needs. The log stays.
        case partly
        /// Copies all and empties the log, unless a reader prevents it.
        case whole
        /// Does the same, and waits for readers for a moment.
        case wholeAfterReaders
    }

    /// Copies the write-ahead log into the database.
    ///
    /// - Returns: whether all of it was copied, and emptied if that was asked for.
    func copyLog(_ mode: LogCopy) throws -> Bool {
        var (all, copied): (Int32, Int32) = (0, 0)
        _ = library.waitWhenBusy(handle, mode == .wholeAfterReaders ? Self.patienceForReaders : 0)
        let code = library.checkpoint(handle, nil, mode == .partly ? 0 : 3, &all, &copied)
        _ = library.waitWhenBusy(handle, Self.patience)
        if code & 0xFF == 5 { return false }
        guard code == 0 else { throw failure }
        if mode != .partly { pages.pointee = 0 }
        return all == copied
    }

    private var failure: SQLiteFailure { SQLiteFailure(code: library.extendedCode(handle)) }

    private func prepared(_ sql: String, _ values: [SQLiteValue]) throws -> SQLiteStatement {
        let statement = try statement(sql)
        for (number, value) in values.enumerated() where statement.bind(value, at: Int32(number + 1)) != 0 {
            throw failure
        }
        return statement
    }

    private func statement(_ sql: String) throws -> SQLiteStatement {
        if let statement = statements[sql] { return statement }
        var prepared: SQLiteLibrary.Handle?
        // The statement is kept, so SQLite may spend memory on it.
        guard library.prepare(handle, sql, -1, 1, &prepared, nil) == 0, let prepared else { throw failure }
        let statement = SQLiteStatement(handle: prepared, library: library)
        statements[sql] = statement
        return statement
    }

    /// Runs a statement until `body` returns false, and resets it.
    private func step(_ statement: SQLiteStatement, _ body: (SQLiteStatement) throws -> Bool) throws {
        defer { _ = library.reset(statement.handle) }
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

/// A value in a statement.
enum SQLiteValue {
    case integer(Int64)
    case bytes([UInt8])
    case data(Data)
    case null

    static func integer(_ number: Int) -> SQLiteValue { .integer(Int64(number)) }
}

/// A prepared statement, and the row that it has reached.
struct SQLiteStatement {
    fileprivate let handle: SQLiteLibrary.Handle
    fileprivate let library: SQLiteLibrary

    /// Returns the integer in a column of the row.
    func integer(_ column: Int32) -> Int64 { library.integer(handle, column) }

    /// Returns the integer in a column of the row; nil for null.
    func optional(_ column: Int32) -> Int64? { library.type(handle, column) == 5 ? nil : integer(column) }

    /// Returns the bytes in a column of the row.
    func bytes(_ column: Int32) -> [UInt8] { Array(buffer(column)) }

    /// Returns the bytes in a column of the row.
    func data(_ column: Int32) -> Data { Data(buffer(column)) }

    private func buffer(_ column: Int32) -> UnsafeRawBufferPointer {
        // The bytes must be asked for first: the call may convert the value, which changes its size.
        let start = library.bytes(handle, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(library.byteCount(handle, column)))
    }

    fileprivate func bind(_ value: SQLiteValue, at place: Int32) -> Int32 {
        func bind(_ bytes: UnsafeRawBufferPointer) -> Int32 {
            // Without an address, SQLite would take empty bytes for null.
            withUnsafeBytes(of: 0 as UInt8) { empty in
                library.bindBytes(
                    handle, place, bytes.baseAddress ?? empty.baseAddress, Int32(clamping: bytes.count), -1)
            }
        }
        return switch value {
        case .integer(let number): library.bindInteger(handle, place, number)
        case .bytes(let bytes): bytes.withUnsafeBytes(bind)
        case .data(let data): data.withUnsafeBytes { bind($0) }
        case .null: library.bindNull(handle, place)
        }
    }
}
