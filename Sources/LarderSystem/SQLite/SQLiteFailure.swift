/// An operation on a database that failed. It holds neither a path nor any contents.
public struct SQLiteFailure: Error, Hashable, CustomStringConvertible {
    private enum Cause: Hashable {
        /// SQLite returned a code.
        case code(Int32)
        /// SQLite returned a code before the statement ran.
        case statement(Int32)
        /// The owner has closed the database.
        case closed
        /// A later version of the program has made the database.
        case later
        /// The file system cannot hold a write-ahead log.
        case noLog
    }

    private let cause: Cause

    /// The failure of a call of SQLite.
    ///
    /// - Parameter code: SQLite's extended code.
    public init(code: Int32) { cause = .code(code) }

    /// The failure to prepare a statement.
    init(ofStatement code: Int32) { cause = .statement(code) }

    private init(_ cause: Cause) { self.cause = cause }

    /// The failure of an operation that has found damage.
    public static var damaged: SQLiteFailure { SQLiteFailure(code: 11) }
    /// The failure of an operation for which the disk has no room.
    public static var full: SQLiteFailure { SQLiteFailure(code: 13) }
    /// The failure of each operation after ``SQLiteFile/close()``.
    public static var closed: SQLiteFailure { SQLiteFailure(.closed) }
    /// The failure to open a database that a later version of the program has made. It is left as it is.
    public static var madeLater: SQLiteFailure { SQLiteFailure(.later) }
    /// The failure to open a database on a file system that cannot hold a write-ahead log.
    static var noLog: SQLiteFailure { SQLiteFailure(.noLog) }

    /// SQLite's extended code of the reason; 0 if SQLite itself has not failed.
    public var code: Int32 {
        switch cause {
        case .code(let code), .statement(let code): code
        case .closed, .later, .noLog: 0
        }
    }

    /// The code without its details.
    private var reason: Int32 { code & 0xFF }

    /// Whether the disk is full. The index of the log may be all that cannot be made.
    public var isFull: Bool { reason == 13 || code == 4_874 }
    /// Whether the files by which processes share a database may be all that cannot be made.
    var preventsSharing: Bool { isFull || reason == 14 || code == 4_618 || code == 5_386 }
    /// Whether the file is damaged, or is no database. Statements that make no sense for the tables, and rows that may not be
    /// there, are damage of the tables, too.
    public var isDamaged: Bool { isRefusal || reason == 11 || reason == 26 }
    /// Whether SQLite refused a statement, because it makes no sense for the tables, or for a row that may not be there.
    public var isRefusal: Bool { reason == 1 || reason == 19 }
    /// Whether a row has a value that another one has, and that only one may have.
    public var isOfTakenValue: Bool { code == 2_067 }
    /// Whether a statement with values failed before it ran: what it says is wrong, or too complex, whatever is in the rows.
    public var isOfStatement: Bool { if case .statement = cause { true } else { false } }
    /// Whether a value or a row is longer than the connection allows.
    public var isTooLarge: Bool { reason == 18 }
    /// Whether the file says that it cannot be written.
    public var isReadOnly: Bool { reason == 8 }
    /// Whether another process or connection held the database for longer than an operation waits.
    public var isBusy: Bool { reason == 5 || reason == 6 }
    /// Whether ``SQLiteConnection/interrupt()`` has ended the operation.
    public var isInterrupted: Bool { reason == 9 }

    /// The reason in words, such as "the disk is full".
    public var description: String {
        switch cause {
        case .closed: return "the database is closed"
        case .later: return "the database was made by a later version of Larder, and is left as it is"
        case .noLog: return "the file system cannot hold a database with a write-ahead log"
        case .code(let code), .statement(let code):
            if isFull { return "the disk is full" }
            return switch reason {
            case 5, 6: "another process holds the database"
            case 1, 11, 19, 26: "the database is damaged"
            case 8: "the database cannot be written"
            case 10: "the disk failed (SQLite code \(code))"
            case 14: "the database cannot be opened (SQLite code \(code))"
            default: "SQLite failed with code \(code)"
            }
        }
    }
}
