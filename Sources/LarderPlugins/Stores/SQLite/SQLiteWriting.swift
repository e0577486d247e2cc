import LarderSystem
import LarderCore
import Synchronization

/// The work of the thread that writes. Blocks.
extension SQLiteStore {
    /// Makes changes and tells their callers.
    func make(_ items: [SQLiteQueue.Item]) {
        var mayMakeRoom = true
        let results = attempt(items.map(\.change), &mayMakeRoom)
        let hidden = hideOlder(items, results)
        for (item, result) in zip(items, results) {
            let isFailedRemoval = if case .failure = result { item.isRemoval } else { false }
            queue.withLock { $0.end(item, leavesOlder: isFailedRemoval || hidden.contains(item.number)) }
            item.caller?.resume(returning: result.mapError { $0 })
        }
    }

    /// Removes the older entries of writes that failed after they were acknowledged, and reports the failures.
    ///
    /// - Returns: the numbers of the writes whose older entries could not be removed.
    private func hideOlder(_ items: [SQLiteQueue.Item], _ results: [Result<Bool, StoreError>]) -> Set<Int> {
        var keys: [Key] = []
        var numbers: Set<Int> = []
        for (item, result) in zip(items, results) {
            guard case .failure(let error) = result, item.caller == nil, case .write(_, let key) = item.change else {
                continue
            }
            context?.storeFailed(StoreFault(tier: Self.tier, error: error), at: .write)
            // A later write of the same entry stays.
            guard queue.withLock({ $0.isLast(item) }) else { continue }
            keys.append(key)
            numbers.insert(item.number)
        }
        guard let first = keys.first else { return [] }
        var mayMakeRoom = false
        let removal = attempt([.remove(.key(first), also: keys)], &mayMakeRoom)
        return (try? removal[0].get()) == nil ? numbers : []
    }

    /// Makes changes together. If one of them may be the reason of a failure, makes them one by one.
    ///
    /// - Parameter mayMakeRoom: whether entries may be removed if the disk is full. That is done once for all changes.
    private func attempt(
        _ changes: [SQLiteQueue.Change], _ mayMakeRoom: inout Bool
    ) -> [Result<Bool, StoreError>] {
        do { return try transact(changes).map { .success($0) } } catch let failure as SQLiteFilesAreLeft {
            // Made again, the removal would find no rows, and not tell that their files are left.
            return changes.map { _ in .failure(StoreError(failure)) }
        } catch {
            let failure = error as? SQLiteFailure
            if changes.count > 1, failure?.concernsOneEntry ?? true {
                return changes.flatMap { attempt([$0], &mayMakeRoom) }
            }
            var error = StoreError(error)
            if error.isFull, mayMakeRoom, case .remove(let selection, let keys) = changes[0] {
                do {
                    let isMade = try removeOnFullDisk(selection, keys: keys) { try transact(changes)[0] }
                    return changes.map { _ in .success(isMade) }
                } catch { return changes.map { _ in .failure(StoreError(error)) } }
            }
            // A new database is begun after damage, and a full disk may get room.
            if failure?.isDamaged == true || error.isFull && mayMakeRoom {
                if error.isFull { makeRoom(for: changes) }
                mayMakeRoom = mayMakeRoom && !error.isFull
                do { return try transact(changes).map { .success($0) } } catch let second { error = StoreError(second) }
            }
            return changes.map { _ in .failure(error) }
        }
    }

    /// Makes changes in one transaction.
    private func transact(_ changes: [SQLiteQueue.Change]) throws -> [Bool] {
        // Waiting for the changes before, and closing, leave the files as they are.
        if changes.allSatisfy({ if case .nothing = $0 { true } else { false } }) { return changes.map { _ in true } }
        try clean()
        let needsFiles = changes.contains { isLarge($0) }
        return try needsFiles ? Disk.sharing(options.folder) { try transactShared(changes) } : transactShared(changes)
    }

    private func transactShared(_ changes: [SQLiteQueue.Change]) throws -> [Bool] {
        let isRemoval = changes.contains { if case .remove = $0 { true } else { false } }
        let isDurable = isRemoval || options.durability == .power
        var made: [Int64] = []
        do {
            let (results, removesMany, areDeleted) = try database.writing { connection in
                try notePosition(connection)
                let digests = try changes.map { change -> SQLitePayloads.Place? in
                    guard case .write(let entry, _) = change else { return nil }
                    var place = SQLitePayloads.Place(digest: options.checksum.digest(of: entry.payload.bytes))
                    if isLarge(change) {
                        let file = try payloads.make(entry.payload, isDurable: isDurable)
                        made.append(file)
                        place.file = file
                    }
                    return place
                }
                try connection.survivePowerCuts(isDurable)
                var results: [Bool] = []
                var first: Int64 = 0
                let transaction = try connection.transaction {
                    let transaction = try SQLiteTransaction(connection, options: options, uses: uses, in: world)
                    first = transaction.totals.next
                    for (change, place) in zip(changes, digests) {
                        let isKept = try transaction.make(change, payload: place, process: process)
                        if !isKept, let file = place?.file { transaction.obsoleteFiles.append(file) }
                        results.append(isKept)
                    }
                    try transaction.finish()
                    return transaction
                }
                if transaction.totals.next > first { noteOwnRows(first...transaction.totals.next - 1) }
                if transaction.foundDamage { condition.needsCleaning.store(true, ordering: .relaxed) }
                let areDeleted = payloads.delete(transaction.obsoleteFiles)
                report(transaction.evicted)
                processes.tell(atOnce: isRemoval || transaction.hasExpired)
                if !isRemoval { copyLog(connection) }
                // Another process may have begun a new database while this one waited for it.
                if isRemoval, !database.isCurrent(connection) { throw SQLiteFailure.damaged }
                return (results, transaction.removesMany, areDeleted)
            }
            made = []
            defer { makeReserve() }
            if removesMany { do { try giveSpaceBack() } catch { throw SQLiteFilesAreLeft() } }
            if isRemoval, !areDeleted { throw SQLiteFilesAreLeft() }
            return results
        } catch {
            payloads.delete(made)
            throw error
        }
    }

    private func isLarge(_ change: SQLiteQueue.Change) -> Bool {
        guard case .write(let entry, _) = change else { return false }
        return entry.payload.isFile || entry.payload.bytes.count >= options.smallestFile
    }

    /// Counts and tells the entries that were removed to make room.
    func report(_ evicted: [EvictedEntry]) {
        if evicted.isEmpty { return }
        evictions.add(evicted.count, ordering: .relaxed)
        context?.forgot(evicted)
    }
}
