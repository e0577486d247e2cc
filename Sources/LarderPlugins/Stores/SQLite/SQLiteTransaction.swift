import LarderFoundation
import LarderSystem
import LarderCore

/// Changes of entries that are made together or not at all. Blocks.
final class SQLiteTransaction {
    let connection: SQLiteConnection
    let options: SQLiteOptions
    let uses: SQLiteUses
    let world: any World
    let now: Timestamp
    var totals: SQLiteTotals
    /// The files whose entries are gone, to be deleted after the transaction.
    var obsoleteFiles: [Int64] = []
    /// The size to which ``finish()`` reduces the entries.
    var capacity: Int
    /// The entries that were removed to make room.
    var evicted: [EvictedEntry] = []
    /// Whether damaged rows were deleted. The totals must be counted again then, and there may be files that no row names.
    private(set) var foundDamage = false
    /// Whether the totals do not include all that was deleted.
    private var mustCount = false
    /// Whether entries were marked as expired.
    private(set) var hasExpired = false
    /// Whether entries were removed that were selected by account or tag, or all.
    private(set) var removesMany = false

    init(_ connection: SQLiteConnection, options: SQLiteOptions, uses: SQLiteUses, in world: any World) throws {
        (self.connection, self.options, self.uses, self.world) = (connection, options, uses, world)
        now = world.now
        capacity = options.capacity
        totals = try SQLiteTotals.read(connection)
    }

    /// Makes a change.
    ///
    /// - Parameters:
    ///   - payload: the place of the payload of a write.
    ///   - process: the number of this process.
    /// - Returns: for a write, whether the entry is kept. For a renewal or a pin, whether there is such an entry.
    func make(_ change: SQLiteQueue.Change, payload: SQLitePayloads.Place?, process: Int64) throws -> Bool {
        switch change {
        case .write(let entry, let key): return try write(entry, for: key, payload ?? .init(digest: []))
        case .renew(let entry, let key): return try renew(entry, for: key)
        case .expire(let selection):
            hasExpired = true
            try expire(selection)
            try announce(selection, process)
        case .remove(let selection, let keys):
            if case .key = selection {} else { removesMany = true }
            try remove(selection, and: keys)
            try announce(selection, process)
        case .pin(let key): return try pin(key, true)
        case .unpin(let key): return try pin(key, false)
        case .nothing: break
        }
        return true
    }

    /// Writes the totals, after the last change.
    func finish() throws {
        try removeOld()
        repeat {
            if mustCount { totals = try SQLiteTotals.counted(connection, next: totals.next) }
            mustCount = false
            try evict()
        } while mustCount
        try totals.save(connection)
    }

    // MARK: Changes

    private func write(_ entry: Entry, for key: Key, _ payload: SQLitePayloads.Place) throws -> Bool {
        let former = try rows(of: key)
        let row = try SQLiteRow(
            entry, for: key, id: totals.next, file: payload.file, digest: payload.digest,
            isPinned: former.contains(where: \.isPinned))
        guard isYoung(row), hasRoom(for: row, insteadOf: former) else {
            for row in former { try row.isPinned ? expire(row) : delete(row) }
            return false
        }
        for old in former {
            try uses.move(old.id, to: row.id, connection)
            try delete(old)
        }
        totals.next += 1
        try row.insert(connection, payload: payload.file == nil ? entry.payload.bytes : Data())
        totals.add(row)
        try addTags(entry.metadata, of: row)
        return true
    }

    private func renew(_ entry: Entry, for key: Key) throws -> Bool {
        for row in try rows(of: key) {
            let former = try EncodedHead(of: row.head)
            var renewed = row
            renewed.setHead(
                try entry.encodedHead(for: key), entry.metadata, payloadSize: entry.payload.bytes.count)
            guard former.metadata.isOfSamePayload(as: entry.metadata), isYoung(renewed),
                former.payloadSize == entry.payload.bytes.count, hasRoom(for: renewed, insteadOf: [row])
            else { continue }
            try replace(row, metadata: former.metadata, by: renewed, otherMetadata: entry.metadata)
            return true
        }
        return false
    }

    private func pin(_ key: Key, _ isPinned: Bool) throws -> Bool {
        // Entries that were written before in this transaction may fill the store.
        try evict()
        guard let row = try rows(of: key).first, isYoung(row) else { return false }
        if row.isPinned == isPinned { return true }
        if isPinned, !hasRoom(for: row, insteadOf: [row]) { return false }
        var pinned = row
        pinned.isPinned = isPinned
        totals.remove(row)
        totals.add(pinned)
        try pinned.update(connection)
        return true
    }

    /// Marks an entry as expired.
    func expire(_ row: SQLiteRow) throws {
        let head = try EncodedHead(of: row.head)
        var metadata = head.metadata
        if metadata.isExpired { return }
        metadata.isExpired = true
        var expired = row
        expired.setHead(try head.encoded(with: metadata), metadata, payloadSize: head.payloadSize)
        try replace(row, metadata: head.metadata, by: expired, otherMetadata: metadata)
    }

    private func replace(
        _ row: SQLiteRow, metadata: Metadata, by other: SQLiteRow, otherMetadata: Metadata
    ) throws {
        totals.remove(row)
        totals.add(other)
        try other.update(connection)
        if metadata.tags != otherMetadata.tags {
            try removeTags(metadata, of: row)
            try addTags(otherMetadata, of: other)
        }
    }

    /// Deletes a row and what belongs to it.
    func delete(_ row: SQLiteRow) throws {
        if row.isTagged { try removeTags(try EncodedHead(of: row.head).metadata, of: row) }
        try connection.run("DELETE FROM uses WHERE entry=?", .integer(row.id))
        try connection.run("DELETE FROM entries WHERE id=?", .integer(row.id))
        totals.remove(row)
        if let file = row.file { obsoleteFiles.append(file) }
    }

    /// Deletes a row whose contents cannot be trusted.
    func deleteDamaged(_ id: Int64) throws {
        try connection.run("DELETE FROM tags WHERE entry=?", .integer(id))
        try connection.run("DELETE FROM uses WHERE entry=?", .integer(id))
        try connection.run("DELETE FROM entries WHERE id=?", .integer(id))
        (foundDamage, mustCount) = (true, true)
    }

    // MARK: Rows

    /// Returns the rows of a key. There is at most one unless the table is damaged. Deletes damaged rows.
    func rows(of key: Key) throws -> [SQLiteRow] {
        var ids: [Int64] = []
        try connection.each("SELECT id FROM entries WHERE hash=?", .integer(SQLiteRow.hash(of: key))) {
            ids.append($0.integer(0))
            return true
        }
        return try ids.compactMap { id in
            guard let row = try row(id), try EncodedHead(of: row.head).isOf(key) else { return nil }
            return row
        }
    }

    /// Returns a row. Deletes it if it is damaged.
    func row(_ id: Int64) throws -> SQLiteRow? {
        do {
            return try connection.first("SELECT \(SQLiteRow.columns) FROM entries WHERE id=?", .integer(id)) {
                try SQLiteRow(reading: $0)
            }
        } catch let failure as StoreError where failure.isDamaged {
            try deleteDamaged(id)
            return nil
        }
    }

    /// Returns whether a row is not too old. Pinned ones never are.
    func isYoung(_ row: SQLiteRow) -> Bool {
        row.isPinned || now - Timestamp(nanoseconds: row.at) < options.maxAge
    }

    /// Returns whether an entry fits into the capacity beside the pinned ones.
    private func hasRoom(for row: SQLiteRow, insteadOf former: [SQLiteRow]) -> Bool {
        let pinned = former.filter(\.isPinned)
        return totals.pinnedSize &- pinned.reduce(0) { $0 &+ $1.size } <= options.capacity &- row.size
            && totals.pinnedEntries &- pinned.count < options.mostEntries ?? .max
    }

    // MARK: Tags

    private func addTags(_ metadata: Metadata, of row: SQLiteRow) throws {
        for tag in metadata.tags { try row.addTag(tag, connection) }
    }

    private func removeTags(_ metadata: Metadata, of row: SQLiteRow) throws {
        for tag in metadata.tags {
            try connection.run(
                "DELETE FROM tags WHERE tag=? AND entry=?", .integer(SQLiteRow.hash(of: tag)), .integer(row.id))
        }
    }
}
