import Larder
import LarderSystem

/// A write that was claimed, with the record that it belongs to.
struct ClaimedWrite: Hashable, Sendable {
    /// The id of the record, as it is written in it.
    var idText: JSONText
    /// The version of the record that the write was made on.
    var version: JSONText?
    var write: QueuedWrite
    /// The record with the write.
    var shown: JSONText?
}

extension RecordDecisions {
    /// Freezes the writes that can be sent now: first those that were never tried, so that some that always fail delay no
    /// others. Of each line, the first one.
    ///
    /// - Parameters:
    ///   - count: the most writes.
    ///   - size: the most bytes of their contents. One write may be larger.
    /// - Returns: the writes, in the order in which they were made.
    func claim(most count: Int, size: Int = 2_000_000) throws -> [ClaimedWrite] {
        var (claimed, left): ([ClaimedWrite], Int) = ([], size)
        // In a single line, a write that always fails delays the others.
        for pass in planner.rules.order == .inLine ? [ClaimPass.all] : [.firstTries, .others] {
            var (lines, looked) = (SendLines(planner.rules.order), 0)
            try connection.eachWaiting(in: number) { record in
                looked += 1
                let next = try decide(record: record) { row, moment, effects -> ClaimedWrite? in
                    planner.expire(&row, at: &moment, &effects)
                    let step = planner.nextStep(of: row, at: moment.now)
                    guard lines.enter(row, as: step) == nil, case .send(let number) = step,
                        let place = row.writes.firstIndex(where: { $0.number == number }),
                        pass.includes(row.writes[place])
                    else { return nil }
                    left -= row.writes[place].text.bytes.count
                    planner.claim(&row.writes[place], at: row.version, &effects)
                    let upTo = row.writes[...place].reduce(row.base) { $1.applied(to: $0) }
                    return ClaimedWrite(
                        idText: row.idText,
                        version: row.precondition(of: row.writes[place]), write: row.writes[place],
                        shown: upTo?.setting(planner.rules.idPath, to: row.idText))
                }
                if let write = next.flatMap({ $0 }) { claimed.append(write) }
                // Behind a claimed write there may be thousands of its line. The next claim goes on.
                let isFar =
                    looked > SQLiteConnection.mostAtOnce && !claimed.isEmpty && planner.rules.order != .ofRecords
                return claimed.count < count && left > 0 && !lines.areAllTaken && !isFar
            }
            if claimed.count >= count || left <= 0 { break }
        }
        return claimed
    }

    /// The writes among which a look at the queue chooses.
    private enum ClaimPass {
        case firstTries, others, all

        func includes(_ write: QueuedWrite) -> Bool {
            switch self {
            case .firstTries: write.tries == 0
            case .others: write.tries > 0
            case .all: true
            }
        }
    }

    /// Settles a write that was sent.
    func settle(_ outcome: WriteOutcome, of write: ClaimedWrite) throws {
        // Its record may have become one with another meanwhile, whose name the service has told.
        let record = try connection.first("SELECT record FROM outbox WHERE n=?", .integer(write.write.number)) {
            $0.integer(0)
        }
        guard let record else { return }
        _ = try decide(record: record) { row, moment, effects in
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

    /// Returns what happens next with each record that waits, in the order of their writes. Those that wait for others in their
    /// line are left out.
    func nextSteps() throws -> [(id: String, step: NextStep)] {
        var steps: [(id: String, step: NextStep)] = []
        try connection.eachStep(in: number, by: planner, at: transaction.moment.now) { row, step, first in
            if first == nil { steps.append((row.id, step)) }
            return first == nil || planner.rules.order != .inLine
        }
        return steps
    }

    /// Returns the numbers of the records with writes, in the order of their first writes.
    func waitingRecords() throws -> [Int64] {
        var records: [Int64] = []
        try connection.eachWaiting(in: number) { record in
            records.append(record)
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

    /// Drops a write, unless it is being sent.
    ///
    /// - Returns: whether there is such a write.
    func discard(_ number: Int64, of id: String) throws -> Bool {
        try decide(id) { row, moment, effects in
            planner.discard(number, of: &row, at: &moment, &effects)
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
