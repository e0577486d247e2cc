import LarderBase
import LarderCore
import Synchronization

/// The size of the files. Blocks.
extension SQLiteStore {
    /// The number of pages after which the write-ahead log is copied into the database, and that at which writes wait for
    /// it.
    private static let logPages = (usual: 1_000, most: 16_000)
    /// The number of pages from which the log may be too long for the room on the disk, and the size of a page in bytes.
    private static let logPagesOnSmallDisk = (least: 8, size: 4_096)

    /// Deletes the files that no row names, if that is to be done.
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
        if isLogTooLong(connection.logPages) || condition.hasRemovedEntries.load(ordering: .relaxed) {
            // A reader that takes long must not slow each write.
            emptyLog(connection, .whole)
        } else if connection.logPages >= Self.logPages.usual,
            !condition.isCopyingLog.exchange(true, ordering: .relaxed)
        {
            world.spawn { [self] in
                _ = try? await world.blocking(on: database.path + " log") { [database] in
                    try database.reading { try database.copyLog($0, .partly) }
                }
                condition.isCopyingLog.store(false, ordering: .relaxed)
            }
        }
    }

    /// Returns whether a log must be copied at once: the database may need as much room for its pages before they leave the
    /// log.
    private func isLogTooLong(_ pages: Int) -> Bool {
        let small = Self.logPagesOnSmallDisk
        return pages >= Self.logPages.most
            || pages >= small.least && pages * small.size >= Disk.freeSpace(options.folder) / 2
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
        try database.writing { connection in
            try connection.transaction {
                try uses.save(connection, now: try SQLiteTotals.read(connection).next)
            }
        }
    }
}
