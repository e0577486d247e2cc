import Larder
import LarderSystem

/// Copies what is sound from a damaged database into a new one: first what only this device has.
///
/// A row that cannot be read is left out. Afterwards everything is fetched anew, because nobody knows which rows are missing.
/// Errors of the new database are thrown, so that the damaged one stays as it is.
struct RecordSalvage {
    private let damaged: SQLiteConnection
    private let new: SQLiteConnection
    /// The tables of the new database, by their numbers in the damaged one.
    private var tables: [Int64: TableFacts] = [:]
    /// The sound writes of each record of the damaged database.
    private var writes: [Int64: [KeptWrite]] = [:]
    /// The records that are in the new database.
    private var records: Set<Int64> = []

    static func copy(from damaged: SQLiteConnection, to new: SQLiteConnection) throws {
        var salvage = RecordSalvage(damaged: damaged, new: new)
        try salvage.copyTables()
        try salvage.copyWrites()
        try salvage.copyLetters()
        try salvage.copyRecords()
        try salvage.copyNames()
        try salvage.balance()
    }

    private init(damaged: SQLiteConnection, new: SQLiteConnection) { (self.damaged, self.new) = (damaged, new) }

    // MARK: Reading

    /// The most places of a table at which reading begins again after damage.
    private static let mostDamages = 10_000

    /// Calls `body` with each row that can be read, in the order of their numbers. After a row that cannot be read, it goes on
    /// behind it, in growing steps, and then from the other end.
    private func each(_ table: String, _ body: (SQLiteStatement) throws -> Void) throws {
        var seen: Set<Int64> = []
        for order in ["ASC", "DESC"] {
            var (last, step, isDone): (Int64, Int64, Bool) = (order == "ASC" ? .min : .max, 1, false)
            var failures = 0
            while !isDone, failures < Self.mostDamages {
                var ofNew: (any Error)?
                do {
                    try damaged.each(
                        "SELECT * FROM \(table) NOT INDEXED WHERE n \(order == "ASC" ? ">" : "<") ? ORDER BY n \(order)",
                        .integer(last)
                    ) { row in
                        (last, step) = (row.integer(0), 1)
                        guard seen.insert(last).inserted else { return true }
                        do { try body(row) } catch {
                            ofNew = error
                            return false
                        }
                        return true
                    }
                    isDone = true
                } catch let failure as SQLiteFailure where failure.isDamaged {}
                if let ofNew { throw ofNew }
                if isDone { break }
                failures += 1
                if last == .min || last == .max { last = order == "ASC" ? 0 : 1 << 40 }
                let (next, isOver) =
                    order == "ASC" ? last.addingReportingOverflow(step) : last.subtractingReportingOverflow(step)
                if isOver || next < 0 || next > 1 << 41 { break }
                (last, step) = (next, min(step * 2, 1 << 20))
            }
            if isDone, failures == 0 { return }
        }
    }

    // MARK: Tables

    private mutating func copyTables() throws {
        var found: [TableFacts] = []
        try each("tables") { row in
            if row.integer(0) > 0, let facts = try? TableFacts(reading: row) { found.append(facts) }
        }
        for facts in found { try add(facts) }
        let saved = try? damaged.first("SELECT number FROM tables WHERE n=0") { $0.integer(0) }
        let used = try? damaged.first("SELECT max(n) FROM outbox") { $0.integer(0) }
        let number = min(max(saved.flatMap { $0 } ?? 1, used.flatMap { $0 } ?? 1, 1), 1 << 60)
        try new.run(
            "UPDATE tables SET number=?, seal=? WHERE n=0", .integer(number), .integer(TableFacts.wholeSeal(number)))
    }

    private mutating func add(_ facts: TableFacts) throws {
        guard tables[facts.number] == nil, !tables.values.contains(where: { $0.table == facts.table }) else { return }
        var facts = facts
        // Everything is fetched anew.
        facts.pull = PullState()
        facts.version &+= 1
        try facts.insert(new)
        tables[facts.number] = facts
    }

    // MARK: Writes

    private mutating func copyWrites() throws {
        var found: [KeptWrite] = []
        var lost: [(table: Int64, text: [UInt8])] = []
        try each("outbox") { row in
            if let kept = try? KeptWrite(reading: row) {
                found.append(kept)
            } else {
                lost.append((row.integer(1), row.bytes(7)))
            }
        }
        for kept in found.sorted(by: { $0.write.number < $1.write.number }) {
            // The row of its table may be lost.
            if tables[kept.number] == nil { try add(TableFacts(kept.table, number: kept.number)) }
            guard tables[kept.number]?.table == kept.table else { continue }
            try kept.insert(new)
            writes[kept.record, default: []].append(kept)
        }
        for (table, text) in lost { try quarantine(text, of: table) }
        // Later writes get larger numbers, also if the number of the database is lost.
        let last = found.map(\.write.number).max() ?? 0
        let number = max(last, try new.first("SELECT number FROM tables WHERE n=0") { $0.integer(0) } ?? 1)
        try new.run(
            "UPDATE tables SET number=?, seal=? WHERE n=0", .integer(number), .integer(TableFacts.wholeSeal(number)))
    }

    private func quarantine(_ bytes: [UInt8], of table: Int64) throws {
        try new.run(
            "INSERT INTO quarantine(t, at, text) VALUES(?, ?, ?)", .integer(table), .integer(Int64.max),
            .bytes(Array(bytes.prefix(64_000))))
    }

    private func copyLetters() throws {
        try each("letters") { row in
            let (table, at, text) = (row.integer(1), row.integer(2), row.text(4))
            guard tables[table] != nil, Seal.of(text, numbers: table, at) == row.integer(3) else { return }
            try new.run(
                "INSERT INTO letters(t, at, seal, letter) VALUES(?, ?, ?, ?)", .integer(table), .integer(at),
                .integer(row.integer(3)), .text(text))
        }
    }

    // MARK: Records

    private mutating func copyRecords() throws {
        var kept: Set<Int64> = []
        try each("records") { statement in
            guard let found = try? KeptRow(reading: statement), tables[statement.integer(1)] != nil else { return }
            var row = found.row
            // The numbers of answers begin anew, and so do those of full pulls.
            (row.generation, row.answered) = (0, 0)
            row.writes = (writes[row.number] ?? []).map(\.write)
            if found.state == .rejected { row.rejected = found.shown }
            if try insert(row, shown: found.stored?.shown, into: statement.integer(1)) { kept.insert(row.number) }
        }
        records = kept
        // The writes of a record that is lost keep the record, as after a logout.
        for (record, writes) in writes.sorted(by: { $0.key < $1.key }) where !kept.contains(record) {
            guard let first = writes.first else { continue }
            if let taken = try new.record(of: first.id, in: first.number) {
                for var write in writes {
                    write.record = taken
                    try write.update(new)
                }
                continue
            }
            let row = RecordRow(
                number: record, id: first.id, idText: JSONText(string: first.id), writes: writes.map(\.write))
            if try insert(row, shown: nil, into: first.number) { records.insert(record) }
        }
    }

    /// - Parameter shown: the record as the user saw it. It is seen again if nobody knows how to make it.
    /// - Returns: whether the record is in the new database. A damaged id may be that of another row.
    private func insert(_ row: RecordRow, shown: JSONText?, into table: Int64) throws -> Bool {
        if try new.record(of: row.id, in: table) != nil { return false }
        var shown = shown
        if row.writes.isEmpty {
            shown = row.rejected ?? row.base
        } else if let idPath = tables[table]?.idPath, !idPath.isEmpty {
            shown = row.shown(idPath: idPath)
        }
        let number = try new.insert(row, shown: shown, into: table)
        try new.run("UPDATE records SET n=? WHERE n=?", .integer(row.number), .integer(number))
        for temporary in row.writes.flatMap(\.temporaryIDs).sorted() {
            try new.run("INSERT OR IGNORE INTO refs VALUES(?, ?)", .text(temporary), .integer(row.number))
        }
        return true
    }

    private func copyNames() throws {
        var names: [(former: String, table: Int64, record: Int64, at: Int64)] = []
        do {
            try damaged.each("SELECT former, t, record, at FROM names") { row in
                names.append((row.text(0), row.integer(1), row.integer(2), row.integer(3)))
                return true
            }
        } catch let failure as SQLiteFailure where failure.isDamaged {}
        for name in names where records.contains(name.record) {
            guard TemporaryID.isOne(name.former), try new.keptRow(name.record, of: name.table) != nil else { continue }
            try new.run(
                "INSERT OR IGNORE INTO names VALUES(?, ?, ?, ?)", .text(name.former), .integer(name.table),
                .integer(name.record), .integer(name.at))
        }
    }

    // MARK: Books

    /// Sets the number of pending writes to that of the writes that are there. A write that was lost with the damage stays in
    /// the books as unaccounted for.
    private func balance() throws {
        for var facts in tables.values {
            let pending = writes.values.joined().filter { $0.number == facts.number && $0.write.isPending }.count
            facts.books.pending = pending
            if facts.books.unaccounted < 0 { facts.books.made -= facts.books.unaccounted }
            try facts.save(new)
        }
    }
}

extension QueuedWrite {
    /// The temporary ids in the content.
    var temporaryIDs: Set<String> {
        patch.changes.reduce(into: []) { found, change in
            if let after = change.after { found.formUnion(TemporaryID.all(in: after)) }
        }
    }
}
