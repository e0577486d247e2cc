import LarderSystem
import LarderCore

/// An operation that SQLite refused. It holds neither a path nor any contents.
struct SQLiteFailure: Error, CustomStringConvertible {
    /// SQLite's extended code of the reason.
    let code: Int32

    /// The code without its details.
    private var reason: Int32 { code & 0xFF }

    /// Whether the disk is full. The index of the log may be all that cannot be made.
    var isFull: Bool { reason == 13 || code == 4_874 }
    /// Whether the files by which processes share a database may be all that cannot be made.
    var preventsSharing: Bool { isFull || reason == 14 || code == 4_618 || code == 5_386 }
    /// Whether the file is damaged, or is no database. Statements that make no sense for the tables, and rows that may not be
    /// there, are damage of the tables, too.
    var isDamaged: Bool { reason == 1 || reason == 11 || reason == 19 || reason == 26 }
    /// Whether one entry can be the cause, so that others may be written.
    var concernsOneEntry: Bool { isFull || reason == 18 }
    /// Whether the file says that it cannot be written.
    var isReadOnly: Bool { reason == 8 }

    static var damaged: SQLiteFailure { SQLiteFailure(code: 11) }
    static var full: SQLiteFailure { SQLiteFailure(code: 13) }

    var description: String {
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

/// A removal that was made, but has left files.
struct SQLiteFilesAreLeft: Error {}

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
        case is SQLiteFilesAreLeft: self.init("the files of removed entries cannot be deleted")
        case let failure as SystemLibrary.Failure: self.init(failure.description)
        default: self.init("the database failed")
        }
    }
}
