import LarderFoundation
import LarderSystem
import LarderCore
import Synchronization

/// The work on a full disk. Blocks.
///
/// A file beside the database, the reserve, takes room on the disk as long as nothing is removed. A removal on a full disk
/// deletes it, and uses its room for the log. When there is room again, the file is made again.
extension SQLiteStore {
    /// The sizes of the reserve: the largest for which there is twice the room.
    private static let reserves = [262_144, 131_072, 65_536, 32_768]
    /// The most bytes of rows that are held in memory while a database is begun anew.
    private static let mostHeld = 64_000_000
    /// The least room that is made for a write.
    private static let leastRoom = 65_536

    private var reserved: String { database.path + "-reserve" }

    /// Makes the reserve, if there is none and there is room for it. One that was given up is made again if it just fits.
    func makeReserve() {
        if condition.hasReserve.load(ordering: .relaxed) { return }
        try? Disk.setAsideForeign(reserved)
        let (present, former) = (reserveSize, condition.formerReserve.load(ordering: .relaxed))
        let room = Disk.freeSpace(options.folder)
        let size = Self.reserves.first { $0 == present || room >= ($0 == former ? $0 : 2 * $0) }
        guard let size else { return }
        let isMade = (try? Disk.reserve(reserved, size: size)) != nil
        condition.hasReserve.store(isMade, ordering: .relaxed)
    }

    private var reserveSize: Int { Int(clamping: Disk.stamp(of: reserved)?.size ?? 0) }

    private func giveUpReserve() {
        let size = reserveSize
        if size > 0 { condition.formerReserve.store(size, ordering: .relaxed) }
        try? Disk.remove(reserved)
        condition.hasReserve.store(false, ordering: .relaxed)
    }

    /// Makes room for changes that are no removals: empties the log, and removes entries.
    func makeRoom(for changes: [SQLiteQueue.Change]) {
        giveUpReserve()
        let needed = 2 * changes.reduce(0) { $0 + $1.size }
        // Removals have their room in reserve before anything is written.
        defer { if needed > 0 { makeReserve() } }
        try? database.writing { connection in
            emptyLog(connection)
            // The log may be all that filled the disk.
            let reserve = condition.formerReserve.load(ordering: .relaxed)
            let isRoom = Disk.freeSpace(options.folder) >= reserve + needed + Self.leastRoom
            if needed == 0 || isRoom { return }
            let transaction = try connection.transaction {
                let transaction = try SQLiteTransaction(connection, options: options, uses: uses, in: world)
                let room = min(max(needed, Self.leastRoom), transaction.totals.size / 16)
                transaction.capacity = transaction.totals.size - room
                try transaction.finish()
                return transaction
            }
            payloads.delete(transaction.obsoleteFiles)
            report(transaction.evicted)
            emptyLog(connection)
            // The pages that are free now leave the file.
            try? connection.run("PRAGMA incremental_vacuum(32)")
            emptyLog(connection)
        }
    }

    /// Removes entries when the disk is full.
    ///
    /// First with the room in reserve; then a few rows at a time, so that the log stays short; then by beginning a new
    /// database with the entries that stay. If there is room for none of these, all entries are removed.
    func removeOnFullDisk(_ selection: Selection, keys: [Key], remove: () throws -> Bool) throws -> Bool {
        giveUpReserve()
        try? database.writing { emptyLog($0) }
        let ways: [() throws -> Void] = [
            {}, { [self] in try removeInPieces(selection, keys) }, { [self] in try rebuild(without: selection, keys) },
            { [self] in try removeEverything() },
        ]
        for way in ways {
            do {
                try way()
                return try remove()
            } catch { if !StoreError(error).isFull { throw error } }
        }
        // There is no room for a new database, and nothing in it to remove.
        return true
    }

    /// Removes a few rows at a time, and empties the log each time.
    private func removeInPieces(_ selection: Selection, _ keys: [Key]) throws {
        var count = 64
        var isDone = false
        while !isDone {
            do {
                isDone = try database.writing { connection in
                    let (transaction, isLast) = try connection.transaction {
                        let transaction = try SQLiteTransaction(connection, options: options, uses: uses, in: world)
                        let isLast = try transaction.remove(selection, and: keys, most: count)
                        try transaction.finish()
                        return (transaction, isLast)
                    }
                    payloads.delete(transaction.obsoleteFiles)
                    emptyLog(connection)
                    return isLast
                }
            } catch let failure as SQLiteFailure where failure.isFull && count > 1 {
                count /= 4
            }
        }
    }

    /// Begins a new database with the entries that stay.
    private func rebuild(without selection: Selection, _ keys: [Key]) throws {
        condition.needsCleaning.store(true, ordering: .relaxed)
        try database.rebuild { connection in
            guard try SQLiteTotals.read(connection).size <= Self.mostHeld else { throw SQLiteFailure.full }
            return try SQLiteRebuild(connection, longestPayload: options.longestPayload) { metadata, key in
                !keys.contains(key) && !selection.contains(key, Entry(Data(), metadata))
            }
        } _: { rows, connection in
            try rows.put(connection, isDurable: options.durability == .power)
        }
    }

    private func removeEverything() throws {
        condition.needsCleaning.store(true, ordering: .relaxed)
        try database.remove()
        payloads.deleteAll()
        let error = StoreError("the disk is too full to remove some entries; all are removed")
        context?.storeFailed(StoreFault(tier: Self.tier, error: error), at: .write)
    }
}
