import LarderBase
import LarderCore

/// An operation that SQLite refused. It holds neither a path nor any contents.
struct SQLiteFailure: Error, CustomStringConvertible {
    /// SQLite's extended code of the reason.
    let code: Int32

    /// The code without its details.
    private var reason: Int32 { code & 0xFF }

    /// Whether the disk is full.
    var isFull: Bool { reason == 13 }
    /// Whether another process holds the database.
    var isBusy: Bool { reason == 5 || reason == 6 }
    /// Whether the file is damaged, or is no database. Statements that make no sense for the tables, and rows that may not be
    /// there, are damage of the tables, too.
    var isDamaged: Bool { reason == 1 || reason == 11 || reason == 19 || reason == 26 }
    /// Whether one entry can be the cause, so that others may be written.
    var concernsOneEntry: Bool { reason == 13 || reason == 18 }
    /// Whether the file says that it cannot be written.
    var isReadOnly: Bool { reason == 8 }

    static var damaged: SQLiteFailure { SQLiteFailure(code: 11) }

    var description: String {
        switch reason {
        case 5, 6: "another process holds the database"
        case 13: "the disk is full"
        case 1, 11, 19, 26: "the database is damaged"
        case 8: "the database cannot be written"
        case 10: "the disk failed (SQLite code \(code))"
        case 14: "the database cannot be opened (SQLite code \(code))"
        default: "SQLite failed with code \(code)"
        }
    }
}

extension StoreError {
    /// The failure of an operation of a database.
    init(_ failure: any Error) {
        switch failure {
        case let failure as StoreError: self = failure
        case let failure as SQLiteFailure:
            self.init(failure.description)
            isFull = failure.isFull
        case let failure as Disk.Failure:
            self.init(failure.description)
            isFull = failure.isFull
        case let failure as SystemLibrary.Failure: self.init(failure.description)
        default: self.init("the database failed")
        }
    }
}
