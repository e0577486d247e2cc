import LarderSystem
import LarderCore

/// A removal that was made, but has left files.
struct SQLiteFilesAreLeft: Error {}

extension SQLiteFailure {
    /// Whether one entry can be the cause, so that others may be written.
    var concernsOneEntry: Bool { isFull || isTooLarge }
}

extension StoreError {
    /// The failure of an operation of a database.
    init(_ failure: any Error) {
        switch failure {
        case let failure as StoreError: self = failure
        case let failure as SQLiteFailure where failure == .closed: self.init("the store is closed")
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
