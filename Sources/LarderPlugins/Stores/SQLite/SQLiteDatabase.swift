import LarderBase
import LarderCore

/// The file of a database and the connections to it: one that writes, and some that read. Blocks.
///
/// The file is opened when it is first used. It is opened again, or made again, if another program has deleted or replaced
/// it. A damaged file is set aside, and a new one is begun.
final class SQLiteDatabase: Sendable {
    private struct State {
        var writer: SQLiteConnection?
        var isClosed = false
    }

    /// The path of the file.
    let path: String
    private let folder: String
    /// Holding the place prevents its folder from being deleted.
    private let place: StorePlace?
    private let state = BlockingLock(State())
    private let readers = Locked(Readers())
    private let onDamage: @Sendable () -> Void

    /// The connections that wait for their next use.
    private struct Readers {
        var idle: [SQLiteConnection] = []
        var isClosed = false
    }

    /// The most readers that wait for their next use.
    static let mostReaders = 4

    /// - Parameter onDamage: called when a damaged file was set aside.
    init(_ path: String, in folder: String, place: StorePlace?, onDamage: @escaping @Sendable () -> Void) {
        (self.path, self.folder, self.place, self.onDamage) = (path, folder, place, onDamage)
    }

    // MARK: Use

    /// Runs `body` with the connection that writes.
    ///
    /// If the file is damaged, sets it aside and throws.
    func writing<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try state.withLock { state in
            if state.isClosed { throw StoreError("the store is closed") }
            if let writer = state.writer, !isCurrent(writer) { state.writer = nil }
            let writer = try state.writer ?? open()
            state.writer = writer
            do { return try body(writer) } catch let failure as SQLiteFailure where isDamage(failure) {
                state.writer = nil
                try? setAside(writer.file)
                throw SQLiteFailure.damaged
            }
        }
    }

    /// Runs `body` with a connection that reads. Others may read and write at the same time.
    func reading<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        let idle = try readers.withLock { readers throws(StoreError) in
            if readers.isClosed { throw StoreError("the store is closed") }
            return readers.idle.popLast()
        }
        let reader: SQLiteConnection
        if let idle, isCurrent(idle) {
            reader = idle
        } else {
            // Makes the database if it is missing.
            try writing { _ in }
            reader = try SQLiteConnection(path, isReader: true)
        }
        do {
            let result = try body(reader)
            readers.withLock { if !$0.isClosed, $0.idle.count < Self.mostReaders { $0.idle.append(reader) } }
            return result
        } catch let failure as SQLiteFailure where isDamage(failure) {
            state.withLock { $0.writer = nil }
            try? setAside(reader.file)
            throw SQLiteFailure.damaged
        }
    }

    /// Closes all connections. A change that has begun ends first, and a read closes its connection when it ends.
    func close() {
        state.withLock { state in
            state.writer = nil
            state.isClosed = true
        }
        closeIdleReaders(forGood: true)
    }

    /// Closes the connections that nobody uses.
    func closeIdleReaders(forGood isClosed: Bool = false) {
        let idle = readers.withLock { readers in
            defer { (readers.idle, readers.isClosed) = ([], readers.isClosed || isClosed) }
            return readers.idle
        }
        withExtendedLifetime(idle) {}
    }

    /// Copies the write-ahead log into the database, one process after the other.
    ///
    /// - Returns: whether the whole log was copied, and emptied if that was asked for.
    func copyLog(_ connection: SQLiteConnection, _ mode: SQLiteConnection.LogCopy) throws -> Bool {
        // Some versions of SQLite damage a database when two processes do this at the same moment.
        try Disk.locked(path + "-log-lock") { try connection.copyLog(mode) }
    }

    // MARK: Files

    private func isDamage(_ failure: SQLiteFailure) -> Bool {
        failure.isDamaged || failure.isReadOnly && Disk.isWritable(path)
    }

    private func isCurrent(_ connection: SQLiteConnection) -> Bool {
        Disk.stamp(of: path)?.isOfSameFile(as: connection.file) == true
    }

    /// Opens the file, or makes it.
    private func open() throws -> SQLiteConnection {
        if let place { try place.restore() } else { try Disk.makeFolder(folder) }
        return try Disk.locked(lock) {
            do { return try openLocked() } catch let failure as SQLiteFailure where isDamage(failure) {
                try moveAside()
                return try openLocked()
            }
        }
    }

    private func openLocked() throws -> SQLiteConnection {
        // Nothing outside the folder is written.
        if Disk.stamp(of: path)?.isLinked ?? true { try Disk.remove(path) }
        // SQLite makes the files beside the database with the rights of the database.
        if Disk.stamp(of: path) == nil {
            for suffix in Self.suffixes { try Disk.remove(path + suffix) }
            try Disk.create(path, with: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        let connection = try SQLiteConnection(path, isReader: false)
        try SQLiteSchema.prepare(connection)
        return connection
    }

    /// Sets a damaged file aside, unless another process has done that.
    private func setAside(_ damaged: FileStamp) throws {
        try Disk.locked(lock) {
            if Disk.stamp(of: path)?.isOfSameFile(as: damaged) == true { try moveAside() }
        }
    }

    /// Sets the file aside although SQLite can use it, unless it was replaced. A new one is begun at the next use.
    func replace(_ damaged: FileStamp) throws {
        try state.withLock { state in
            state.writer = nil
            try setAside(damaged)
        }
    }

    private func moveAside() throws(Disk.Failure) {
        try Disk.move(path, to: aside)
        for suffix in Self.suffixes { try Disk.remove(path + suffix) }
        onDamage()
    }

    /// Deletes the damaged file that was set aside.
    func removeAside() throws(Disk.Failure) { try Disk.remove(aside) }

    /// The files that SQLite keeps beside the database.
    private static let suffixes = ["-wal", "-shm", "-journal"]
    private var aside: String { path + "-damaged" }
    private var lock: String { path + "-lock" }
}
