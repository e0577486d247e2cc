import Larder
import LarderSystem

/// The failure of a database of the app, which says nothing about the database of records.
struct AppFailure: Error {
    let error: SQLiteFailure
}

/// A transaction of the database of records. Blocks.
///
/// Rows are read by ``row(_:of:)``, changed by a planner, and saved with ``save(_:of:)``. ``finish()`` writes the books and the
/// numbers, once for all changes.
final class RecordTransaction {
    let connection: SQLiteConnection
    /// The moment of the transaction. Its numbers grow with each event.
    var moment: SyncMoment
    private var numbers: [RecordTable: Int64] = [:]
    private var uses: [Int64: TableUse] = [:]
    private var firstSequence: Int64 = 0
    /// The events of records. They are told when the transaction has ended well.
    var events: [SyncEvent] = []
    /// The error because of which nothing of the transaction may stay.
    private var refusal: (any Error)?

    /// The tables that were changed.
    var changed: [RecordTable] { uses.values.filter(\.isChanged).map(\.facts.table) }

    /// The numbers of each table in which something was counted.
    var counted: [(table: RecordTable, counts: SyncCounts)] {
        uses.values.filter { $0.counts != SyncCounts() }.map { ($0.facts.table, $0.counts) }
    }

    /// A table in this transaction.
    private final class TableUse {
        var facts: TableFacts
        var counts = SyncCounts()
        var isChanged = false

        init(_ facts: TableFacts) { self.facts = facts }
    }

    init(_ connection: SQLiteConnection, now: SyncMoment) throws {
        self.connection = connection
        moment = now
        let found = try connection.first("SELECT number, seal FROM tables WHERE n=0") { ($0.integer(0), $0.integer(1)) }
        guard let (number, seal) = found, number > 0, seal == TableFacts.wholeSeal(number) else {
            throw SQLiteFailure.damaged
        }
        (moment.sequence, firstSequence) = (number, number)
    }

    /// Forbids that the transaction ends well: a change was refused after parts of it were made.
    func refuse(because error: any Error) { refusal = refusal ?? error }

    /// Runs statements of this database. If one fails, nothing of the transaction may stay, whatever an app does with the error.
    ///
    /// - Throws: the error of `body`; ``RecordError`` with the code ``RecordError/Code/tooLarge`` if a row would be too large.
    func running<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let failure as SQLiteFailure {
            let error: any Error = failure.isTooLarge ? RecordError.tooLarge : failure
            refuse(because: error)
            throw error
        }
    }

    /// Runs the code of an app, which may use another database.
    ///
    /// - Throws: the error of a statement of this database that has failed meanwhile; ``AppFailure`` with a failure of another
    ///   database; any other error of `body`.
    func runningApp<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            if let refusal = refusal as? SQLiteFailure { throw refusal }
            if let failure = error as? SQLiteFailure { throw AppFailure(error: failure) }
            throw error
        }
    }

    /// Returns the number of a table, and makes the table if there is none.
    ///
    /// - Parameter idPath: the place of the id in its records.
    func number(of table: RecordTable, idPath: [String]) throws -> Int64 {
        if let number = numbers[table] { return number }
        var found = try TableFacts.read(table, connection)
        if found == nil {
            let last = try connection.first("SELECT max(n) FROM tables") { $0.integer(0) } ?? 0
            var new = TableFacts(table, number: last + 1)
            new.idPath = idPath
            try new.insert(connection)
            found = new
        }
        guard let known = found else { throw SQLiteFailure.damaged }
        numbers[table] = known.number
        if uses[known.number] == nil { uses[known.number] = TableUse(known) }
        if !known.idPath.isSamePlace(as: idPath) { try change(known.number) { $0.idPath = idPath } }
        return known.number
    }

    private func use(of number: Int64) throws -> TableUse {
        if let known = uses[number] { return known }
        let read = try connection.first("SELECT \(TableFacts.columns) FROM tables WHERE n=?", .integer(number)) {
            try TableFacts(reading: $0)
        }
        guard let read else { throw SQLiteFailure.damaged }
        let use = TableUse(read)
        uses[number] = use
        return use
    }

    /// The books and the state of the pulls of a table.
    func facts(of number: Int64) throws -> TableFacts { try use(of: number).facts }

    /// Changes the books and the state of the pulls of a table.
    func change(_ table: Int64, _ change: (inout TableFacts) -> Void) throws {
        let use = try use(of: table)
        change(&use.facts)
        use.isChanged = true
    }

    /// Notes that something of a table has changed besides its rows.
    func note(changeOf table: Int64) throws { try use(of: table).isChanged = true }

    /// Returns the numbers of a table so far.
    func counts(of table: Int64) throws -> SyncCounts { try use(of: table).counts }

    /// Counts in a table.
    func count(in table: Int64, _ change: (inout SyncCounts) -> Void) throws { try change(&use(of: table).counts) }

    /// Writes what belongs to the whole transaction.
    ///
    /// - Throws: the error of a change that was refused.
    func finish() throws {
        if let refusal { throw refusal }
        for (_, use) in uses.sorted(by: { $0.key < $1.key }) where use.isChanged {
            use.facts.version += 1
            try use.facts.save(connection)
        }
        if moment.sequence != firstSequence {
            try connection.run(
                "UPDATE tables SET number=?, seal=? WHERE n=0", .integer(moment.sequence),
                .integer(TableFacts.wholeSeal(moment.sequence)))
        }
    }

    // MARK: Rows

    /// Returns a record with its writes, by its id or a former one; nil if there is none.
    func row(_ id: String, of table: Int64) throws -> RecordRow? {
        try row(number: connection.record(of: id, in: table), of: table)
    }

    /// Returns the record of a number, with its writes.
    func row(number: Int64?, of table: Int64) throws -> RecordRow? {
        try number.flatMap { try connection.row($0, of: table) }
    }

    /// Returns a row for a record that is not there yet.
    ///
    /// - Parameter text: the id as the record has it, so that a number stays a number.
    func newRow(_ id: String, writtenAs text: JSONText? = nil) -> RecordRow {
        RecordRow(number: 0, id: id, idText: text.flatMap { $0.name == id ? $0 : nil } ?? JSONText(string: id))
    }

    /// Saves a record and its writes.
    ///
    /// - Parameter former: the record as it was read; nil for a new one.
    /// - Returns: the record as the user sees it; nil if it is deleted.
    @discardableResult
    func save(
        _ row: inout RecordRow, after former: RecordRow?, of table: Int64, by planner: SyncPlanner
    ) throws -> JSONText? {
        let use = try use(of: table)
        if row.isGone {
            if let former { try delete(former.number) }
            use.isChanged = true
            return nil
        }
        let shown = planner.shown(row)
        if former == nil || former?.number == 0 {
            row.number = try connection.insert(row, shown: shown, into: table)
        } else {
            try connection.update(row, shown: shown, of: table)
        }
        use.isChanged = true
        try saveWrites(row, after: former, of: table, use.facts.table)
        try saveReferences(row, after: former, by: planner)
        return shown
    }

    private func saveWrites(
        _ row: RecordRow, after former: RecordRow?, of table: Int64, _ place: RecordTable
    ) throws {
        let before = Dictionary(uniqueKeysWithValues: (former?.writes ?? []).map { ($0.number, $0) })
        for write in row.writes where before[write.number] != write || former?.id != row.id {
            let kept = KeptWrite(number: table, table: place, record: row.number, id: row.id, write: write)
            try before[write.number] == nil ? kept.insert(connection) : kept.update(connection)
        }
        if before.isEmpty { return }
        let left = Set(row.writes.map(\.number))
        for number in before.keys.sorted() where !left.contains(number) {
            try connection.run("DELETE FROM outbox WHERE n=?", .integer(number))
        }
    }

    private func saveReferences(_ row: RecordRow, after former: RecordRow?, by planner: SyncPlanner) throws {
        func references(_ row: RecordRow) -> Set<String> {
            row.writes.reduce(into: []) { $0.formUnion(planner.references(of: $1)) }
        }
        let (before, after) = (former.map(references) ?? [], references(row))
        for temporary in before.subtracting(after).sorted() {
            try connection.run(
                "DELETE FROM refs WHERE temporary=? AND record=?", .text(temporary), .integer(row.number))
        }
        for temporary in after.subtracting(before).sorted() {
            try connection.run(
                "INSERT OR IGNORE INTO refs VALUES(?, ?)", .text(temporary), .integer(row.number))
        }
    }

    /// Deletes a record with all that belongs to it.
    func delete(_ record: Int64) throws {
        for sql in [
            "DELETE FROM outbox WHERE record=?", "DELETE FROM refs WHERE record=?", "DELETE FROM names WHERE record=?",
            "DELETE FROM records WHERE n=?",
        ] { try connection.run(sql, .integer(record)) }
    }
}
