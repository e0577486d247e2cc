import Larder
import LarderSystem

extension QueuedWrite {
    /// The write as JSON. The values in it keep their bytes.
    var text: JSONText {
        let changes = patch.changes.map(\.text)
        var members = JSONText.Members(size: changes.reduce(300) { $0 + $1.bytes.count })
        members.add("kind", kind.rawValue)
        members.add("changes", list: changes)
        members.add("key", key)
        members.add("made", made)
        members.add("stamp", stamp)
        members.add("source", source)
        members.add("status", statusText)
        if case .accepted(let at) = status { members.add("at", at) }
        if wasSent { members.add("sent", true) }
        if baseMayHaveIt { members.add("mayBeInBase", true) }
        members.add("sentVersion", sentVersion)
        if isAskedToWait { members.add("askedToWait", true) }
        if isHeld { members.add("held", true) }
        members.add("lastStatus", lastStatus.map(Int64.init))
        if tries != 0 { members.add("tries", Int64(tries)) }
        if rounds != 0 { members.add("rounds", Int64(rounds)) }
        if next != 0 { members.add("next", next) }
        return JSONText(object: members)
    }

    private var statusText: String {
        switch status {
        case .open: "open"
        case .sending: "sending"
        case .accepted: "accepted"
        case .needsRecord: "needs-record"
        case .conflict: "conflict"
        }
    }

    /// Reads a write. Returns nil if the text is none.
    init?(number: Int64, _ text: JSONText) {
        func integer(_ name: String) -> Int64 { text[name]?.integer ?? 0 }
        guard let kind = text["kind"]?.string.flatMap(Kind.init), let key = text["key"]?.string,
            let source = text["source"]?.string, let changes = text["changes"]
        else { return nil }
        self.init(
            number: number, kind: kind, patch: Patch(changes.items.map(FieldChange.init)), key: key,
            made: integer("made"), stamp: integer("stamp"), source: source)
        switch text["status"]?.string {
        case "open": status = .open
        case "sending": status = .sending
        case "accepted": status = .accepted(at: integer("at"))
        case "needs-record": status = .needsRecord
        case "conflict": status = .conflict
        default: return nil
        }
        wasSent = text["sent"]?.bool ?? false
        (baseMayHaveIt, sentVersion) = (text["mayBeInBase"]?.bool ?? false, text["sentVersion"])
        isAskedToWait = text["askedToWait"]?.bool ?? false
        isHeld = text["held"]?.bool ?? false
        lastStatus = text["lastStatus"]?.integer.map { Int(clamping: $0) }
        (tries, rounds, next) = (Int(clamping: integer("tries")), Int(clamping: integer("rounds")), integer("next"))
    }
}

extension FieldChange {
    fileprivate var text: JSONText {
        var members = JSONText.Members(size: (before?.bytes.count ?? 0) + (after?.bytes.count ?? 0) + 64)
        members.add("path", list: path.map(JSONText.init(string:)))
        members.add("before", before)
        members.add("after", after)
        return JSONText(object: members)
    }

    fileprivate init(_ text: JSONText) {
        self.init(
            path: text["path"]?.items.compactMap(\.string) ?? [], before: text["before"], after: text["after"])
    }
}

extension DeadLetter {
    /// The letter as JSON.
    var text: JSONText {
        var members = JSONText.Members()
        members.add("id", id)
        members.add("number", write.number)
        members.add("write", write.text)
        members.add("reason", reason.rawValue)
        members.add("base", base)
        members.add("shown", shown)
        members.add("answer", status.map(Int64.init))
        return JSONText(object: members)
    }

    /// Reads a letter. Returns nil if the text is none.
    init?(_ text: JSONText) {
        guard let id = text["id"]?.string, let reason = text["reason"]?.string.flatMap(Reason.init),
            let number = text["number"]?.integer, let write = text["write"].flatMap({ QueuedWrite(number: number, $0) })
        else { return nil }
        self.init(
            id: id, write: write, base: text["base"], shown: text["shown"], reason: reason,
            status: text["answer"]?.integer.map { Int(clamping: $0) })
    }
}

extension SQLiteConnection {
    /// Returns the writes of a record in their order.
    func writes(of record: Int64) throws -> [QueuedWrite] {
        var writes: [QueuedWrite] = []
        try each(
            "SELECT \(KeptWrite.columns) FROM outbox WHERE record=? ORDER BY n", .integer(record)
        ) { row in
            writes.append(try KeptWrite(reading: row).write)
            return true
        }
        return writes
    }

    /// Writes a letter. If it would be too large, it has the write only.
    func put(_ letter: DeadLetter, in table: Int64, at now: Int64) throws {
        do { try insert(letter, in: table, at: now) } catch let failure as SQLiteFailure where failure.isTooLarge {
            var letter = letter
            (letter.base, letter.shown) = (nil, nil)
            try insert(letter, in: table, at: now)
        }
    }

    private func insert(_ letter: DeadLetter, in table: Int64, at now: Int64) throws {
        let text = letter.text.shownText
        try run(
            "INSERT INTO letters(t, at, seal, letter) VALUES(?, ?, ?, ?)", .integer(table), .integer(now),
            .integer(Seal.of(text, numbers: table, now)), .text(text))
    }
}

/// A row of the outbox.
struct KeptWrite {
    /// The number of the table.
    var number: Int64
    var table: RecordTable
    var record: Int64
    /// The id of the record.
    var id: String
    var write: QueuedWrite

    /// The columns that ``init(reading:)`` expects.
    static let columns = "n, t, record, seal, resource, scope, id, write"

    init(number: Int64, table: RecordTable, record: Int64, id: String, write: QueuedWrite) {
        (self.number, self.table, self.record, self.id, self.write) = (number, table, record, id, write)
    }

    /// Reads a row.
    ///
    /// - Throws: ``SQLiteFailure/damaged`` if it is damaged.
    init(reading row: SQLiteStatement) throws {
        let (write, text) = (row.integer(0), row.bytes(7))
        (number, record, id) = (row.integer(1), row.integer(2), row.text(6))
        table = RecordTable(resource: row.text(4), scope: row.optionalText(5))
        guard Self.seal(of: text, number: write, table: (number, table), record: (record, id)) == row.integer(3),
            let value = try? JSONText(text), let read = QueuedWrite(number: write, value)
        else { throw SQLiteFailure.damaged }
        self.write = read
    }

    private static func seal(
        of text: [UInt8], number: Int64, table: (number: Int64, name: RecordTable), record: (number: Int64, id: String)
    ) -> Int64 {
        var seal = Seal()
        seal.add(number)
        seal.add(table.number)
        seal.add(record.number)
        seal.add(table.name.resource)
        seal.add(table.name.scope)
        seal.add(record.id)
        seal.add(text)
        return seal.value
    }

    private var values: [SQLiteValue] {
        let text = write.text.bytes
        return [
            .integer(number), .integer(record),
            .integer(Self.seal(of: text, number: write.number, table: (number, table), record: (record, id))),
            .text(table.resource), SQLiteValue(table.scope), .text(id), .utf8(text), .integer(write.number),
        ]
    }

    /// Writes a new row. A number that is taken is damage.
    func insert(_ connection: SQLiteConnection) throws {
        try connection.run(
            "INSERT INTO outbox(t, record, seal, resource, scope, id, write, n) VALUES(?, ?, ?, ?, ?, ?, ?, ?)", values)
    }

    /// Writes a row that is there.
    func update(_ connection: SQLiteConnection) throws {
        try connection.run(
            "UPDATE outbox SET t=?, record=?, seal=?, resource=?, scope=?, id=?, write=? WHERE n=?", values)
        if connection.changes != 1 { throw SQLiteFailure.damaged }
    }
}
