import LarderSystem
import LarderCore

/// The file of a database and the connections to it: one that writes, and some that read. Blocks.
///
/// The file is opened when it is first used. It is opened again, or made again, if another program has deleted or replaced
/// it. The next change after damage was noticed sets the file aside and begins a new one. Reading moves nothing.
final class SQLiteDatabase: Sendable {
    private struct State {
        var writer: SQLiteConnection?
        var isClosed = false
        /// The file in which reading has found damage.
        var damaged: FileStamp?
    }

    /// The path of the file.
    let path: String
    private let folder: String
    /// Holding the place prevents its folder from being deleted.
    private let place: StorePlace?
    private let state = BlockingLock(State())
    private let readers = Locked(Readers())
    private let longestPayload: Int
    private let onDamage: @Sendable () -> Void

    /// The connections that wait for their next use.
    private struct Readers {
        var idle: [SQLiteConnection] = []
        var isClosed = false
    }

    /// The most readers that wait for their next use.
    static let mostReaders = 4

    /// - Parameters:
    ///   - longestPayload: the most bytes of a payload in a row.
    ///   - onDamage: called when a damaged file was set aside.
    init(
        _ path: String, in folder: String, place: StorePlace?, longestPayload: Int,
        onDamage: @escaping @Sendable () -> Void
    ) {
        (self.path, self.folder, self.place) = (path, folder, place)
        (self.longestPayload, self.onDamage) = (longestPayload, onDamage)
    }

    // MARK: Use

    /// Runs `body` with the connection that writes.
    ///
    /// If the file is damaged, throws.
    ///
    /// - Parameter repairs: whether a damaged file is set aside, so that the next use begins a new one.
    func writing<Result>(repairs: Bool = true, _ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try state.withLock { state in
            if repairs, let damaged = state.damaged {
                (state.writer, state.damaged) = (nil, nil)
                try? setAside(damaged)
            }
            let writer = try writer(&state, repairs: repairs)
            return try use(writer, state: &state, repairs: repairs, body: body)
        }
    }

    private func use<Result>(
        _ writer: SQLiteConnection, state: inout State, repairs: Bool, body: (SQLiteConnection) throws -> Result
    ) throws -> Result {
        do { return try body(writer) } catch let failure as SQLiteFailure where isDamage(failure) {
            state.writer = nil
            if repairs { try? setAside(writer.file) } else { state.damaged = writer.file }
            throw SQLiteFailure.damaged
        }
    }

    /// Runs `body` with a connection that reads. Others may read and write at the same time, unless the disk is full.
    func reading<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        let idle = try readers.withLock { readers throws(StoreError) in
            if readers.isClosed { throw StoreError("the store is closed") }
            return readers.idle.popLast()
        }
        var reader = idle.flatMap { isCurrent($0) ? $0 : nil }
        // Makes the database if it is missing.
        if reader == nil, let result = try readingAlone(body) { return result }
        do {
            let (isNew, used) = (reader == nil, try reader ?? connect(isReader: true))
            reader = used
            if isNew { try SQLiteSchema.check(used) }
            let result = try body(used)
            readers.withLock { if !$0.isClosed, $0.idle.count < Self.mostReaders { $0.idle.append(used) } }
            return result
        } catch let failure as SQLiteFailure where isDamage(failure) {
            state.withLock { ($0.writer, $0.damaged) = (nil, reader?.file ?? $0.damaged) }
            throw SQLiteFailure.damaged
        }
    }

    /// Runs `body` if the database can be used by one connection at a time only. Returns nil if it can be shared.
    private func readingAlone<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result? {
        try state.withLock { state in
            let writer = try writer(&state, repairs: false)
            return state.writer == nil ? try use(writer, state: &state, repairs: false, body: body) : nil
        }
    }

    /// Returns the connection that writes. It is kept in `state`, unless the disk is so full that processes cannot share the
    /// database: then nobody else can use the database until the connection is released.
    private func writer(_ state: inout State, repairs: Bool) throws -> SQLiteConnection {
        if state.isClosed { throw StoreError("the store is closed") }
        if let writer = state.writer, isCurrent(writer) { return writer }
        state.writer = nil
        do {
            let writer = try open(repairs: repairs)
            state.writer = writer
            return writer
        } catch {
            guard (error as? SQLiteFailure)?.preventsSharing ?? StoreError(error).isFull else { throw error }
            closeIdleReaders()
            guard let alone = try? connect(isReader: false, isAlone: true),
                (try? SQLiteSchema.check(alone)) != nil
            else { throw error }
            try SQLiteSchema.prepare(alone)
            return alone
        }
    }

    private func connect(isReader: Bool, isAlone: Bool = false) throws -> SQLiteConnection {
        try SQLiteConnection(path, isReader: isReader, isAlone: isAlone, longestPayload: longestPayload)
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
        try Disk.locked(logLock) { try connection.copyLog(mode) }
    }

    // MARK: Files

    private func isDamage(_ failure: SQLiteFailure) -> Bool {
        failure.isDamaged || failure.isReadOnly && Disk.isWritable(path)
    }

    /// Returns whether a connection uses the file that has the name of the database now.
    func isCurrent(_ connection: SQLiteConnection) -> Bool {
        Disk.stamp(of: path)?.isOfSameFile(as: connection.file) == true
    }

    /// Opens the file, or makes it.
    private func open(repairs: Bool) throws -> SQLiteConnection {
        if let place { try place.restore() } else { try Disk.makeFolder(folder) }
        try setAsideForeign()
        return try Disk.locked(lock) {
            do { return try openLocked() } catch let failure as SQLiteFailure where isDamage(failure) {
                guard repairs else { throw SQLiteFailure.damaged }
                try moveAside()
                return try openLocked()
            }
        }
    }

    private func openLocked() throws -> SQLiteConnection {
        // Nothing outside the folder is written.
        try Disk.setAsideForeign(path)
        // SQLite makes the files beside the database with the rights of the database.
        if Disk.stamp(of: path) == nil {
            for suffix in Self.suffixes { try Disk.remove(path + suffix) }
            try Disk.create(path, with: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        let connection = try connect(isReader: false)
        try SQLiteSchema.prepare(connection)
        return connection
    }

    /// Sets a damaged file aside, unless another process has done that.
    private func setAside(_ damaged: FileStamp) throws {
        try Disk.locked(lock) {
            if Disk.stamp(of: path)?.isOfSameFile(as: damaged) == true { try moveAside() }
        }
    }

    /// Gives what is not a file of a database, but has the name of one, other names.
    private func setAsideForeign() throws(Disk.Failure) {
        for file in Self.suffixes.map({ path + $0 }) + [lock, logLock, aside] { try Disk.setAsideForeign(file) }
    }

    /// Begins a new database with some rows of the present one, which needs less room on the disk than changing it. If the
    /// process is killed meanwhile, all rows are lost.
    ///
    /// - Parameters:
    ///   - take: returns the rows to keep. Nobody else can change the database from then on.
    ///   - put: writes them to the new database.
    func rebuild<Rows>(
        _ take: (SQLiteConnection) throws -> Rows, _ put: (Rows, SQLiteConnection) throws -> Void
    ) throws {
        try state.withLock { state in
            var former = [try writer(&state, repairs: true)]
            try Disk.locked(lock) {
                let rows = try former[0].transaction {
                    let rows = try take(former[0])
                    try removeFiles()
                    return rows
                }
                // The space is free when nobody has the files open.
                (former, state.writer) = ([], nil)
                closeIdleReaders()
                let writer = try openLocked()
                state.writer = writer
                try put(rows, writer)
            }
        }
    }

    /// Deletes the database.
    func remove() throws {
        try state.withLock { state in
            state.writer = nil
            closeIdleReaders()
            try Disk.locked(lock) { try removeFiles() }
        }
    }

    private func removeFiles() throws(Disk.Failure) {
        for suffix in [""] + Self.suffixes { try Disk.remove(path + suffix) }
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
    private var aside: String { path + Self.damaged }
    /// The end of the name of a damaged file that was set aside.
    static let damaged = "-damaged"
    private var lock: String { path + "-lock" }
    private var logLock: String { path + "-log-lock" }
}
