import LarderBase
import LarderCore
import Synchronization

/// The work of the thread that writes. Blocks.
extension SQLiteStore {
    /// Makes changes and tells their callers.
    func make(_ items: [SQLiteQueue.Item]) {
        let results = attempt(items.map(\.change))
        for (item, result) in zip(items, results) {
            var leavesOlder = false
            if case .failure(let error) = result, item.caller == nil, case .write(_, let key) = item.change {
                context?.storeFailed(StoreFault(tier: Self.tier, error: error), at: .write)
                // The caller does not know of the failure, so the older entry must not be found any more.
                leavesOlder = (try? attempt([.remove(.key(key), also: [])])[0].get()) == nil
            }
            queue.withLock { [leavesOlder] in $0.end(item, leavesOlder: leavesOlder) }
            item.caller?.resume(with: result.mapError { $0 })
        }
    }

    /// Makes changes together. If that fails, makes them one by one, so that only those fail that must.
    private func attempt(_ changes: [SQLiteQueue.Change]) -> [Result<Bool, StoreError>] {
        do { return try transact(changes).map { .success($0) } } catch {
            if changes.count > 1 { return changes.flatMap { attempt([$0]) } }
            let failure = StoreError(error)
            guard failure.isFull || (error as? SQLiteFailure)?.isDamaged == true else { return [.failure(failure)] }
            if failure.isFull { makeRoom() }
            // There is room now, or a new database.
            return [
                Result { () throws(StoreError) in
                    do { return try transact(changes)[0] } catch { throw StoreError(error) }
                }
            ]
        }
    }

    /// Makes changes in one transaction.
    private func transact(_ changes: [SQLiteQueue.Change]) throws -> [Bool] {
        if !isPrepared.exchange(true, ordering: .relaxed) { try database.writing { try payloads.deleteUnnamed($0) } }
        let needsFiles = changes.contains { isLarge($0) }
        return try needsFiles ? Disk.sharing(options.folder) { try transactShared(changes) } : transactShared(changes)
    }

    private func transactShared(_ changes: [SQLiteQueue.Change]) throws -> [Bool] {
        let isRemoval = changes.contains { if case .remove = $0 { true } else { false } }
        let isDurable = isRemoval || options.durability == .power
        var made: [Int64] = []
        do {
            return try database.writing { connection in
                try notePosition(connection)
                let files = try changes.map { change -> Int64? in
                    guard case .write(let entry, _) = change, isLarge(change) else { return nil }
                    let file = try payloads.make(entry.payload, isDurable: isDurable)
                    made.append(file)
                    return file
                }
                try connection.survivePowerCuts(isDurable)
                var results: [Bool] = []
                let transaction = try connection.transaction {
                    let transaction = try SQLiteTransaction(connection, options, uses, in: world)
                    let first = transaction.totals.next
                    for (change, file) in zip(changes, files) {
                        let isKept = try transaction.make(change, file: file, process: process)
                        if !isKept, let file { transaction.obsoleteFiles.append(file) }
                        results.append(isKept)
                    }
                    try transaction.finish()
                    if transaction.totals.next > first { noteOwnRows(first...transaction.totals.next - 1) }
                    return transaction
                }
                payloads.delete(transaction.obsoleteFiles)
                report(transaction.evicted)
                processes.tell()
                if isRemoval { giveSpaceBack(connection) } else { copyLog(connection) }
                return results
            }
        } catch {
            payloads.delete(made)
            throw error
        }
    }

    private func isLarge(_ change: SQLiteQueue.Change) -> Bool {
        guard case .write(let entry, _) = change else { return false }
        return entry.payload.isFile || entry.payload.bytes.count >= options.smallestFile
    }

    private func report(_ evicted: [EvictedEntry]) {
        if evicted.isEmpty { return }
        evictions.add(evicted.count, ordering: .relaxed)
        context?.forgot(evicted)
    }

    // MARK: Space

    /// The number of pages after which the write-ahead log is copied into the database, and that at which writes wait for
    /// it.
    private static let logPages = (usual: 1_000, most: 16_000)

    /// Copies a long write-ahead log into the database: on a thread of its own, or here if the log is much too long.
    private func copyLog(_ connection: SQLiteConnection) {
        if connection.logPages >= Self.logPages.most {
            _ = try? connection.checkpoint(waiting: true)
        } else if connection.logPages >= Self.logPages.usual, !isCopyingLog.exchange(true, ordering: .relaxed) {
            world.spawn { [self] in
                _ = try? await world.blocking(on: database.path + " log") { [database] in
                    try database.reading { try $0.checkpoint(waiting: false) }
                }
                isCopyingLog.store(false, ordering: .relaxed)
            }
        }
    }

    /// Shortens the files after a removal. What was removed is then neither in the database nor in the log.
    private func giveSpaceBack(_ connection: SQLiteConnection) {
        try? database.removeAside()
        try? connection.run("PRAGMA incremental_vacuum")
        _ = try? connection.checkpoint(waiting: true)
    }

    /// Makes room on a full disk: empties the log, and removes entries.
    private func makeRoom() {
        try? database.writing { connection in
            _ = try connection.checkpoint(waiting: true)
            let transaction = try connection.transaction {
                let transaction = try SQLiteTransaction(connection, options, uses, in: world)
                transaction.capacity = transaction.totals.size / 16 * 15
                try transaction.finish()
                return transaction
            }
            payloads.delete(transaction.obsoleteFiles)
            report(transaction.evicted)
            _ = try connection.checkpoint(waiting: true)
        }
    }
}
