// The file of a database: how it is made, set aside, salvaged, begun anew and deleted.
extension SQLiteFile {
    func isDamage(_ failure: SQLiteFailure) -> Bool {
        failure.isDamaged || failure.isReadOnly && Disk.isWritable(path)
    }

    // MARK: Opening

    /// Opens the file, or makes it.
    func open(repairs: Bool) throws -> SQLiteConnection {
        try makeFolder()
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
        if Disk.stamp(of: path) == nil {
            try makeFile()
        } else if salvage != nil, Disk.stamp(of: rescued) != nil {
            // A process has ended before it set the damaged file aside, which may have changed since.
            try removeRescued()
        }
        let connection = try connect()
        try schema.prepare(connection)
        return connection
    }

    private func makeFile() throws(Disk.Failure) {
        for suffix in Self.suffixes { try Disk.remove(path + suffix) }
        if salvage != nil, Disk.stamp(of: rescued) != nil {
            // A process has ended after it had set a damaged file aside, and before this one took its place.
            try Disk.move(rescued, to: path)
        } else {
            try makeEmpty(path)
        }
    }

    /// Makes an empty database. SQLite makes the files beside it with its rights.
    private func makeEmpty(_ path: String) throws(Disk.Failure) {
        try Disk.create(path, with: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Gives what is not a file of a database, but has the name of one, other names.
    private func setAsideForeign() throws(Disk.Failure) {
        let files =
            Self.suffixes.map { path + $0 } + [lock, logLock, aside]
            + (salvage == nil ? [] : [rescued, unfinished, withFirstPage])
        for file in files { try Disk.setAsideForeign(file) }
    }

    // MARK: Damage

    /// Sets a damaged file aside, unless another process has done that.
    func setAside(_ damaged: FileStamp) throws {
        try Disk.locked(lock) {
            if Disk.stamp(of: path)?.isOfSameFile(as: damaged) == true { try moveAside() }
        }
    }

    private func moveAside() throws {
        let rescue = try salvage.map { try rescued(by: $0) }
        // A file that was set aside before is there until this moment.
        try Disk.move(path, to: aside)
        if salvage != nil {
            // The log belongs to the damaged database, and may have the rows that nobody could read.
            if Disk.stamp(of: path + Self.log) != nil {
                try Disk.move(path + Self.log, to: aside + Self.log)
            } else {
                try Disk.remove(aside + Self.log)
            }
        }
        for suffix in Self.suffixes { try Disk.remove(path + suffix) }
        if rescue?.isComplete == true { try Disk.move(rescued, to: path) }
        // Nobody could add rows meanwhile that would be left behind.
        withExtendedLifetime(rescue) {}
        onDamage()
    }

    /// Copies what can still be read into a new file.
    ///
    /// - Returns: whether there is such a file, which is complete and has no log, and the connection that prevents others
    ///   from changing the damaged one.
    /// - Throws: an error if it fails for another reason than the damage, so that the damaged file must stay where it is.
    private func rescued(by salvage: Salvage) throws -> (isComplete: Bool, holder: SQLiteConnection?) {
        do {
            try removeRescued()
            try makeEmpty(unfinished)
            let holder = try holder()
            let isComplete = try copyRows(holder, salvage)
            if isComplete { try Disk.move(unfinished, to: rescued) } else { try removeRescued() }
            return (isComplete, holder)
        } catch {
            try? removeRescued()
            throw error
        }
    }

    /// Returns a connection to the damaged file that prevents others from changing it, as far as there is a database to
    /// change.
    private func holder() throws -> SQLiteConnection? {
        let holder: SQLiteConnection
        do { holder = try connect() } catch let failure as SQLiteFailure where isDamage(failure) { return nil }
        do { try holder.run("BEGIN IMMEDIATE") } catch let failure as SQLiteFailure where isDamage(failure) {}
        return holder
    }

    /// Copies rows into the file that is not finished yet.
    ///
    /// - Returns: false if the damage prevents it.
    private func copyRows(_ damaged: SQLiteConnection?, _ salvage: Salvage) throws -> Bool {
        let new = try connect(to: unfinished)
        try schema.prepare(new)
        try new.survivePowerCuts(true)
        defer { try? removeFirstPageCopy() }
        if let source = try source(damaged, like: new) {
            do { try new.transaction { try salvage(source, new) } } catch let failure as SQLiteFailure
                where isDamage(failure)
            { return false }
        }
        guard try new.copyLog(.whole) else { throw SQLiteFailure(code: 5) }
        for suffix in Self.suffixes { try Disk.remove(unfinished + suffix) }
        return true
    }

    /// Returns the connection from which rows are copied; nil if there is none.
    ///
    /// The first page of a file says where the tables are. If it is damaged, nothing can be read. All new files have the same
    /// tables in the same places, so a copy with the first page of a new one is read then. The rows in it must be checked: an
    /// earlier version of the tables may have had others there.
    private func source(_ damaged: SQLiteConnection?, like new: SQLiteConnection) throws -> SQLiteConnection? {
        if let damaged, (try? schema.version(of: damaged)) != nil { return damaged }
        guard try new.copyLog(.whole) else { return damaged }
        var page = try Disk.prefix(of: unfinished, 65_536)
        let size = page.count > 18 ? Int(page[16]) << 8 | Int(page[17]) : 0
        // The first page holds all of the tables' descriptions if it is a leaf of the tree.
        guard size >= 512, page.count >= size, page[100] == 13 else { return damaged }
        page = Array(page[..<size])
        let pages = UInt32(clamping: (Disk.item(path)?.size ?? 0) / size)
        page.replaceSubrange(28..<32, with: withUnsafeBytes(of: pages.bigEndian, Array.init))
        // The pages that were free in the new file are others.
        page.replaceSubrange(32..<40, with: [UInt8](repeating: 0, count: 8))
        try removeFirstPageCopy()
        try Disk.copyContents(of: path, to: withFirstPage)
        if Disk.stamp(of: path + Self.log) != nil {
            try Disk.copyContents(of: path + Self.log, to: withFirstPage + Self.log)
        }
        try? Disk.overwrite(withFirstPage, at: 0, with: page, modified: 0)
        return try? connect(to: withFirstPage)
    }

    private func removeFirstPageCopy() throws(Disk.Failure) {
        for suffix in [""] + Self.suffixes { try Disk.remove(withFirstPage + suffix) }
    }

    private func removeRescued() throws(Disk.Failure) {
        try Disk.remove(rescued)
        for suffix in [""] + Self.suffixes { try Disk.remove(unfinished + suffix) }
    }

    // MARK: Changing the file

    /// Begins a new database with some rows of the present one, which needs less room on the disk than changing it. If the
    /// process is killed meanwhile, all rows are lost.
    ///
    /// - Parameters:
    ///   - take: returns the rows to keep. Nobody else can change the database from then on.
    ///   - put: writes them to the new database.
    public func rebuild<Rows>(
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
    public func remove() throws {
        try state.withLock { state in
            state.writer = nil
            closeIdleReaders()
            try Disk.locked(lock) { try removeFiles() }
        }
    }

    private func removeFiles() throws(Disk.Failure) {
        if salvage != nil { try removeRescued() }
        for suffix in [""] + Self.suffixes { try Disk.remove(path + suffix) }
    }

    /// Deletes the damaged file that was set aside.
    public func removeAside() throws(Disk.Failure) {
        try Disk.remove(aside)
        if salvage != nil { try Disk.remove(aside + Self.log) }
    }

    // MARK: Names

    private static let log = "-wal"
    /// The files that SQLite keeps beside a database.
    private static let suffixes = [log, "-shm", "-journal"]
    private var aside: String { path + Self.damagedSuffix }
    /// The end of the name of a damaged file that was set aside.
    public static let damagedSuffix = "-damaged"
    /// The rows of a damaged file, until they take its place.
    private var rescued: String { path + "-rescued" }
    /// A copy of a damaged file with another first page, while rows are copied from it.
    private var withFirstPage: String { path + "-first-page" }
    /// The same, until all rows are in it.
    private var unfinished: String { path + "-rescuing" }
    private var lock: String { path + "-lock" }
    var logLock: String { path + "-log-lock" }
}
