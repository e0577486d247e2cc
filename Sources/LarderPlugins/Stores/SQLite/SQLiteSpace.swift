import LarderSystem
import LarderCore
import Synchronization

/// The size of the files. Blocks.
extension SQLiteStore {
    /// The number of pages after which the write-ahead log is copied into the database, and the number at which writes
    /// wait for it.
    private static let logPages = (usual: 1_000, most: 16_000)
    private static let pageSize = 4_096
    /// The number of pages from which the log may be too long for the room on the disk.
    private static let logPagesOnSmallDisk = 8

    /// Deletes the files that no row names, if needed.
    func clean() throws {
        if condition.needsCleaning.load(ordering: .relaxed) {
            try database.writing { connection in
                if try payloads.deleteUnnamed(connection) { condition.needsCleaning.store(false, ordering: .relaxed) }
            }
        }
    }

    /// Copies a long write-ahead log into the database: on a thread of its own, or here if the log is much too long, or has
    /// entries that were removed.
    func copyLog(_ connection: SQLiteConnection) {
        let pages = connection.logPages
        if isLogTooLong(pages) || condition.hasRemovedEntries.load(ordering: .relaxed) {
            // A reader that takes long must not slow each write.
            emptyLog(connection, .whole)
        } else if pages >= Self.logPages.usual,
            !condition.isCopyingLog.exchange(true, ordering: .relaxed)
        {
            world.spawn { [self] in
                _ = try? await world.blocking(on: database.path + " log") { [database, longLog] in
                    let isCopied = try database.reading { try database.copyLog($0, .partly) }
                    // Little is left to copy by now. Without this the file would keep its size until the next change.
                    let size = Disk.item(database.path + "-wal")?.size ?? 0
                    if isCopied, size > longLog {
                        _ = try database.writing(repairs: false) { try database.copyLog($0, .whole) }
                    }
                }
                condition.isCopyingLog.store(false, ordering: .relaxed)
            }
        }
    }

    /// Returns whether a log must be copied at once: it is much longer than the database, or the database may need as much
    /// room for its pages before they leave the log.
    private func isLogTooLong(_ pages: Int) -> Bool {
        if pages >= Self.logPages.usual, pages * Self.pageSize >= 2 * longLog { return true }
        return pages >= Self.logPagesOnSmallDisk && pages * Self.pageSize >= Disk.freeSpace(options.folder) / 2
    }

    /// The size from which on the log is long: that of the database, within bounds.
    private var longLog: Int {
        let size = Disk.item(database.path)?.size ?? 0
        return min(max(size, Self.logPages.usual * Self.pageSize), Self.logPages.most * Self.pageSize / 2)
    }

    /// Empties the log. If a reader prevents that, it is done after the next change.
    func emptyLog(_ connection: SQLiteConnection, _ mode: SQLiteConnection.LogCopy = .wholeAfterReaders) {
        let isEmpty = try? database.copyLog(connection, mode)
        condition.hasRemovedEntries.store(isEmpty != true, ordering: .relaxed)
    }

    /// Shortens the files after a removal of many entries, and deletes the damaged database and the files that no row names.
    ///
    /// - Throws: an error if the system refuses it.
    func giveSpaceBack() throws {
        condition.hasRemovedEntries.store(true, ordering: .relaxed)
        condition.needsCleaning.store(true, ordering: .relaxed)
        try database.removeAside()
        try clean()
        try Disk.sync(options.folder)
        try database.writing { connection in
            try? connection.run("PRAGMA incremental_vacuum")
            emptyLog(connection)
        }
    }

    /// Writes how often entries were read.
    func saveUses() throws {
        if uses.isEmpty || Disk.stamp(of: database.path) == nil { return }
        try database.writing(repairs: false) { connection in
            try connection.transaction {
                try uses.save(connection, now: try SQLiteTotals.read(connection).next)
            }
        }
    }
}
