/// The functions of the system's SQLite, which is looked up when it is first needed. See ``SQLiteConnection`` for its use.
///
/// `@unchecked Sendable`: nothing is ever changed, and SQLite's functions may be called from any thread, each connection by
/// one thread at a time.
public final class SQLiteLibrary: @unchecked Sendable {
    typealias Handle = UnsafeMutableRawPointer

    /// The library of this process, or the reason why there is none. It stays loaded until the process ends.
    public static let system = Result { () throws(SystemLibrary.Failure) in try SQLiteLibrary() }

    /// The oldest version that works: earlier ones are not tested.
    private static let oldest: (number: Int32, name: String) = (3_031_000, "3.31")

    let open:
        @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Handle?>, Int32, UnsafePointer<CChar>?) -> Int32
    let close: @convention(c) (Handle) -> Int32
    let extendedCode: @convention(c) (Handle) -> Int32
    let waitWhenBusy: @convention(c) (Handle, BusyHandler?, UnsafeMutableRawPointer?) -> Int32
    let execute: @convention(c) (Handle, UnsafePointer<CChar>, Handle?, Handle?, Handle?) -> Int32
    let prepare:
        @convention(c) (Handle, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutablePointer<Handle?>, Handle?) -> Int32
    let step: @convention(c) (Handle) -> Int32
    let reset: @convention(c) (Handle) -> Int32
    let finalize: @convention(c) (Handle) -> Int32
    let bindInteger: @convention(c) (Handle, Int32, Int64) -> Int32
    /// The last argument says whether SQLite copies the bytes: -1 if it does.
    let bindBytes: @convention(c) (Handle, Int32, UnsafeRawPointer?, Int32, Int) -> Int32
    /// The last argument says the same. The one before is the size of the text.
    let bindText: @convention(c) (Handle, Int32, UnsafePointer<UInt8>?, Int32, Int) -> Int32
    let bindDouble: @convention(c) (Handle, Int32, Double) -> Int32
    let bindNull: @convention(c) (Handle, Int32) -> Int32
    let placeCount: @convention(c) (Handle) -> Int32
    let forgetBindings: @convention(c) (Handle) -> Int32
    let integer: @convention(c) (Handle, Int32) -> Int64
    let double: @convention(c) (Handle, Int32) -> Double
    let text: @convention(c) (Handle, Int32) -> UnsafePointer<UInt8>?
    let bytes: @convention(c) (Handle, Int32) -> UnsafeRawPointer?
    let byteCount: @convention(c) (Handle, Int32) -> Int32
    let type: @convention(c) (Handle, Int32) -> Int32
    let control: @convention(c) (Handle, UnsafePointer<CChar>?, Int32, UnsafeMutableRawPointer?) -> Int32
    let observeLog: @convention(c) (Handle, LogObserver?, UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    let checkpoint:
        @convention(c) (Handle, UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>)
            -> Int32
    let isOutsideTransaction: @convention(c) (Handle) -> Int32
    let isReading: @convention(c) (Handle) -> Int32
    let changedRows: @convention(c) (Handle) -> Int32
    let lastRow: @convention(c) (Handle) -> Int64
    let interrupt: @convention(c) (Handle) -> Void
    /// The last argument says whether the number begins at 0 again.
    let statementStatus: @convention(c) (Handle, Int32, Int32) -> Int32
    let limit: @convention(c) (Handle, Int32, Int32) -> Int32
    /// The function `sqlite3_db_config`, whose number of arguments varies.
    let configure: UnsafeRawPointer

    /// A function that SQLite calls after each commit, with the number of pages in the write-ahead log.
    typealias LogObserver =
        @convention(c) (UnsafeMutableRawPointer?, Handle?, UnsafePointer<CChar>?, Int32) -> Int32

    /// A function that SQLite calls while another connection holds a lock, with the number of earlier calls. It returns 0 to
    /// give up.
    typealias BusyHandler = @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32

    private let library: SystemLibrary

    /// Looks up SQLite.
    ///
    /// - Throws: ``SystemLibrary/Failure`` if SQLite is missing, is too old, or was built for programs with one thread.
    init(files: [String] = SQLiteLibrary.files) throws(SystemLibrary.Failure) {
        let package = "libsqlite3-0"
        let library = try SystemLibrary("SQLite", files: files, package: package, staysLoaded: true)
        let version = try library.function("sqlite3_libversion_number", as: (@convention(c) () -> Int32).self)()
        guard version >= Self.oldest.number else {
            let own = "\(version / 1_000_000).\(version / 1_000 % 1_000)"
            throw SystemLibrary.Failure(
                "SQLite \(own) is too old: update the package \(package) to \(Self.oldest.name) or later")
        }
        guard try library.function("sqlite3_threadsafe", as: (@convention(c) () -> Int32).self)() != 0 else {
            throw SystemLibrary.Failure("this SQLite was built for programs with a single thread")
        }
        open = try library.function("sqlite3_open_v2", as: Self.type(of: \.open))
        close = try library.function("sqlite3_close_v2", as: Self.type(of: \.close))
        extendedCode = try library.function("sqlite3_extended_errcode", as: Self.type(of: \.extendedCode))
        waitWhenBusy = try library.function("sqlite3_busy_handler", as: Self.type(of: \.waitWhenBusy))
        execute = try library.function("sqlite3_exec", as: Self.type(of: \.execute))
        prepare = try library.function("sqlite3_prepare_v3", as: Self.type(of: \.prepare))
        step = try library.function("sqlite3_step", as: Self.type(of: \.step))
        reset = try library.function("sqlite3_reset", as: Self.type(of: \.reset))
        finalize = try library.function("sqlite3_finalize", as: Self.type(of: \.finalize))
        bindInteger = try library.function("sqlite3_bind_int64", as: Self.type(of: \.bindInteger))
        bindBytes = try library.function("sqlite3_bind_blob", as: Self.type(of: \.bindBytes))
        bindText = try library.function("sqlite3_bind_text", as: Self.type(of: \.bindText))
        bindDouble = try library.function("sqlite3_bind_double", as: Self.type(of: \.bindDouble))
        bindNull = try library.function("sqlite3_bind_null", as: Self.type(of: \.bindNull))
        placeCount = try library.function("sqlite3_bind_parameter_count", as: Self.type(of: \.placeCount))
        forgetBindings = try library.function("sqlite3_clear_bindings", as: Self.type(of: \.forgetBindings))
        integer = try library.function("sqlite3_column_int64", as: Self.type(of: \.integer))
        double = try library.function("sqlite3_column_double", as: Self.type(of: \.double))
        text = try library.function("sqlite3_column_text", as: Self.type(of: \.text))
        bytes = try library.function("sqlite3_column_blob", as: Self.type(of: \.bytes))
        byteCount = try library.function("sqlite3_column_bytes", as: Self.type(of: \.byteCount))
        type = try library.function("sqlite3_column_type", as: Self.type(of: \.type))
        control = try library.function("sqlite3_file_control", as: Self.type(of: \.control))
        observeLog = try library.function("sqlite3_wal_hook", as: Self.type(of: \.observeLog))
        checkpoint = try library.function("sqlite3_wal_checkpoint_v2", as: Self.type(of: \.checkpoint))
        isOutsideTransaction = try library.function("sqlite3_get_autocommit", as: Self.type(of: \.isOutsideTransaction))
        isReading = try library.function("sqlite3_stmt_readonly", as: Self.type(of: \.isReading))
        changedRows = try library.function("sqlite3_changes", as: Self.type(of: \.changedRows))
        lastRow = try library.function("sqlite3_last_insert_rowid", as: Self.type(of: \.lastRow))
        interrupt = try library.function("sqlite3_interrupt", as: Self.type(of: \.interrupt))
        statementStatus = try library.function("sqlite3_stmt_status", as: Self.type(of: \.statementStatus))
        limit = try library.function("sqlite3_limit", as: Self.type(of: \.limit))
        configure = UnsafeRawPointer(try library.address(of: "sqlite3_db_config"))
        self.library = library
    }

    /// Returns the type of a function, which is written once, where the function is declared.
    private static func type<Function>(of function: KeyPath<SQLiteLibrary, Function>) -> Function.Type { Function.self }

    private static var files: [String] {
        #if canImport(Darwin)
            ["/usr/lib/libsqlite3.dylib"]
        #else
            ["libsqlite3.so.0", "libsqlite3.so"]
        #endif
    }
}
