import Larder
import LarderSystem

/// The records of a pantry and the changes that wait for services, in one SQLite database. Everything blocks.
///
/// ``SyncPlanner`` decides, and each decision is one transaction: the rows that it concerns are read, the planner changes
/// them, and rows, books and letters are written together or not at all.
///
/// Several processes may use one database. Reads see the last transaction that has ended.
final class RecordDatabase: Sendable {
    /// The failures that a write survives once it has returned.
    enum Durability: String, Sendable, CaseIterable {
        /// The end of the process.
        case process
        /// A power cut.
        case power
    }

    /// A table in which something has changed; nil if it may be any.
    typealias Change = RecordTable?

    let file: SQLiteFile
    let processes: SQLiteProcesses
    let world: any World
    /// Makes the folder of the file, if it is missing.
    let makeFolder: @Sendable () throws -> Void
    /// The changes of this process and of others, as far as those are watched: see ``watch()``.
    let changes = Listeners<Change>()
    /// The resources whose records are in use, each with the number of its users.
    private let used = Locked<[String: Int]>([:])
    /// The watch for the changes of others.
    let sharedWatch = Locked(SharedWatch())
    /// The events of records between users and the service, in this process.
    let events = Listeners<SyncEvent>()
    /// Told when a damaged file was set aside, and what could be read of it was saved.
    let damages = Listeners<Void>()
    /// The numbers of each transaction of this process.
    let counted = Listeners<(table: RecordTable, counts: SyncCounts)>()

    /// The most bytes of a row: a record as the service sent it and as the user sees it together, or a write.
    static let longestRow = 64_000_000

    /// The numbers of pages from which the write-ahead log is copied, and is emptied although readers may have to wait. In
    /// a long log, the pages of indexes that a pull changes again and again are copied once.
    private static let logPages = (usual: 4_000, most: 16_000)

    /// - Parameters:
    ///   - path: the path of the file.
    ///   - longestRow: the most bytes of a row.
    ///   - makeFolder: makes its folder, if it is missing.
    init(
        _ path: String, in world: any World, longestRow: Int = RecordDatabase.longestRow,
        makeFolder: @escaping @Sendable () throws -> Void = {}
    ) {
        (self.world, self.makeFolder) = (world, makeFolder)
        file = SQLiteFile(
            path, .records, longestValue: longestRow, makeFolder: makeFolder,
            salvage: { try RecordSalvage.copy(from: $0, to: $1) }, onDamage: { [damages] in damages.send(()) })
        processes = SQLiteProcesses(beside: path, in: world)
    }

    // MARK: Use

    /// Notes that the records of a resource are in use, until the returned subscription ends.
    func use(_ resource: String) -> Subscription {
        used.withLock { $0[resource, default: 0] += 1 }
        return Subscription { [weak self] in
            self?.used.withLock { used in
                let left = (used[resource] ?? 1) - 1
                used[resource] = left > 0 ? left : nil
            }
        }
    }

    /// Returns whether the records of a resource are in use. If not, it has no policy with records any more.
    func isUsed(_ resource: String) -> Bool { used.withLock { $0[resource] != nil } }

    /// Runs `body` with a connection that sees one state of the database.
    func reading<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try file.reading { connection in try connection.snapshot { try body(connection) } }
    }

    /// Runs `body` as one transaction, and tells observers and other processes which tables have changed.
    ///
    /// - Parameter durability: what the transaction survives when this returns.
    func changing<Result>(
        _ durability: Durability, _ body: (RecordTransaction) throws -> Result
    ) throws -> Result {
        let (result, changed, events, counts) = try file.writing { connection in
            try connection.survivePowerCuts(durability == .power)
            let done = try connection.transaction {
                let transaction = try RecordTransaction(connection, now: now)
                let result = try body(transaction)
                try transaction.finish()
                return (result, transaction.changed, transaction.events, transaction.counted)
            }
            // Another process may have set a damaged file aside while this one waited for it.
            if !file.isCurrent(connection) { throw SQLiteFailure.damaged }
            shortenLog(connection)
            return done
        }
        for event in events { self.events.send(event) }
        for event in counts { counted.send(event) }
        if !changed.isEmpty {
            for table in changed { changes.send(table) }
            processes.tell(atOnce: false)
        }
        return result
    }

    /// Copies a long write-ahead log into the database. If a reader prevents that, a later transaction does it.
    private func shortenLog(_ connection: SQLiteConnection) {
        let pages = connection.logPages
        if pages >= Self.logPages.usual {
            _ = try? file.copyLog(connection, pages >= Self.logPages.most ? .wholeAfterReaders : .partly)
        }
    }

    private var now: SyncMoment {
        let world = world
        return SyncMoment(now: world.now.milliseconds, sequence: 0) { UUIDv7.make(in: world) }
    }

    /// Returns the number of a table; nil if there is no such table.
    func number(of table: RecordTable, _ connection: SQLiteConnection) throws -> Int64? {
        try TableFacts.read(table, connection)?.number
    }

    deinit { close() }

    func close() {
        file.close()
        processes.leave()
        events.end()
    }
}

extension Timestamp {
    /// The whole milliseconds since 1970.
    var milliseconds: Int64 { nanoseconds / 1_000_000 - (nanoseconds % 1_000_000 < 0 ? 1 : 0) }
}

/// Identifiers that sort by the time at which they were made (RFC 9562, version 7): to 4,096 parts of a millisecond, with 62
/// random bits.
enum UUIDv7 {
    static func make(in world: any World) -> String { make(at: world.now, random: world.random()) }

    static func make(at time: Timestamp, random: UInt64) -> String {
        let milliseconds = UInt64(clamping: time.milliseconds)
        let rest = time.nanoseconds % 1_000_000
        let part = UInt64(rest < 0 ? rest + 1_000_000 : rest) * 4_096 / 1_000_000
        let high = milliseconds << 16 | 0x7000 | part
        let low = 0x8000_0000_0000_0000 | random >> 2
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for word in [high, low] {
            for shift in stride(from: 60, through: 0, by: -4) {
                switch text.count {
                case 8, 13, 18, 23: text.append(UInt8(ascii: "-"))
                default: break
                }
                let digit = UInt8(truncatingIfNeeded: word >> shift & 0xF)
                text.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
