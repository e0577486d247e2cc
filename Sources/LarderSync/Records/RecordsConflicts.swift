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
            let choice: SyncPlanner.Decision
            switch decision {
            case .theirs: choice = .theirs
            case .mine: choice = part.planner.shown(row).map { .record($0) } ?? .deletion
            case .merged(let value):
                let text = try records.coding.encode(value)
                // Fields that the type does not know stay as the user sees them, or as the service has them.
                let seen = part.planner.shown(row) ?? row.base
                let merged = seen.flatMap { seen -> JSONText? in
                    guard let known = try? records.coding.decode(seen), let former = try? records.coding.encode(known)
                    else { return nil }
                    return Patch(from: former, to: text, shown: seen, ignoring: []).applied(to: seen)
                }
                choice = .record(merged ?? text)
            }
            return try part.decide { try $0.resolve(id, by: choice) }
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
                WHERE outbox.t=? AND state IN (?, ?) GROUP BY record ORDER BY min(outbox.n)
                """, .integer(number), .integer(RecordRowState.conflict.rawValue),
                .integer(RecordRowState.deleted.rawValue)
            ) {
                found.append($0.integer(0))
                return true
            }
            return try found.compactMap { record in
                guard let kept = try connection.keptRow(record, of: number) else { return nil }
                let theirs = kept.row.isDeletedThere ? nil : kept.row.base
                guard kept.state == .deleted else {
                    return ConflictSides(id: kept.row.id, mine: kept.shown ?? kept.row.base, theirs: theirs)
                }
                // The state of a deleted record does not tell whether it is in conflict, but its writes do.
                let isConflict = try connection.writes(of: record).contains { $0.status == .conflict }
                return isConflict ? ConflictSides(id: kept.row.id, mine: nil, theirs: theirs) : nil
            }
        }
    }
}
