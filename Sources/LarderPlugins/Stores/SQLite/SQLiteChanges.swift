import LarderSystem
import LarderCore

/// The changes that other processes make.
extension SQLiteStore {
    /// The shortest time between two searches for changes.
    private static let pause = Duration.milliseconds(200)
    /// The most entries that are named one by one.
    private static let mostNamed = 256

    /// The position up to which changes are known.
    struct Position: Sendable {
        /// The number of the last removal.
        fileprivate var removal: Int64
        /// The number of the next new row.
        fileprivate var row: Int64
        /// The file.
        fileprivate var file: FileStamp
    }

    var changes: AsyncStream<StoreChange>? {
        guard world.hasOtherProcesses else { return nil }
        let (stream, continuation) = StoreChange.makeStream()
        let work = world.spawn { [weak self, world, processes] in
            _ = try? await world.blocking { processes.join() }
            let events = world.changes(in: processes.folder)
            // Others may have changed something before the watch began.
            var position = await self?.sendChanges(since: nil, to: continuation)
            for await _ in events {
                // The event may be another process that has begun. This process may have been deleted from the folder.
                _ = try? await world.blocking {
                    processes.join()
                    processes.look()
                }
                position = await self?.sendChanges(since: position, to: continuation) ?? position
                guard (try? await world.sleep(for: Self.pause)) != nil else { break }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in work.cancel() }
        return stream
    }

    /// Sends the changes since a position, or else since the first use of the database.
    ///
    /// - Returns: the position after them; nil if they cannot be read now.
    private func sendChanges(
        since position: Position?, to listener: AsyncStream<StoreChange>.Continuation
    ) async -> Position? {
        // Before the first use of the database, nobody has a copy that could be out of date.
        guard let known = position ?? known.withLock({ $0 }), let (changes, next) = try? await changes(since: known)
        else { return nil }
        for change in changes { listener.send(StoreChange(change)) }
        return next
    }

    /// Notes from where on changes matter. Called before the database is used.
    func notePosition(_ connection: SQLiteConnection) throws {
        if known.withLock({ $0 == nil }) {
            let position = try Self.position(connection)
            known.withLock { $0 = $0 ?? position }
        }
    }

    private static func position(_ connection: SQLiteConnection) throws -> Position {
        func number(_ sql: String) throws -> Int64 { try connection.first(sql) { $0.integer(0) } ?? 0 }
        return Position(
            removal: try number("SELECT seq FROM sqlite_sequence WHERE name='removals'"),
            row: try SQLiteTotals.read(connection).next, file: connection.file)
    }

    /// Returns the changes that other processes have made, removals first.
    private func changes(since known: Position) async throws -> (changes: [Selection], next: Position) {
        try await reading { [self, process] connection in
            let next = try Self.position(connection)
            let isSame = next.file.isOfSameFile(as: known.file)
            if !isSame || next.removal < known.removal || next.row < known.row { return ([.all], next) }
            let own = ownRows.withLock { $0 }
            var changes: [Selection] = []
            let removals = "SELECT kind, text, process FROM removals WHERE id > ? AND id <= ? ORDER BY id"
            var count: Int64 = 0
            try connection.each(removals, .integer(known.removal), .integer(next.removal)) { row in
                count += 1
                if row.integer(2) == process { return true }
                let text = String(decoding: row.bytes(1), as: UTF8.self)
                switch row.integer(0) {
                case 1: changes.append(Key(text: text).map { .key($0) } ?? .all)
                case 2: changes.append(.tag(text))
                default: changes.append(.all)
                }
                return true
            }
            // Older removals are not kept.
            if count < next.removal &- known.removal { return ([.all], next) }
            let new = "SELECT id, \(SQLiteRow.headColumn) FROM entries WHERE id >= ? AND id < ? ORDER BY id"
            try connection.each(new, .integer(known.row), .integer(next.row)) { row in
                if own.contains(where: { $0.contains(row.integer(0)) }) { return true }
                guard let key = (try? EncodedHead(of: row.bytes(1)))?.key else { return true }
                changes.append(.key(key))
                return changes.count <= Self.mostNamed
            }
            return (changes.count > Self.mostNamed ? [.all] : changes, next)
        }
    }

    /// Notes that rows are of this process.
    func noteOwnRows(_ rows: ClosedRange<Int64>) {
        ownRows.withLock { own in
            if let last = own.last, last.upperBound + 1 == rows.lowerBound {
                own[own.count - 1] = last.lowerBound...rows.upperBound
            } else {
                // Older rows are taken for those of another process, which does no harm.
                if own.count >= 1_000 { own.removeFirst(500) }
                own.append(rows)
            }
        }
    }
}
