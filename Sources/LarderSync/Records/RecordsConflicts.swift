import Larder

extension Records {
    /// The records about whose conflicts the app must decide, because the policy says `"conflict": "ask"` or a service refused
    /// a change again and again. Records that do not decode are left out: a handle without a type has them.
    public func conflicts() async throws -> [ConflictingRecord<Value>] {
        let (attachment, table) = (try attachment(), try table())
        let rows = try await attachment.reading { database in try database.conflicts(of: table) }
        var undecodable = 0
        defer { attachment.countUndecodable(undecodable) }
        return rows.compactMap { row in
            do {
                return ConflictingRecord(
                    id: row.id, mine: try row.mine.map { try coding.decode($0) },
                    theirs: try row.theirs.map { try coding.decode($0) })
            } catch {
                undecodable += 1
                return nil
            }
        }
    }

    /// Decides about a conflict. A decision that keeps changes of the user sends them again.
    ///
    /// - Returns: whether there was a conflict to decide.
    @discardableResult
    public func resolve(_ id: String, with decision: ConflictDecision<Value>) async throws -> Bool {
        try await write { writer, records in
            let part = try writer.part(records)
            guard let row = try part.row(id) else { return false }
            let record: JSONText?
            switch decision {
            case .theirs: record = nil
            case .mine: record = part.planner.shown(row)
            case .merged(let value):
                let text = try records.coding.encode(value)
                // Fields that the type does not know stay as the user sees them.
                record =
                    try part.shown(id).map { shown in
                        let known = (try? records.coding.decode(shown)).flatMap { try? records.coding.encode($0) }
                        return known.map { Patch(from: $0, to: text, shown: shown, ignoring: []).applied(to: shown) }
                            ?? text
                    } ?? text
            }
            return try part.decide { try $0.resolve(id, with: record) }
        }
    }
}

/// The sides of a conflict.
struct ConflictSides: Sendable {
    var id: String
    var mine: JSONText?
    var theirs: JSONText?
}

extension RecordDatabase {
    /// Returns the conflicts that wait for the app, in the order of the changes.
    func conflicts(of table: RecordTable) throws -> [ConflictSides] {
        try reading { connection in
            guard let number = try number(of: table, connection) else { return [] }
            var found: [Int64] = []
            try connection.each(
                """
                SELECT record FROM outbox JOIN records ON records.n=record
                WHERE outbox.t=? AND state=? GROUP BY record ORDER BY min(outbox.n)
                """, .integer(number), .integer(RecordRowState.conflict.rawValue)
            ) {
                found.append($0.integer(0))
                return true
            }
            return try found.compactMap { record in
                try connection.keptRow(record, of: number).map {
                    ConflictSides(id: $0.row.id, mine: $0.shown ?? $0.row.base, theirs: $0.row.base)
                }
            }
        }
    }
}
