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
        let (texts, state) = try KeptTexts.read(statement)
        row = RecordRow(
            number: statement.integer(0), id: texts.id,
            idText: try KeptTexts.value(texts.idText) ?? JSONText(string: texts.id),
            base: try KeptTexts.value(texts.base), isDeletedThere: statement.integer(6) != 0,
            version: try KeptTexts.value(texts.version), generation: statement.integer(3),
            answered: statement.integer(4), receivedAt: statement.integer(5))
        self.state = state
        shown = try KeptTexts.value(texts.shown)
    }

    /// The record as it is read by apps; nil if nobody sees it.
    var stored: StoredRecord? {
        guard let state = state.seen, let shown = shown ?? row.base else { return nil }
        return StoredRecord(
            id: row.id, shown: shown, state: state, receivedAt: row.receivedAt > 0 ? row.receivedAt : nil)
    }
}

/// The texts of a row of the table of records. All but the id are JSON.
private struct KeptTexts {
    var id: String
    var idText: [UInt8]?
    var version: [UInt8]?
    var base: [UInt8]?
    var shown: [UInt8]?

    init(id: String, idText: [UInt8]?, version: [UInt8]?, base: [UInt8]?, shown: [UInt8]?) {
        (self.id, self.idText, self.version, self.base, self.shown) = (id, idText, version, base, shown)
    }

    /// Reads the texts of a row with the columns ``KeptRow/columns``, and the state that is sealed with them.
    ///
    /// - Throws: ``SQLiteFailure/damaged`` if the row is damaged.
    static func read(_ row: SQLiteStatement) throws -> (texts: KeptTexts, state: RecordRowState) {
        let texts = KeptTexts(
            id: row.text(8), idText: row.optionalBytes(9), version: row.optionalBytes(10),
            base: row.optionalBytes(11), shown: row.optionalBytes(12))
        guard let state = RecordRowState(rawValue: row.integer(2)),
            texts.seal(state, answered: row.integer(4), deleted: row.integer(6), of: row.integer(1)) == row.integer(7)
        else { throw SQLiteFailure.damaged }
        return (texts, state)
    }

    /// Returns the value of a text.
    ///
    /// - Throws: ``SQLiteFailure/damaged`` if it is no JSON.
    static func value(_ text: [UInt8]?) throws -> JSONText? {
        guard let text else { return nil }
        do { return try JSONText(text) } catch { throw SQLiteFailure.damaged }
    }

    init(_ row: RecordRow, shown: JSONText?) {
        // SQLite finds no member whose name is written with escapes.
        func text(_ value: JSONText?) -> [UInt8]? { value?.withPlainNames.bytes }
        let isPlain = row.idText == JSONText(string: row.id)
        self.init(
            id: row.id, idText: isPlain ? nil : text(row.idText), version: text(row.version), base: text(row.base),
            shown: shown == row.base ? nil : text(shown))
    }

    func seal(_ state: RecordRowState, answered: Int64, deleted: Int64, of table: Int64) -> Int64 {
        var seal = Seal()
        seal.add(table)
        seal.add(state.rawValue)
        seal.add(answered)
        seal.add(deleted)
        seal.add(id)
        seal.add(idText)
        seal.add(version)
        seal.add(base)
        seal.add(shown)
        return seal.value
    }
}

extension StoredRecord {
    /// Reads a row with the columns ``KeptRow/columns``. Returns nil if nobody sees the record.
    ///
    /// - Throws: ``SQLiteFailure/damaged`` if the row is damaged.
    init?(reading row: SQLiteStatement) throws {
        let (texts, state) = try KeptTexts.read(row)
        guard let state = state.seen, let shown = try KeptTexts.value(texts.shown ?? texts.base) else { return nil }
        let receivedAt = row.integer(5)
        self.init(id: texts.id, shown: shown, state: state, receivedAt: receivedAt > 0 ? receivedAt : nil)
    }
}

extension SQLiteValue {
    /// A text, as bytes of UTF-8, or null for nil.
    fileprivate init(utf8 text: [UInt8]?) { self = text.map { .utf8($0) } ?? .null }
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
        try run(
            """
            INSERT INTO records(state, generation, answered, received, deleted, seal, id, id_text, version, base, shown, t)
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, values(of: row, shown: shown, in: table, then: table))
        return lastRow
    }

    /// Writes a record that exists.
    func update(_ row: RecordRow, shown: JSONText?, of table: Int64) throws {
        try run(
            """
            UPDATE records SET state=?, generation=?, answered=?, received=?, deleted=?, seal=?, id=?, id_text=?,
            version=?, base=?, shown=? WHERE n=?
            """, values(of: row, shown: shown, in: table, then: row.number))
        if changes != 1 { throw SQLiteFailure.damaged }
    }

    /// Returns the values of the columns from the state to what is shown, and one more.
    private func values(
        of row: RecordRow, shown: JSONText?, in table: Int64, then last: Int64
    ) -> [SQLiteValue] {
        let (texts, state) = (KeptTexts(row, shown: shown), row.state(shown: shown))
        let deleted: Int64 = row.isDeletedThere ? 1 : 0
        return [
            .integer(state.rawValue), .integer(row.generation), .integer(row.answered), .integer(row.receivedAt),
            .integer(deleted), .integer(texts.seal(state, answered: row.answered, deleted: deleted, of: table)),
            .text(texts.id), SQLiteValue(utf8: texts.idText), SQLiteValue(utf8: texts.version),
            SQLiteValue(utf8: texts.base), SQLiteValue(utf8: texts.shown), .integer(last),
        ]
    }

    /// Writes a pulled record that nothing waits for: inserts it, or replaces the base of the one that exists, unless that
    /// was told by an answer after the pull began, or something is shown in its place. It has the same result as the planner's
    /// merge of a record without writes.
    ///
    /// - Parameter began: the moment at which the pull began.
    /// - Returns: whether it was written.
    func put(_ pulled: RecordRow, into table: Int64, began: Int64) throws -> Bool {
        try run(
            """
            INSERT INTO records(state, generation, answered, received, deleted, seal, id, id_text, version, base, shown, t)
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(t, id) DO UPDATE SET state=excluded.state,
            generation=excluded.generation, answered=0, received=excluded.received, deleted=0, seal=excluded.seal,
            id_text=excluded.id_text, version=excluded.version, base=excluded.base, shown=NULL
            WHERE answered<=? AND state=0
            """, values(of: pulled, shown: pulled.base, in: table, then: table) + [.integer(began)])
        return changes > 0
    }
}
