import Larder
import LarderSystem

/// A write that waits for the service, with all that explains why.
struct WaitingWrite: Sendable {
    /// The id of the record.
    var id: String
    /// The id as it is written in the record.
    var idText: JSONText
    /// The version of the record that the write was made on; nil if there is none.
    var version: JSONText?
    var write: QueuedWrite
    /// The record with the write; nil if there is none then, or if it is not known.
    var shown: JSONText?
    /// The next step of the record.
    var step: NextStep
    /// The number of the write that goes before it, of its record or of its line; nil if none does.
    var first: Int64?
}

extension RecordDatabase {
    /// Returns the writes of a table that wait for the service, in the order in which they were made. Makes no file.
    ///
    /// - Parameter planner: the planner of the table.
    func waitingWrites(of table: RecordTable, by planner: SyncPlanner) throws -> [WaitingWrite] {
        guard Disk.stamp(of: file.path) != nil else { return [] }
        let now = world.now.milliseconds
        return try reading { connection in
            guard let number = try number(of: table, connection) else { return [] }
            return try connection.waitingWrites(in: number, by: planner, at: now)
        }
    }

    /// Returns the facts of a table, the number of its letters, and the writes of its first records that wait. Makes no file.
    ///
    /// - Parameter planner: the planner of the table.
    func status(
        of table: RecordTable, by planner: SyncPlanner
    ) throws -> (facts: TableFacts, letters: Int, waiting: [WaitingWrite]) {
        let none = TableFacts(table, number: 0)
        guard Disk.stamp(of: file.path) != nil else { return (none, 0, []) }
        let now = world.now.milliseconds
        return try reading { connection in
            guard let facts = try TableFacts.read(table, connection) else { return (none, 0, []) }
            let letters = try connection.first("SELECT count(*) FROM letters WHERE t=?", .integer(facts.number)) {
                Int(clamping: $0.integer(0))
            }
            let waiting =
                facts.books.pending == 0
                ? [] : try connection.waitingWrites(in: facts.number, by: planner, at: now, mostRecords: 100)
            return (facts, letters ?? 0, waiting)
        }
    }
}

extension RecordRow {
    /// Returns the version that a write of it is sent with; nil if there is none.
    func precondition(of write: QueuedWrite) -> JSONText? {
        let version = write.sentVersion ?? version
        return version?.kind == .null ? nil : version
    }

    /// Returns its writes that wait.
    fileprivate func waitingWrites(_ step: NextStep, behind first: Int64?, idPath: [String]) -> [WaitingWrite] {
        var (shown, ahead, found): (JSONText?, Int64?, [WaitingWrite]) = (base, first, [])
        for write in writes {
            shown = write.applied(to: shown)
            if !write.isPending { continue }
            let value = shown?.setting(idPath, to: idText)
            found.append(
                WaitingWrite(
                    id: id, idText: idText, version: precondition(of: write), write: write, shown: value, step: step,
                    first: ahead))
            ahead = self.first?.number
        }
        return found
    }
}

extension SQLiteConnection {
    /// The number of writes that are looked up at once.
    static let mostAtOnce = 500

    /// Returns a record with its writes; nil if there is none.
    func row(_ record: Int64, of table: Int64) throws -> RecordRow? {
        guard let kept = try keptRow(record, of: table) else { return nil }
        var row = kept.row
        row.writes = try writes(of: record)
        if kept.state == .rejected { row.rejected = kept.shown }
        return row
    }

    /// Returns the writes of a table that wait for the service, in the order in which they were made.
    ///
    /// - Parameters:
    ///   - planner: the planner of the table.
    ///   - now: the time, in milliseconds since 1970.
    ///   - count: the most records that are looked at.
    fileprivate func waitingWrites(
        in table: Int64, by planner: SyncPlanner, at now: Int64, mostRecords count: Int = .max
    ) throws -> [WaitingWrite] {
        var (found, left): ([WaitingWrite], Int) = ([], count)
        try eachStep(in: table, by: planner, at: now) { row, step, first in
            found += row.waitingWrites(step, behind: first, idPath: planner.rules.idPath)
            left -= 1
            return left > 0
        }
        return found.sorted { $0.write.number < $1.write.number }
    }

    /// Calls a function with each record that waits, in the order of their first writes.
    ///
    /// - Parameter body: gets the record, its next step, and the number of the write that goes first in its line, if that is
    ///   another one. It returns whether it wants the next record.
    func eachStep(
        in table: Int64, by planner: SyncPlanner, at now: Int64,
        _ body: (_ row: RecordRow, _ step: NextStep, _ first: Int64?) throws -> Bool
    ) throws {
        var lines = SendLines(planner.rules.order)
        try eachWaiting(in: table) { record in
            guard let row = try row(record, of: table) else { return true }
            let step = planner.nextStep(of: row, at: now)
            return try body(row, step, lines.enter(row, as: step))
        }
    }

    /// Calls a function with the number of each record with writes, in the order of their first writes. It may change them.
    ///
    /// - Parameter body: returns whether it wants the next one.
    func eachWaiting(in table: Int64, _ body: (Int64) throws -> Bool) throws {
        var (known, last): (Set<Int64>, Int64) = ([], .min)
        while true {
            var found: [Int64] = []
            try each(
                "SELECT n, record FROM outbox WHERE t=? AND n>? ORDER BY n LIMIT \(Self.mostAtOnce)", .integer(table),
                .integer(last)
            ) { row in
                last = row.integer(0)
                found.append(row.integer(1))
                return true
            }
            for record in found where known.insert(record).inserted {
                if try !body(record) { return }
            }
            if found.count < Self.mostAtOnce { return }
        }
    }

    /// Returns the number of bytes of the changes of a table.
    func queueSize(of table: Int64) throws -> Int {
        try first("SELECT coalesce(sum(length(write)), 0) FROM outbox WHERE t=?", .integer(table)) {
            Int(clamping: $0.integer(0))
        } ?? 0
    }
}
