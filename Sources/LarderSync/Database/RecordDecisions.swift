import Larder
import LarderSystem

/// The records of one table within a transaction, and the planner that decides about them.
struct RecordDecisions {
    let transaction: RecordTransaction
    let planner: SyncPlanner
    let number: Int64
    /// Returns the planner of another table; nil if its policy is not known here. Records refer to each other by temporary
    /// ids, also across resources.
    let plannerOf: (RecordTable) -> SyncPlanner?

    init(
        _ transaction: RecordTransaction, _ table: RecordTable, _ planner: SyncPlanner,
        plannerOf: @escaping (RecordTable) -> SyncPlanner? = { _ in nil }
    ) throws {
        (self.transaction, self.planner, self.plannerOf) = (transaction, planner, plannerOf)
        number = try transaction.number(of: table, idPath: planner.rules.idPath)
    }

    var connection: SQLiteConnection { transaction.connection }

    // MARK: Writes

    /// Makes a change of the user.
    ///
    /// - Parameter id: the id of the record; nil for a new one that the service will name.
    /// - Returns: the id of the record, a temporary one for a new record that the service will name.
    /// - Throws: ``WriteRefusal`` if the change cannot be made.
    @discardableResult
    func write(_ intent: RecordIntent, id: String?, random: () -> UInt64) throws -> String {
        try change(intent, id: id, random: random).present.id
    }

    /// Makes a change of the user.
    ///
    /// - Returns: the record before and after, and as the user sees it then; nil if it is deleted.
    /// - Throws: ``WriteRefusal`` if the change cannot be made.
    func change(
        _ intent: RecordIntent, id: String?, random: () -> UInt64
    ) throws -> (former: RecordRow?, present: RecordRow, shown: JSONText?) {
        // A create is nearly always of a new record. If it is not, the index of ids says so.
        if case .create = intent, let id, planner.rules.ids == .client, !TemporaryID.isOne(id) {
            do { return try change(intent, of: nil, id: id, random: random) } catch {
                if (error as? SQLiteFailure)?.isOfTakenValue != true { throw error }
            }
        }
        var number: Int64?
        if let id { number = try connection.record(of: id, in: self.number) }
        return try change(
            intent, of: transaction.row(number: number, of: self.number), id: id, random: random)
    }

    /// Makes a change of the user.
    ///
    /// - Parameter former: the record before; nil if there is none.
    private func change(
        _ intent: RecordIntent, of former: RecordRow?, id: String?, random: () -> UInt64
    ) throws -> (former: RecordRow?, present: RecordRow, shown: JSONText?) {
        var row =
            former
            ?? transaction.newRow(id ?? TemporaryID.make(random), writtenAs: intent.record?[planner.rules.idPath])
        if former == nil, case .create = intent, planner.rules.ids == .server, !TemporaryID.isOne(row.id) {
            // The service names records, so no other id is one.
            throw WriteRefusal.noRecord
        }
        var effects = SyncEffects()
        let intent = try named(intent, in: row.id)
        let writeNumber = transaction.moment.next()
        guard try planner.write(intent, to: &row, number: writeNumber, at: &transaction.moment, &effects) else {
            return (former, row, planner.shown(row))
        }
        let shown = try keep(&row, after: former, effects)
        return (former, row, shown)
    }

    /// Changes one record by the planner.
    ///
    /// - Returns: the result of `body`; nil if there is no such record.
    func decide<Result>(
        _ id: String, _ body: (inout RecordRow, inout SyncMoment, inout SyncEffects) throws -> Result
    ) throws -> Result? {
        guard let record = try connection.record(of: id, in: number) else { return nil }
        return try decide(record: record, body)
    }

    /// Changes one record by the planner.
    func decide<Result>(
        record: Int64, _ body: (inout RecordRow, inout SyncMoment, inout SyncEffects) throws -> Result
    ) throws -> Result? {
        guard let former = try transaction.row(number: record, of: number) else { return nil }
        var (row, effects) = (former, SyncEffects())
        let result = try body(&row, &transaction.moment, &effects)
        if row != former || !effects.isEmpty { try keep(&row, after: former, effects) }
        return result
    }

    // MARK: Effects

    /// Saves a row and all that follows from its change.
    ///
    /// - Returns: the record as the user sees it; nil if it is deleted.
    @discardableResult
    private func keep(_ row: inout RecordRow, after former: RecordRow?, _ effects: SyncEffects) throws -> JSONText? {
        let isNamed = !effects.renamed.isEmpty
        if isNamed { try absorbPulled(into: &row) }
        let shown = try transaction.save(&row, after: former, of: number, by: planner)
        try note(effects)
        for renaming in effects.renamed {
            try connection.run(
                "INSERT OR REPLACE INTO names VALUES(?, ?, ?, ?)", .text(renaming.former), .integer(number),
                .integer(row.number), .integer(transaction.moment.now))
            try rename(renaming)
        }
        if !effects.gone.isEmpty { try giveUpNeeding(effects.gone) }
        return shown
    }

    /// Writes books and letters, and keeps the events for the end of the transaction.
    func note(_ effects: SyncEffects) throws {
        if !effects.events.isEmpty {
            let table = try transaction.facts(of: number).table
            transaction.events += effects.events.map { SyncEvent($0, in: table) }
        }
        if effects.books != Books() { try transaction.change(number) { $0.books = $0.books + effects.books } }
        try transaction.count(in: number) { $0.add(effects) }
        for letter in effects.letters { try connection.put(letter, in: number, at: transaction.moment.now) }
    }

    /// Takes over a record that a pull has brought before the answer to its create arrived.
    private func absorbPulled(into row: inout RecordRow) throws {
        let other = try connection.first(
            "SELECT n FROM records WHERE t=? AND id=? AND n<>?", .integer(number), .text(row.id),
            .integer(row.number)
        ) { $0.integer(0) }
        guard let other, let pulled = try transaction.row(number: other, of: number) else { return }
        var effects = SyncEffects()
        planner.absorb(pulled, into: &row, at: &transaction.moment, &effects)
        // Its writes and former ids belong to this record now.
        try connection.run(
            "UPDATE names SET record=? WHERE record=?", .integer(row.number), .integer(other))
        try transaction.delete(other)
        try note(effects)
    }

    /// Writes the name of a record in place of its temporary id, wherever it occurs.
    private func rename(_ renaming: SyncEffects.Renaming) throws {
        for (holder, decisions) in try holders(of: renaming.former) {
            guard let former = try transaction.row(number: holder, of: decisions.number) else { continue }
            var row = former
            if decisions.planner.rename(renaming, in: &row) {
                try transaction.save(&row, after: former, of: decisions.number, by: decisions.planner)
            }
        }
        try connection.run("DELETE FROM refs WHERE temporary=?", .text(renaming.former))
    }

    /// Gives up the writes that need records whose creates are not sent any more.
    private func giveUpNeeding(_ gone: Set<String>) throws {
        for temporary in gone.sorted() {
            for (holder, decisions) in try holders(of: temporary) {
                _ = try decisions.decide(record: holder) { row, moment, effects in
                    decisions.planner.giveUpNeeding([temporary], in: &row, at: &moment, &effects)
                }
            }
            try connection.run("DELETE FROM refs WHERE temporary=?", .text(temporary))
        }
    }

    /// Returns the records whose writes contain a temporary id, each with the decisions about its table.
    private func holders(of temporary: String) throws -> [(record: Int64, decisions: RecordDecisions)] {
        var found: [(record: Int64, table: Int64)] = []
        try connection.each(
            "SELECT record, t FROM refs JOIN records ON n=record WHERE temporary=?", .text(temporary)
        ) { row in
            found.append((row.integer(0), row.integer(1)))
            return true
        }
        return try found.map { ($0.record, try decisions(about: $0.table)) }
    }

    /// Returns the decisions about another table.
    private func decisions(about other: Int64) throws -> RecordDecisions {
        if other == number { return self }
        let facts = try transaction.facts(of: other)
        // Without its policy, names are replaced all the same, and what needs a lost record is given up: neither asks a rule.
        let planner = plannerOf(facts.table) ?? SyncPlanner(SyncRules(idPath: facts.idPath))
        return try RecordDecisions(transaction, facts.table, planner, plannerOf: plannerOf)
    }

    // MARK: Temporary ids

    /// Returns a change in which the ids of the service stand in place of temporary ones that it has named meanwhile.
    ///
    /// - Throws: ``WriteRefusal/noRecord`` if there is no record of a temporary id in it, so that it could never be sent.
    private func named(_ intent: RecordIntent, in id: String) throws -> RecordIntent {
        switch intent {
        case .create(let record): .create(try named(record, in: id))
        case .update(let old, let new): .update(from: old, to: try named(new, in: id, besides: old))
        case .put(let record): .put(try named(record, in: id))
        case .merge(let record): .merge(try named(record, in: id))
        case .delete: .delete
        }
    }

    private func named(_ record: JSONText, in id: String, besides old: JSONText? = nil) throws -> JSONText {
        var temporary = TemporaryID.all(in: record).subtracting([id])
        if let old, !temporary.isEmpty { temporary.subtract(TemporaryID.all(in: old)) }
        return try temporary.sorted().reduce(record) { record, temporary in
            let isWaiting = try connection.first(
                "SELECT 1 FROM tables CROSS JOIN records ON records.t=tables.n AND records.id=?", .text(temporary)
            ) { _ in true }
            if isWaiting == true { return record }
            let target = try connection.first("SELECT record, t FROM names WHERE former=?", .text(temporary)) {
                ($0.integer(0), $0.integer(1))
            }
            guard let (number, table) = target, let kept = try connection.keptRow(number, of: table) else {
                throw WriteRefusal.noRecord
            }
            return record.replacing(temporary, with: kept.row.idText)
        }
    }
}

extension SyncEffects {
    var isEmpty: Bool {
        books == Books() && events.isEmpty && letters.isEmpty && renamed.isEmpty && gone.isEmpty && repeated == 0
            && conflicts == 0 && staleRows == 0
    }
}
