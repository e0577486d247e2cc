import LarderBase
import LarderCore

/// The file of a database and the connections to it: one that writes, one for checkpoints, and some that read. Blocks.
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
    private let readers = Locked<[SQLiteConnection]>([])

    /// The most readers that wait for their next use.
    static let mostReaders = 4

    init(_ path: String, in folder: String, place: StorePlace?) {
        (self.path, self.folder, self.place) = (path, folder, place)
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
            do { return try body(writer) } catch let failure as SQLiteFailure where failure.isDamaged {
                state.writer = nil
                try? setAside(writer.file)
                throw failure
            }
        }
    }

    /// Runs `body` with a connection that reads. Others may read and write at the same time.
    func reading<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        let idle = readers.withLock { $0.popLast() }
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
            readers.withLock { if $0.count < Self.mostReaders { $0.append(reader) } }
            return result
        } catch let failure as SQLiteFailure where failure.isDamaged {
            state.withLock { $0.writer = nil }
            try? setAside(reader.file)
            throw failure
        }
    }

    /// Closes all connections. A use that has begun ends first.
    func close() {
        state.withLock { state in
            state.writer = nil
            state.isClosed = true
        }
        readers.withLock { $0 = [] }
    }

    /// Gives back memory that is not needed.
    func relieve() { readers.withLock { $0 = [] } }

    // MARK: Files

    private func isCurrent(_ connection: SQLiteConnection) -> Bool {
        Disk.stamp(of: path)?.isOfSameFile(as: connection.file) == true
    }

    /// Opens the file, or makes it.
    private func open() throws -> SQLiteConnection {
        if let place { try place.restore() } else { try Disk.makeFolder(folder) }
        return try Disk.locked(lock) {
            do { return try openLocked() } catch let failure as SQLiteFailure where failure.isDamaged {
                try moveAside()
                return try openLocked()
            }
        }
    }

    private func openLocked() throws -> SQLiteConnection {
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

    private func moveAside() throws(Disk.Failure) {
        try Disk.move(path, to: aside)
        for suffix in Self.suffixes { try Disk.remove(path + suffix) }
    }

    /// Deletes the damaged file that was set aside.
    func removeAside() throws(Disk.Failure) { try Disk.remove(aside) }

    /// The files that SQLite keeps beside the database.
    private static let suffixes = ["-wal", "-shm", "-journal"]
    private var aside: String { path + "-damaged" }
    private var lock: String { path + "-lock" }
}
