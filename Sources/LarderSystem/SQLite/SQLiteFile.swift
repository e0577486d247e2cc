/// The file of a database and the connections to it: one that writes, and some that read. Blocks.
///
/// The file is opened when it is first used. It is opened again, or made again, if another program has deleted or replaced
/// it. The next change after damage was noticed sets the file aside and begins a new one. Reading moves nothing.
///
/// Several processes may use a file. Threads of one process share one object.
///
/// ```swift
/// let notes = SQLiteSchema(application: 0x4E6F_7400, tables: "CREATE TABLE notes(id INTEGER PRIMARY KEY, title TEXT);")
/// let file = SQLiteFile(folder + "/notes.sqlite", notes) { try Disk.makeFolder(folder) }
/// try file.writing { connection in
///     try connection.transaction { try connection.run("INSERT INTO notes(title) VALUES(?)", .text("Shopping")) }
/// }
/// let count = try file.reading { try $0.first("SELECT count(*) FROM notes") { $0.integer(0) } }
/// ```
///
/// The methods throw ``SQLiteFailure`` or `Disk.Failure` if the file cannot be used, and the errors of the closures that
/// they run. A failure of a closure that says that the database is damaged becomes ``SQLiteFailure/damaged``.
public final class SQLiteFile: Sendable {
    struct State {
        var writer: SQLiteConnection?
        var isClosed = false
        /// The file in which reading has found damage.
        var damaged: FileStamp?
    }

    /// Copies rows of a damaged database to the new one that takes its place. Any statement that reads may fail.
    ///
    /// A failure that says that the database is damaged means that nothing can be copied, and the new database begins without
    /// rows. After any other error the damaged file stays, and the next change tries again.
    public typealias Salvage = @Sendable (_ damaged: SQLiteConnection, _ new: SQLiteConnection) throws -> Void

    /// The path of the file.
    public let path: String
    let schema: SQLiteSchema
    let makeFolder: @Sendable () throws -> Void
    let state = BlockingLock(State())
    private let readers = Locked(Readers())
    private let longestValue: Int
    private let refusalsAreDamage: Bool
    let salvage: Salvage?
    let onDamage: @Sendable () -> Void

    /// The connections that wait for their next use.
    private struct Readers {
        var idle: [SQLiteConnection] = []
        var isClosed = false
    }

    /// The most readers that wait for their next use.
    public static let mostReaders = 4

    /// A database, which is not opened yet.
    ///
    /// - Parameters:
    ///   - path: the path of the file. Files whose names begin with its name belong to it.
    ///   - schema: the tables.
    ///   - longestValue: the most bytes of a value or a row.
    ///   - refusalsAreDamage: whether a statement that SQLite refuses, because of the tables or of a row that may not be there
    ///     (codes 1 and 19), shows that the file is damaged. Pass false if an app composes statements, which may be refused
    ///     for other reasons, such as an expression that is too deep. The closures' callers get such failures as they are then.
    ///   - makeFolder: makes the folder of the file, if it is missing. Called before the file is opened.
    ///   - salvage: copies what can still be read from a damaged file before it is set aside, in one transaction of the new
    ///     file; nil to begin without any rows.
    ///   - onDamage: called when a damaged file was set aside. It must not use this object.
    public init(
        _ path: String, _ schema: SQLiteSchema, longestValue: Int = 1 << 30, refusalsAreDamage: Bool = true,
        makeFolder: @escaping @Sendable () throws -> Void, salvage: Salvage? = nil,
        onDamage: @escaping @Sendable () -> Void = {}
    ) {
        (self.path, self.schema, self.longestValue) = (path, schema, longestValue)
        self.refusalsAreDamage = refusalsAreDamage
        (self.makeFolder, self.salvage, self.onDamage) = (makeFolder, salvage, onDamage)
    }

    // MARK: Use

    /// Runs `body` with the connection that writes. It must not use this object.
    ///
    /// If the file is damaged, throws.
    ///
    /// - Parameters:
    ///   - repairs: whether a damaged file is set aside, so that the next use begins a new one.
    ///   - body: makes the changes.
    public func writing<Result>(repairs: Bool = true, _ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try state.withLock { state in
            if repairs, let damaged = state.damaged {
                (state.writer, state.damaged) = (nil, nil)
                try setAside(damaged, &state)
            }
            let writer = try writer(&state, repairs: repairs)
            return try use(writer, state: &state, repairs: repairs, body: body)
        }
    }

    private func use<Result>(
        _ writer: SQLiteConnection, state: inout State, repairs: Bool, body: (SQLiteConnection) throws -> Result
    ) throws -> Result {
        do { return try body(writer) } catch let failure as SQLiteFailure where isDamageInUse(failure) {
            state.writer = nil
            if repairs { try? setAside(writer.file, &state) } else { state.damaged = writer.file }
            throw SQLiteFailure.damaged
        }
    }

    /// Sets a damaged file aside. If that fails and its rows are worth saving, the next change tries again.
    private func setAside(_ damaged: FileStamp, _ state: inout State) throws {
        do { try setAside(damaged) } catch  where salvage != nil {
            state.damaged = damaged
            throw error
        } catch {}
    }

    /// Returns whether a failure of a closure shows damage. Opening has compared the tables before.
    private func isDamageInUse(_ failure: SQLiteFailure) -> Bool {
        isDamage(failure) && (refusalsAreDamage || !failure.isRefusal)
    }

    /// Runs `body` with a connection that reads. Others may read and write at the same time, unless the disk is full.
    public func reading<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        let idle = try readers.withLock { readers throws(SQLiteFailure) in
            if readers.isClosed { throw SQLiteFailure.closed }
            return readers.idle.popLast()
        }
        var reader = idle.flatMap { isCurrent($0) ? $0 : nil }
        // Makes the database if it is missing.
        if reader == nil, let result = try readingAlone(body) { return result }
        do {
            let (isNew, used) = (reader == nil, try reader ?? connect(isReader: true))
            reader = used
            if isNew { try schema.check(used) }
            let result = try body(used)
            readers.withLock { if !$0.isClosed, $0.idle.count < Self.mostReaders { $0.idle.append(used) } }
            return result
        } catch let failure as SQLiteFailure where isDamageInUse(failure) {
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
    func writer(_ state: inout State, repairs: Bool) throws -> SQLiteConnection {
        if state.isClosed { throw SQLiteFailure.closed }
        if let writer = state.writer, isCurrent(writer) { return writer }
        state.writer = nil
        do {
            let writer = try open(repairs: repairs)
            state.writer = writer
            return writer
        } catch {
            let isFull = (error as? Disk.Failure)?.isFull ?? false
            guard (error as? SQLiteFailure)?.preventsSharing ?? isFull else { throw error }
            closeIdleReaders()
            guard let alone = try? connect(isAlone: true), (try? schema.check(alone)) != nil else { throw error }
            try schema.prepare(alone)
            return alone
        }
    }

    func connect(
        to path: String? = nil, isReader: Bool = false, isAlone: Bool = false
    ) throws -> SQLiteConnection {
        try SQLiteConnection(
            path ?? self.path, isReader: isReader, isAlone: isAlone, longestValue: longestValue,
            hasIndexedFunctions: schema.hasOwnIndexes)
    }

    /// Closes all connections. A change that has begun ends first, and a read closes its connection when it ends.
    public func close() {
        state.withLock { state in
            state.writer = nil
            state.isClosed = true
        }
        closeIdleReaders(forGood: true)
    }

    /// Closes the connections that nobody uses.
    public func closeIdleReaders() { closeIdleReaders(forGood: false) }

    private func closeIdleReaders(forGood isClosed: Bool) {
        let idle = readers.withLock { readers in
            defer { (readers.idle, readers.isClosed) = ([], readers.isClosed || isClosed) }
            return readers.idle
        }
        withExtendedLifetime(idle) {}
    }

    /// Copies the write-ahead log into the database, one process after the other.
    ///
    /// - Returns: whether the whole log was copied, and emptied if that was asked for.
    public func copyLog(_ connection: SQLiteConnection, _ mode: SQLiteConnection.LogCopy) throws -> Bool {
        // Some versions of SQLite damage a database when two processes do this at the same moment.
        try Disk.locked(logLock) { try connection.copyLog(mode) }
    }

    /// Returns whether a connection uses the file that has the name of the database now.
    public func isCurrent(_ connection: SQLiteConnection) -> Bool {
        Disk.stamp(of: path)?.isOfSameFile(as: connection.file) == true
    }
}
