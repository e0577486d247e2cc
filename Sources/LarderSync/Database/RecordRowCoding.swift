import Larder
import LarderSystem

/// A row of the table of records.
struct KeptRow {
    /// The record, without its writes.
    var row: RecordRow
    var state: RecordRowState
    /// The record as the user sees it, if that is not the base.
    var shown: JSONText?

    /// The columns that ``init(reading:)`` expects.
    static let columns = "n, t, state, generation, answered, received, deleted, seal, id, id_text, version, base, shown"

    /// Reads a row.
    ///
    /// - Throws: ``SQLiteFailure/damaged`` if it is damaged.
    init(reading statement: SQLiteStatement) throws {
        let texts = KeptTexts(
            id: statement.text(8), idText: statement.optionalText(9), version: statement.optionalText(10),
            base: statement.optionalText(11), shown: statement.optionalText(12))
        let (answered, deleted) = (statement.integer(4), statement.integer(6))
        guard let state = RecordRowState(rawValue: statement.integer(2)),
            texts.seal(state, answered: answered, deleted: deleted, of: statement.integer(1)) == statement.integer(7)
        else { throw SQLiteFailure.damaged }
        func value(_ text: String?) throws -> JSONText? {
            guard let text else { return nil }
            do { return try JSONText(text.utf8) } catch { throw SQLiteFailure.damaged }
        }
        row = RecordRow(
            number: statement.integer(0), id: texts.id,
            idText: try value(texts.idText) ?? JSONText(string: texts.id), base: try value(texts.base),
            isDeletedThere: deleted != 0, version: try value(texts.version), generation: statement.integer(3),
            answered: answered, receivedAt: statement.integer(5))
        self.state = state
        shown = try value(texts.shown)
    }

    /// The record as it is read by apps; nil if nobody sees it.
    var stored: StoredRecord? {
        guard let state = state.seen, let shown = shown ?? row.base else { return nil }
        return StoredRecord(
            id: row.id, shown: shown, state: state, receivedAt: row.receivedAt > 0 ? row.receivedAt : nil)
    }
}

/// The texts of a row of the table of records.
private struct KeptTexts {
    var id: String
    var idText: String?
    var version: String?
    var base: String?
    var shown: String?

    init(id: String, idText: String?, version: String?, base: String?, shown: String?) {
        (self.id, self.idText, self.version, self.base, self.shown) = (id, idText, version, base, shown)
    }

    init(_ row: RecordRow, shown: JSONText?) {
        // SQLite finds no member whose name is written with escapes.
        func text(_ value: JSONText?) -> String? { value?.withPlainNames.shownText }
        let isPlain = row.idText == JSONText(string: row.id)
        self.init(
            id: row.id, idText: isPlain ? nil : text(row.idText), version: text(row.version), base: text(row.base),
            shown: shown == row.base ? nil : text(shown))
    }

    func seal(_ state: RecordRowState, answered: Int64, deleted: Int64, of table: Int64) -> Int64 {
        Seal.of(id, idText, version, base, shown, numbers: table, state.rawValue, answered, deleted)
    }

    var values: [SQLiteValue] {
        [.text(id), SQLiteValue(idText), SQLiteValue(version), SQLiteValue(base), SQLiteValue(shown)]
    }
}

extension RecordRow {
    /// The state of the row.
    ///
    /// - Parameter shown: the record as the user sees it.
    func state(shown: JSONText?) -> RecordRowState {
        if shown == nil {
            let isKnown = base != nil || isDeletedThere
            return isKnown || writes.last?.kind != .update ? .deleted : .unknown
        }
        if rejected != nil { return .rejected }
        if writes.contains(where: { $0.status == .conflict }) { return .conflict }
        return writes.contains(where: \.isPending) ? .pending : .synced
    }
}

extension SQLiteConnection {
    /// Returns the number of a record, by its id or a former one; nil if there is none.
    ///
    /// - Throws: ``SQLiteFailure/damaged`` if the index of ids leads to another record.
    func record(of id: String, in table: Int64) throws -> Int64? {
        let found = try first("SELECT n FROM records WHERE t=? AND id=?", .integer(table), .text(id)) { $0.integer(0) }
        if let found {
            let kept = try first("SELECT id FROM records WHERE n=?", .integer(found)) { $0.text(0) }
            guard kept?.utf8.elementsEqual(id.utf8) == true else { throw SQLiteFailure.damaged }
            return found
        }
        if !TemporaryID.isOne(id) { return nil }
        return try first("SELECT record FROM names WHERE former=? AND t=?", .text(id), .integer(table)) {
            $0.integer(0)
        }
    }

    /// Returns a record of a table; nil if there is none.
    func keptRow(_ number: Int64, of table: Int64) throws -> KeptRow? {
        try first("SELECT \(KeptRow.columns) FROM records WHERE n=? AND t=?", .integer(number), .integer(table)) {
            try KeptRow(reading: $0)
        }
    }

    /// Inserts a record.
    ///
    /// - Returns: its number.
    func insert(_ row: RecordRow, shown: JSONText?, into table: Int64) throws -> Int64 {
        let (texts, state) = (KeptTexts(row, shown: shown), row.state(shown: shown))
        try run(
            """
            INSERT INTO records(t, state, generation, answered, received, deleted, seal, id, id_text, version, base, shown)
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, [.integer(table)] + numbers(of: row, state, texts, table) + texts.values)
        return lastRow
    }

    /// Writes a record that exists.
    func update(_ row: RecordRow, shown: JSONText?, of table: Int64) throws {
        let (texts, state) = (KeptTexts(row, shown: shown), row.state(shown: shown))
        try run(
            """
            UPDATE records SET state=?, generation=?, answered=?, received=?, deleted=?, seal=?, id=?, id_text=?,
            version=?, base=?, shown=? WHERE n=?
            """, numbers(of: row, state, texts, table) + texts.values + [.integer(row.number)])
        if changes != 1 { throw SQLiteFailure.damaged }
    }

    private func numbers(
        of row: RecordRow, _ state: RecordRowState, _ texts: KeptTexts, _ table: Int64
    ) -> [SQLiteValue] {
        let deleted: Int64 = row.isDeletedThere ? 1 : 0
        return [
            .integer(state.rawValue), .integer(row.generation), .integer(row.answered), .integer(row.receivedAt),
            .integer(deleted),
            .integer(texts.seal(state, answered: row.answered, deleted: deleted, of: table)),
        ]
    }

    /// Writes a pulled record that nothing waits for: inserts it, or replaces the base of the one that exists, unless that
    /// was told by an answer after the pull began, or something is shown in its place. It has the same result as the planner's merge of a record without writes.
    ///
    /// - Parameter began: the moment at which the pull began.
    /// - Returns: whether it was written.
    func put(_ pulled: RecordRow, into table: Int64, began: Int64) throws -> Bool {
        let texts = KeptTexts(pulled, shown: pulled.base)
        try run(
            """
            INSERT INTO records(t, state, generation, answered, received, deleted, seal, id, id_text, version, base, shown)
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(t, id) DO UPDATE SET state=excluded.state,
            generation=excluded.generation, answered=0, received=excluded.received, deleted=0, seal=excluded.seal,
            id_text=excluded.id_text, version=excluded.version, base=excluded.base, shown=NULL
            WHERE answered<=? AND state=0
            """, [.integer(table)] + numbers(of: pulled, .synced, texts, table) + texts.values + [.integer(began)])
        return changes > 0
    }
}
