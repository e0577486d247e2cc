import Larder
import LarderSystem

extension RecordDecisions {
    /// Removes records of the service that the policy does not keep. Records with changes of the user stay.
    ///
    /// Called in the transaction that has ended a pull.
    func trim(by rule: KeepRule) throws {
        var removed = 0
        if let time = rule.time, time < .forever {
            let oldest = transaction.moment.now - time.milliseconds
            removed += try remove("SELECT n FROM records WHERE \(Self.removable) AND received<?", .integer(oldest))
        }
        if let most = rule.most {
            let order = rule.path.flatMap(RecordColumns.field) ?? "received"
            removed += try remove(
                "SELECT n FROM records WHERE \(Self.removable) ORDER BY \(order) DESC, n DESC LIMIT -1 OFFSET ?",
                .integer(most))
        }
        let pull = try transaction.facts(of: number).pull
        let wasFull = pull.fullAt == pull.completedAt
        let isTrimmed = removed > 0 || pull.isTrimmed && !wasFull
        if isTrimmed != pull.isTrimmed { try transaction.change(number) { $0.pull.isTrimmed = isTrimmed } }
    }

    /// The condition of the records of a table that can be fetched again.
    private static let removable =
        "t=? AND state=\(RecordRowState.synced.rawValue) AND base IS NOT NULL"
        + " AND NOT EXISTS (SELECT 1 FROM outbox WHERE record=records.n)"

    /// - Returns: the number of records that were removed.
    private func remove(_ sql: String, _ value: SQLiteValue) throws -> Int {
        var records: [Int64] = []
        try transaction.connection.each(sql, [.integer(number), value]) { row in
            records.append(row.integer(0))
            return true
        }
        for record in records { try transaction.delete(record) }
        if !records.isEmpty { try transaction.note(changeOf: number) }
        return records.count
    }
}
