import Larder
import LarderSystem

/// A write that was claimed, with the record that it belongs to.
struct ClaimedWrite: Hashable, Sendable {
    /// The number of the record on this device.
    var record: Int64
    var id: String
    var idText: JSONText
    /// The version of the record that the write was made on.
    var version: JSONText?
    var write: QueuedWrite
    /// The record with the write.
    var shown: JSONText?
}

extension RecordDecisions {
    /// Freezes the writes that can be sent now: first those that were never tried, so that some that always fail delay no
    /// others.
    ///
    /// - Parameters:
    ///   - count: the most writes.
    ///   - size: the most bytes of their contents. One write may be larger.
    /// - Returns: the writes, in the order in which they were made.
    func claim(most count: Int, size: Int = 2_000_000) throws -> [ClaimedWrite] {
        var (claimed, left): ([ClaimedWrite], Int) = ([], size)
        let waiting = try waitingRecords()
        for (record, isFirstTry) in waiting.map({ ($0, true) }) + waiting.map({ ($0, false) }) {
            if claimed.count >= count || left <= 0 { break }
            let next = try decide(record: record) { row, moment, effects -> ClaimedWrite? in
                planner.expire(&row, at: &moment, &effects)
                guard case .send(let number) = planner.nextStep(of: row, at: moment.now),
                    let place = row.writes.firstIndex(where: { $0.number == number }),
                    (row.writes[place].tries == 0) == isFirstTry
                else { return nil }
                left -= row.writes[place].text.bytes.count
                planner.claim(&row.writes[place], &effects)
                let upTo = row.writes[...place].reduce(row.base) { $1.applied(to: $0) }
                return ClaimedWrite(
                    record: row.number, id: row.id, idText: row.idText, version: row.version, write: row.writes[place],
                    shown: upTo?.setting(planner.rules.idPath, to: row.idText))
            }
            if let write = next.flatMap({ $0 }) { claimed.append(write) }
        }
        return claimed
    }

    /// Settles a write that was sent.
    func settle(_ outcome: WriteOutcome, of write: ClaimedWrite) throws {
        _ = try decide(record: write.record) { row, moment, effects in
            planner.settle(outcome, of: write.write.number, in: &row, at: &moment, &effects)
        }
    }

    /// Opens the writes again that a process has claimed which has ended. Call it only while no other process sends.
    ///
    /// - Parameter wakes: whether waits for a next try end as well, unless the service has asked for them.
    func reopen(wakes: Bool = false) throws {
        for record in try waitingRecords() {
            _ = try decide(record: record) { row, moment, _ in
                for place in row.writes.indices {
                    planner.reopen(&row.writes[place])
                    if wakes { planner.wake(&row.writes[place], at: moment.now) }
                }
            }
        }
    }

    /// Returns what happens next with each record that waits, in the order of their writes.
    func nextSteps() throws -> [(id: String, step: NextStep)] {
        try waitingRecords().compactMap { record in
            try transaction.row(number: record, of: number).map {
                ($0.id, planner.nextStep(of: $0, at: transaction.moment.now))
            }
        }
    }

    /// Returns the numbers of the records with writes, in the order of their first writes.
    func waitingRecords() throws -> [Int64] {
        var records: [Int64] = []
        try transaction.connection.each(
            "SELECT record FROM outbox WHERE t=? GROUP BY record ORDER BY min(n)", .integer(number)
        ) { row in
            records.append(row.integer(0))
            return true
        }
        return records
    }

    // MARK: Decisions of the app

    /// Takes back a write that was never sent.
    ///
    /// - Returns: whether there is such a write.
    func undo(_ number: Int64, of id: String) throws -> Bool {
        try decide(id) { row, moment, effects in
            planner.undo(number, of: &row, at: &moment, &effects)
        } ?? false
    }

    /// Makes the app's decision about a conflict.
    ///
    /// - Returns: whether there was a conflict to decide.
    func resolve(_ id: String, by decision: SyncPlanner.Decision) throws -> Bool {
        try decide(id) { row, moment, effects in
            planner.resolve(&row, by: decision, at: &moment, &effects)
        } ?? false
    }

    /// Discards all writes.
    func discardAll() throws {
        for record in try waitingRecords() {
            _ = try decide(record: record) { row, moment, effects in
                planner.discardAll(of: &row, at: &moment, &effects)
            }
        }
    }
}
