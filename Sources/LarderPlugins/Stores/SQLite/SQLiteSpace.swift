import LarderBase
import LarderCore
import Synchronization

/// The size of the files. Blocks.
extension SQLiteStore {
    /// The number of pages after which the write-ahead log is copied into the database, and that at which writes wait for
    /// it.
    private static let logPages = (usual: 1_000, most: 16_000)

    /// The size of a file that is deleted when the disk is full, so that entries can still be removed.
    private static let reserve = 262_144

    private var reserved: String { database.path + "-reserve" }

    /// Deletes the files that no row names, and makes the reserve, if that is to be done.
    func clean() throws {
        if condition.needsCleaning.load(ordering: .relaxed) {
            try database.writing { connection in
                if try payloads.deleteUnnamed(connection) { condition.needsCleaning.store(false, ordering: .relaxed) }
            }
        }
        // A reserve that was used is not made again at once, because the disk may be full still.
        if !condition.hasReserve.exchange(true, ordering: .relaxed) { try? Disk.reserve(reserved, size: Self.reserve) }
    }

    /// Copies a long write-ahead log into the database: on a thread of its own, or here if the log is much too long, or has
    /// entries that were removed.
    func copyLog(_ connection: SQLiteConnection) {
        if connection.logPages >= Self.logPages.most || condition.hasRemovedEntries.load(ordering: .relaxed) {
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

    /// Empties the log. If a reader prevents that, it is done after the next change.
    private func emptyLog(_ connection: SQLiteConnection, _ mode: SQLiteConnection.LogCopy = .wholeAfterReaders) {
        let isEmpty = try? database.copyLog(connection, mode)
        condition.hasRemovedEntries.store(isEmpty != true, ordering: .relaxed)
    }

    /// Shortens the files after a removal of many entries, and deletes the damaged database and the files that no row names.
    ///
    /// - Throws: an error if the system refuses it.
    func giveSpaceBack() throws {
        condition.hasRemovedEntries.store(true, ordering: .relaxed)
        condition.needsCleaning.store(true, ordering: .relaxed)
        condition.hasReserve.store(false, ordering: .relaxed)
        try database.removeAside()
        try clean()
        try Disk.sync(options.folder)
        try database.writing { connection in
            try? connection.run("PRAGMA incremental_vacuum")
            emptyLog(connection)
        }
    }

    /// Makes room on a full disk for changes: deletes the reserve, empties the log, and removes entries.
    func makeRoom(for changes: [SQLiteQueue.Change]) {
        try? Disk.remove(reserved)
        let needed = changes.reduce(0) { $0 + $1.size }
        try? database.writing { connection in
            emptyLog(connection)
            if needed == 0 { return }
            let transaction = try connection.transaction {
                let transaction = try SQLiteTransaction(connection, options, uses, in: world)
                transaction.capacity = transaction.totals.size - min(2 * needed, transaction.totals.size / 16)
                try transaction.finish()
                return transaction
            }
            payloads.delete(transaction.obsoleteFiles)
            report(transaction.evicted)
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
