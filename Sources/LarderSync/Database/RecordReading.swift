import Larder
import LarderSystem

/// The reasons for which records cannot be read as a query asks.
enum QueryFailure: Error, Hashable {
    /// SQLite refuses the query before it runs: it has too many terms, for example.
    case tooComplex
}

/// Records by the ids that were asked for. Ids are compared by their bytes, so those that look alike may be two.
struct RecordsByID: Sendable {
    private var records: [[UInt8]: StoredRecord] = [:]

    subscript(id: String) -> StoredRecord? {
        get { records[Array(id.utf8)] }
        set { records[Array(id.utf8)] = newValue }
    }

    var count: Int { records.count }

    var values: some Collection<StoredRecord> { records.values }
}

/// Ids that are compared by their bytes.
struct RecordIDs: Sendable {
    private var ids: Set<[UInt8]>

    init(_ ids: [String] = []) { self.ids = Set(ids.map { Array($0.utf8) }) }

    func contains(_ id: String) -> Bool { ids.contains(Array(id.utf8)) }
    mutating func insert(_ id: String) { ids.insert(Array(id.utf8)) }
}

extension RecordDatabase {
    /// Looks up records by their ids. A former id finds its record.
    ///
    /// - Parameters:
    ///   - condition: the condition that records must meet, and its values; nil for all records.
    ///   - isComplete: whether a pull has brought all records, by the state of the pulls.
    /// - Returns: the records that meet the condition, the ids of those that do not, and those ids of which there is no record,
    ///   as far as this device knows.
    func lookUp(
        _ ids: [String], meeting condition: RecordSelection? = nil, of table: RecordTable,
        isComplete: (PullState) -> Bool
    ) throws -> (found: RecordsByID, others: RecordIDs, absent: RecordIDs) {
        try reading { connection in
            var (found, others, absent) = (RecordsByID(), RecordIDs(), RecordIDs())
            guard let facts = try TableFacts.read(table, connection) else { return (found, others, absent) }
            let isComplete = isComplete(facts.pull)
            for id in ids where found[id] == nil {
                let row = try connection.record(of: id, in: facts.number).flatMap {
                    try connection.keptRow($0, of: facts.number)
                }
                if let row, let stored = row.stored {
                    let isMet = try condition.map { try meets($0, row.row.number, connection) } ?? true
                    if isMet { found[id] = stored } else { others.insert(id) }
                } else if row.map({ $0.state == .deleted }) ?? isComplete {
                    // Without a row, a complete pull has shown it; with one, the record was deleted here.
                    absent.insert(id)
                }
            }
            return (found, others, absent)
        }
    }

    /// Returns whether a record meets the condition of a selection.
    private func meets(
        _ selection: RecordSelection, _ record: Int64, _ connection: SQLiteConnection
    ) throws -> Bool {
        var isMet = false
        let sql = "SELECT 1 FROM records WHERE n=? AND (\(selection.condition ?? "1"))"
        try query(sql, [.integer(record)] + selection.values.map(\.bound), connection) { _ in isMet = true }
        return isMet
    }

    /// The steps of SQLite's machine for each record found, and in all, from which a query has looked at far more records than it
    /// found: more than some thousands.
    private static let (mostWorkEach, mostWork) = (500, 100_000)

    /// Returns the records that a query selects, in its order, and the state of the pulls. Records of the same place in the order
    /// are in that of their numbers on this device.
    ///
    /// - Returns: also whether it looked at far more records than it found, because no index fits.
    func page(
        _ selection: RecordSelection, of table: RecordTable
    ) throws -> (stored: [StoredRecord], pull: PullState, isScan: Bool) {
        try reading { connection in
            guard let facts = try TableFacts.read(table, connection) else { return ([], PullState(), false) }
            let columns = KeptRow.columns
            var sql = "SELECT \(columns) FROM records WHERE t=? AND state<\(RecordRowState.hidden.rawValue)"
            if let condition = selection.condition { sql += " AND (\(condition))" }
            sql += " ORDER BY " + (selection.order + ["n"]).joined(separator: ", ")
            if let limit = selection.limit { sql += " LIMIT \(max(0, limit))" }
            var found: [StoredRecord] = []
            try query(sql, [.integer(facts.number)] + selection.values.map(\.bound), connection) { row in
                if let stored = try StoredRecord(reading: row) { found.append(stored) }
            }
            let work = connection.takeWork(of: sql)
            let isScan = work > Self.mostWork && work / Self.mostWorkEach > found.count
            // A query about no field needs no index of fields.
            return (found, facts.pull, isScan && !selection.fields.isEmpty)
        }
    }

    /// Returns the number of records that a query selects, without its limit.
    func count(_ selection: RecordSelection, of table: RecordTable) throws -> Int {
        try reading { connection in
            guard let number = try number(of: table, connection) else { return 0 }
            var sql = "SELECT count(*) FROM records WHERE t=? AND state<\(RecordRowState.hidden.rawValue)"
            if let condition = selection.condition { sql += " AND (\(condition))" }
            var count = 0
            try query(sql, [.integer(number)] + selection.values.map(\.bound), connection) {
                count = Int(clamping: $0.integer(0))
            }
            return count
        }
    }

    /// Runs a query that an app has written. A query that SQLite refuses is no damage of the file. One that fails while it
    /// runs has found a row that is damaged.
    private func query(
        _ sql: String, _ values: [SQLiteValue], _ connection: SQLiteConnection, _ body: (SQLiteStatement) throws -> Void
    ) throws {
        do {
            try connection.each(sql, values) { row in
                try body(row)
                return true
            }
        } catch let failure as SQLiteFailure where failure.isOfStatement && failure.isRefusal {
            throw QueryFailure.tooComplex
        }
    }

    /// Returns a record with its writes; nil if there is none.
    func row(_ id: String, of table: RecordTable) throws -> RecordRow? {
        try reading { connection in
            guard let number = try number(of: table, connection) else { return nil }
            return try connection.record(of: id, in: number).flatMap { try connection.row($0, of: number) }
        }
    }

    /// Returns the books and the state of the pulls of a table.
    func facts(of table: RecordTable) throws -> TableFacts {
        try reading { connection in
            try TableFacts.read(table, connection) ?? TableFacts(table, number: 0)
        }
    }

    /// Returns the facts about a table; nil if there is none. Makes no file.
    func knownFacts(of table: RecordTable) throws -> TableFacts? {
        guard Disk.stamp(of: file.path) != nil else { return nil }
        return try reading { try TableFacts.read(table, $0) }
    }

    /// Returns the letters of a table, the latest first.
    func letters(of table: RecordTable, most count: Int = 1_000) throws -> [(number: Int64, letter: DeadLetter)] {
        try reading { connection in
            guard let number = try number(of: table, connection) else { return [] }
            var letters: [(number: Int64, letter: DeadLetter)] = []
            try connection.each(
                "SELECT n, at, seal, letter FROM letters WHERE t=? ORDER BY at DESC, n DESC LIMIT ?",
                .integer(number), .integer(count)
            ) { row in
                let text = row.text(3)
                guard Seal.of(text, numbers: number, row.integer(1)) == row.integer(2),
                    let letter = (try? JSONText(text.utf8)).flatMap(DeadLetter.init)
                else { throw SQLiteFailure.damaged }
                letters.append((row.integer(0), letter))
                return true
            }
            return letters
        }
    }

    /// The tables that have rows.
    func tables() throws -> [RecordTable] {
        try reading { connection in
            try TableFacts.all(connection).map(\.table)
        }
    }
}

extension RecordValue {
    var bound: SQLiteValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .number(let number): .double(number)
        case .text(let text): .text(text)
        }
    }
}
