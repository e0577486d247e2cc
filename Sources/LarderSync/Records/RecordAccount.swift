public import Larder
public import LarderSystem

/// The records of a resource and an account on this device, in numbers.
public struct RecordAccount: Sendable, Hashable {
    /// The name of the resource.
    public let resource: String
    /// The account; nil if the records belong to nobody.
    public let account: String?
    /// The number of records that are shown.
    public let records: Int
    /// The changes that were made of them, by what became of each.
    public let changes: ChangeCounts
    /// The time at which the oldest change was made that waits for the service; nil if none waits.
    public let oldestWaiting: Timestamp?
    /// The number of records whose changes wait because they were made for another source: see ``Records/releaseHeld()``.
    public let held: Int
    /// The number of changes that are not sent any more and can be made again: see ``Records/rejected()``.
    public let letters: Int
    /// The number of records of the service that make no sense and were set aside.
    public let quarantined: Int
    /// The time at which the last complete pull of the present source began; nil if there was none.
    public let lastPull: Timestamp?
    /// Whether a pull has begun that is not complete yet.
    public let isPullUnfinished: Bool
    /// The reason for which the last pull failed; nil if it did not. It is the text of the error, which has no ids, values and
    /// addresses in it, unless a plugin of the app adds them.
    public let pullFailure: String?
}

/// The changes that were made of records, by what became of each. They are counted in the transactions that make them so.
public struct ChangeCounts: Sendable, Hashable {
    /// All that were made.
    public let made: Int
    /// Those that the service accepted.
    public let accepted: Int
    /// Those that became part of an earlier one which was never sent.
    public let merged: Int
    /// Those that others' changes replaced.
    public let overtaken: Int
    /// Those that the service refused.
    public let rejected: Int
    /// Those that waited too long.
    public let expired: Int
    /// Those that were taken back.
    public let discarded: Int
    /// Those that wait for the service.
    public let waiting: Int
    /// Those that are in none of the other numbers. Always 0.
    public let unaccounted: Int

    init(_ books: Books) {
        (made, accepted, merged, overtaken) = (books.made, books.accepted, books.merged, books.overtaken)
        (rejected, expired, discarded) = (books.rejected, books.expired, books.discarded)
        (waiting, unaccounted) = (books.pending, books.unaccounted)
    }
}

extension Pantry {
    /// Returns the records of each resource and account on this device in numbers, in the order of their first use. There are
    /// none before the first record. Nothing is changed, and no database is made.
    ///
    /// ```swift
    /// let waiting = try await pantry.recordAccounts().reduce(0) { $0 + $1.changes.waiting }
    /// ```
    ///
    /// Resources whose policy is gone are among them: their changes wait until there is a policy again.
    ///
    /// - Throws: errors of the disk and the database.
    public func recordAccounts() async throws -> [RecordAccount] {
        try await looking { attachments, database in
            try database.reading { connection in
                try TableFacts.all(connection).map { facts in
                    try RecordAccount(facts, keptBy: attachments[facts.table.resource], in: connection)
                }
            }
        } ?? []
    }

    /// Runs `body` with the database and the parts that keep records, by resource, if there is a database.
    func looking<Result: Sendable>(
        _ body: @escaping @Sendable ([String: RecordsAttachment], RecordDatabase) throws -> Result
    ) async throws -> Result? {
        var attachments: [String: RecordsAttachment] = [:]
        for name in resources { attachments[name] = resource(name).recordsAttachment }
        guard let any = attachments.values.first else { return nil }
        return try await any.blocking { [attachments, database = any.database] in
            Disk.stamp(of: database.file.path) == nil ? nil : try body(attachments, database)
        }
    }
}

extension RecordAccount {
    /// Reads the numbers of a table.
    ///
    /// - Parameter attachment: the part that keeps its records; nil if it has no policy.
    fileprivate init(
        _ facts: TableFacts, keptBy attachment: RecordsAttachment?, in connection: SQLiteConnection
    ) throws {
        func count(_ sql: String) throws -> Int {
            try connection.first("SELECT count(*) FROM " + sql, .integer(facts.number)) { Int($0.integer(0)) } ?? 0
        }
        (resource, account) = (facts.table.resource, facts.table.scope)
        records = try count("records WHERE t=? AND state<\(RecordRowState.hidden.rawValue)")
        changes = ChangeCounts(facts.books)
        letters = try count("letters WHERE t=?")
        quarantined = try count("quarantine WHERE t=?")
        var (oldest, others): (Int64?, Set<Int64>) = (nil, [])
        let rules = attachment?.planner.rules
        try connection.each("SELECT \(KeptWrite.columns) FROM outbox WHERE t=?", .integer(facts.number)) { row in
            let kept = try KeptWrite(reading: row)
            guard kept.write.isPending else { return true }
            oldest = min(oldest ?? kept.write.made, kept.write.made)
            if rules?.isSent(kept.write) == false { others.insert(kept.record) }
            return true
        }
        (oldestWaiting, held) = (oldest.map { Timestamp(milliseconds: $0) }, others.count)
        let pull = facts.pull
        let isComplete = attachment?.isComplete(pull) ?? false
        lastPull = isComplete ? pull.completedAt.map { Timestamp(milliseconds: $0) } : nil
        isPullUnfinished = pull.run != nil
        pullFailure = attachment?.isPulled == true ? pull.failure : nil
    }
}
