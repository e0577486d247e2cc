import LarderSimulation
import LarderSystem

/// The shortest program that keeps rows in SQLite: one connection, a table with an index of digests as the store has, and
/// prepared statements.
///
/// `@unchecked Sendable`: the benchmark uses it from one task at a time.
final class BareSQLite: @unchecked Sendable {
    private typealias Handle = UnsafeMutableRawPointer

    private let folder: TemporaryFolder
    private let library: SystemLibrary
    private let database: Handle
    private let step: @convention(c) (Handle) -> Int32
    private let reset: @convention(c) (Handle) -> Int32
    private let execute: @convention(c) (Handle, UnsafePointer<CChar>, Handle?, Handle?, Handle?) -> Int32
    private let bindInteger: @convention(c) (Handle, Int32, Int64) -> Int32
    private let bindBytes: @convention(c) (Handle, Int32, UnsafeRawPointer?, Int32, Int) -> Int32
    private let bytes: @convention(c) (Handle, Int32) -> UnsafeRawPointer?
    private let byteCount: @convention(c) (Handle, Int32) -> Int32
    private let closeDatabase: @convention(c) (Handle) -> Int32
    private var insertion: Handle?
    private var search: Handle?

    /// Creates a database in a folder.
    init(in folder: TemporaryFolder) throws {
        self.folder = folder
        #if canImport(Darwin)
            let files = ["/usr/lib/libsqlite3.dylib"]
        #else
            let files = ["libsqlite3.so.0", "libsqlite3.so"]
        #endif
        library = try SystemLibrary("SQLite", files: files, package: "libsqlite3-0", staysLoaded: true)
        typealias Open = @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Handle?>) -> Int32
        typealias Prepare =
            @convention(c) (Handle, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<Handle?>, Handle?) -> Int32
        var opened: Handle?
        _ = try library.function("sqlite3_open", as: Open.self)(folder.path + "/bare", &opened)
        guard let opened else { throw SystemLibrary.Failure("SQLite has no memory left") }
        database = opened
        step = try library.function("sqlite3_step")
        reset = try library.function("sqlite3_reset")
        execute = try library.function("sqlite3_exec")
        bindInteger = try library.function("sqlite3_bind_int64")
        bindBytes = try library.function("sqlite3_bind_blob")
        bytes = try library.function("sqlite3_column_blob")
        byteCount = try library.function("sqlite3_column_bytes")
        closeDatabase = try library.function("sqlite3_close_v2")
        try run("PRAGMA journal_mode=WAL")
        try run("PRAGMA synchronous=NORMAL")
        try run("CREATE TABLE rows(id INTEGER PRIMARY KEY, hash INTEGER, payload BLOB)")
        try run("CREATE INDEX by_hash ON rows(hash)")
        let prepare = try library.function("sqlite3_prepare_v2", as: Prepare.self)
        guard prepare(database, "INSERT INTO rows(hash, payload) VALUES(?, ?)", -1, &insertion, nil) == 0,
            prepare(database, "SELECT payload FROM rows WHERE hash=?", -1, &search, nil) == 0
        else { throw SystemLibrary.Failure("SQLite did not understand a statement") }
    }

    deinit { _ = closeDatabase(database) }

    func run(_ sql: String) throws {
        guard execute(database, sql, nil, nil, nil) == 0 else { throw SystemLibrary.Failure("SQLite failed") }
    }

    func put(_ hash: Int, _ payload: [UInt8]) throws {
        guard let insertion else { return }
        _ = bindInteger(insertion, 1, Int64(hash))
        _ = payload.withUnsafeBytes { bindBytes(insertion, 2, $0.baseAddress, Int32($0.count), -1) }
        defer { _ = reset(insertion) }
        guard step(insertion) == 101 else { throw SystemLibrary.Failure("SQLite failed") }
    }

    func get(_ hash: Int) throws -> [UInt8] {
        guard let search else { return [] }
        _ = bindInteger(search, 1, Int64(hash))
        defer { _ = reset(search) }
        guard step(search) == 100 else { throw SystemLibrary.Failure("there is no such row") }
        let start = bytes(search, 0)
        return Array(UnsafeRawBufferPointer(start: start, count: Int(byteCount(search, 0))))
    }
}
