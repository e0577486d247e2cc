public import Larder
import LarderSystem

/// The result of a check of all records on this device.
public struct RecordCheck: Sendable, Hashable {
    /// The result for a resource and an account.
    public struct Account: Sendable, Hashable {
        /// The name of the resource.
        public let resource: String
        /// The account; nil if the records belong to nobody.
        public let account: String?
        /// The number of records, with those that were deleted here.
        public internal(set) var records = 0
        /// The number of changes that wait for the service.
        public internal(set) var waiting = 0
        /// The number of records that are not shown as the service sent them with the user's changes on them.
        public internal(set) var wronglyShown = 0
        /// The number of waiting changes whose record is missing.
        public internal(set) var withoutRecord = 0
        /// The number of changes that were counted as waiting, less those that wait.
        public internal(set) var miscounted = 0
        /// The number of changes that were made and are in no account.
        public internal(set) var unaccounted = 0

        /// Whether nothing is wrong.
        public var isSound: Bool { wronglyShown == 0 && withoutRecord == 0 && miscounted == 0 && unaccounted == 0 }
    }

    /// Whether the database can be read, and each row is as it was written. If not, the next change sets it aside and begins
    /// a new one with all rows that are sound.
    public let isReadable: Bool
    /// The resources and accounts; empty if the database cannot be read.
    public let accounts: [Account]

    /// Whether nothing is wrong.
    public var isSound: Bool { isReadable && accounts.allSatisfy(\.isSound) }
}

extension Pantry {
    /// Checks all records on this device: whether the database is whole, whether each change is in an account, and whether each
    /// record is shown as the service sent it with the user's changes on it. Nothing is changed. It reads the whole database.
    ///
    /// - Parameter progress: called with the share that is done.
    /// - Returns: the result; nil if there are no records yet.
    /// - Throws: an error if the database cannot be read for another reason than damage.
    public func checkRecords(_ progress: @escaping @Sendable (Double) -> Void = { _ in }) async throws -> RecordCheck? {
        try await looking { _, database in
            guard try database.verify() else { return RecordCheck(isReadable: false, accounts: []) }
            do {
                return RecordCheck(isReadable: true, accounts: try database.checkAccounts(progress))
            } catch let failure as SQLiteFailure where failure == .damaged {
                return RecordCheck(isReadable: false, accounts: [])
            }
        }
    }
}

extension RecordDatabase {
    fileprivate func checkAccounts(_ progress: (Double) -> Void) throws -> [RecordCheck.Account] {
        try reading { connection in
            let all = try connection.first("SELECT count(*) FROM records") { Double($0.integer(0)) } ?? 0
            var done = 0.0
            return try TableFacts.all(connection).map { facts in
                var account = RecordCheck.Account(resource: facts.table.resource, account: facts.table.scope)
                let planner = SyncPlanner(SyncRules(idPath: facts.idPath))
                try connection.each("SELECT \(KeptRow.columns) FROM records WHERE t=?", .integer(facts.number)) { row in
                    let kept = try KeptRow(reading: row)
                    account.records += 1
                    if try !connection.isShownRightly(kept, by: planner) { account.wronglyShown += 1 }
                    done += 1
                    progress(done / all)
                    return true
                }
                try account.count(facts, connection)
                return account
            }
        }
    }
}

extension RecordCheck.Account {
    fileprivate mutating func count(_ facts: TableFacts, _ connection: SQLiteConnection) throws {
        let sql = "SELECT \(KeptWrite.columns) FROM outbox WHERE t=?"
        try connection.each(sql, .integer(facts.number)) { row in
            let kept = try KeptWrite(reading: row)
            if kept.write.isPending { waiting += 1 }
            if try connection.keptRow(kept.record, of: facts.number) == nil { withoutRecord += 1 }
            return true
        }
        (miscounted, unaccounted) = (facts.books.pending - waiting, facts.books.unaccounted)
    }
}

extension SQLiteConnection {
    /// Returns whether a record is shown as the service sent it with the user's changes on it.
    fileprivate func isShownRightly(_ kept: KeptRow, by planner: SyncPlanner) throws -> Bool {
        var row = kept.row
        row.writes = try writes(of: row.number)
        if kept.state == .rejected { row.rejected = kept.shown }
        let expected = planner.shown(row)
        guard row.state(shown: expected) == kept.state else { return false }
        return kept.state.seen == nil || (kept.shown ?? kept.row.base) == expected?.withPlainNames
    }
}
