import LarderFoundation
import LarderSystem
import LarderCore
import Synchronization

extension SQLiteStore {
    func read(_ reading: Reading) async throws -> Found? {
        let key = reading.key
        let found: Entry?
        switch queue.withLock({ $0.pending(key) }) {
        case .entry(let entry): found = entry
        case .removal: found = nil
        case nil where reading.needsPayload:
            let row = try await self.reading { [self] in try find(key, $0) }
            if let row { uses.add(row.row.id) }
            found = row?.entry
        case nil:
            found = try await self.reading { [self] in
                try row(of: key, withPayload: false, $0).map { Entry(Data(), $0.head.metadata) }
            }
        }
        if reading.needsPayload {
            if found == nil { misses.add(1, ordering: .relaxed) } else { hits.add(1, ordering: .relaxed) }
        }
        return found.map { Found($0, tier: Self.tier, isForeign: true) }
    }

    func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
        guard let position = cursor.map({ Int64($0.text) }) ?? 0 else {
            throw StoreError("the cursor is not one of this store")
        }
        try await settle()
        return try await reading { [self] in try page(after: position, most: count, $0) }
    }

    func statistics() async -> StoreStatistics {
        try? await settle()
        let totals = try? await reading { try SQLiteTotals.read($0) }
        return StoreStatistics(
            entries: totals?.entries ?? 0, bytes: totals?.size ?? 0, hits: hits.load(ordering: .relaxed),
            misses: misses.load(ordering: .relaxed), evictions: evictions.load(ordering: .relaxed))
    }

    /// Runs work on one of the threads that read.
    func reading<Value: Sendable>(
        _ work: @escaping @Sendable (SQLiteConnection) throws -> Value
    ) async throws -> Value {
        try await world.blocking(on: database.path + " reads", atMost: SQLiteFile.mostReaders) { [self] in
            do {
                return try database.reading { connection in
                    try notePosition(connection)
                    return try work(connection)
                }
            } catch {
                throw StoreError(error)
            }
        }
    }

    // MARK: Rows

    /// A row, and the parts of its entry that are in it.
    private struct FoundRow {
        var row: SQLiteRow
        var head: EncodedHead
        /// The payload; empty if it is in a file.
        var payload = Data()
    }

    /// Returns the entry under a key. Blocks.
    ///
    /// - Throws: ``StoreError/damaged`` if it is damaged.
    private func find(_ key: Key, _ connection: SQLiteConnection) throws -> (row: SQLiteRow, entry: Entry)? {
        var last: (row: SQLiteRow, failure: any Error)?
        while let found = try row(of: key, withPayload: true, connection) {
            let row = found.row
            // The parts of an entry do not fit together if it is replaced while they are read. They are damaged if the
            // entry is still the same.
            if let last, last.row.id == row.id, last.row.at == row.at { throw last.failure }
            do { return (row, try entry(found, connection)) } catch let failure as StoreError where failure.isDamaged {
                last = (row, failure)
            }
        }
        return nil
    }

    private func entry(_ found: FoundRow, _ connection: SQLiteConnection) throws -> Entry {
        let (row, head) = (found.row, found.head)
        if row.isTagged { try checkTags(of: row, head.metadata, connection) }
        if let file = row.file {
            return Entry(try payloads.read(file, size: head.payloadSize, digest: row.digest), head.metadata)
        }
        guard found.payload.count == head.payloadSize, SQLiteChecksum.check(found.payload, row.digest) else {
            throw StoreError.damaged
        }
        return Entry(found.payload, head.metadata)
    }

    /// Returns the row of a key; nil if there is none, or if it is too old.
    private func row(of key: Key, withPayload: Bool, _ connection: SQLiteConnection) throws -> FoundRow? {
        var found: FoundRow?
        var failure: StoreError?
        let sql = withPayload ? Self.selectionWithPayload : Self.selection
        try connection.each(sql, .integer(options.longestPayload), .integer(SQLiteRow.hash(of: key))) { statement in
            do throws(StoreError) {
                let row = try SQLiteRow(reading: statement)
                let head = try EncodedHead(of: row.head)
                if head.isOf(key) { found = FoundRow(row: row, head: head) }
            } catch {
                failure = error
            }
            if withPayload, found?.row.file == nil { found?.payload = statement.data(7) }
            return found == nil
        }
        guard let found else {
            if let failure { throw failure }
            return nil
        }
        return isYoung(found.row) ? found : nil
    }

    private func isYoung(_ row: SQLiteRow) -> Bool {
        row.isPinned || world.now - Timestamp(nanoseconds: row.at) < options.maxAge
    }

    private static let selection = "SELECT \(SQLiteRow.columns), ?1 FROM entries WHERE hash=?2"
    private static let selectionWithPayload =
        "SELECT \(SQLiteRow.columns), \(SQLiteRow.payloadColumn) FROM entries WHERE hash=?2"

    /// Checks that the entry can be found by its tags, so that a removal of a tag reaches it.
    private func checkTags(of row: SQLiteRow, _ metadata: Metadata, _ connection: SQLiteConnection) throws {
        for tag in metadata.tags {
            let found = try connection.first(
                "SELECT 1 FROM tags WHERE tag=? AND entry=?", .integer(SQLiteRow.hash(of: tag)), .integer(row.id)
            ) { _ in true }
            if found == nil { throw StoreError.damaged }
        }
    }

    private func page(after position: Int64, most count: Int, _ connection: SQLiteConnection) throws -> StorePage {
        var page = StorePage([])
        var (last, rows) = (position, 0)
        let sql = "SELECT \(SQLiteRow.columns) FROM entries WHERE id > ? ORDER BY id LIMIT ?"
        try connection.each(sql, .integer(position), .integer(max(1, count))) { statement in
            last = statement.integer(0)
            rows += 1
            // Damaged entries are not listed. They are removed when they are read.
            guard let row = try? SQLiteRow(reading: statement), let head = try? EncodedHead(of: row.head),
                isYoung(row)
            else { return true }
            var entry = ListedEntry(
                key: head.key, digest: head.key?.digest ?? "", metadata: head.metadata, size: head.payloadSize)
            entry.isPinned = row.isPinned
            page.entries.append(entry)
            return true
        }
        if rows == count { page.next = StoreCursor("\(last)") }
        return page
    }
}
