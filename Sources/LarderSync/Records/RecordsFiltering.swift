import Larder
import LarderSystem

extension Records {
    /// Returns the records of several ids that meet a condition, in the order of the ids.
    ///
    /// ```swift
    /// let unseen = try await statuses.get(videoIDs, where: Status.isWatched == false)
    /// ```
    ///
    /// Only records that are known not to meet the condition are left out. An id whose record is unknown stays, because the
    /// record may meet it: the list shows it as unknown, and does not hide it. So does an absent one: whether no record at all
    /// meets the condition is for the app to say. Records that do not decode are left out and counted.
    ///
    /// - Throws: ``QueryError`` if the condition cannot be asked; ``RecordError``.
    public func get(
        _ ids: [String], where condition: Query.Condition
    ) async throws -> [(id: String, lookup: RecordLookup<Value>)] {
        let (attachment, table) = (try attachment(), try table())
        let selection = try Query(condition).selection(in: coding.format)
        let answers = try await attachment.lookUp(ids, meeting: selection, of: table)
        var undecodable = 0
        let decoded = ids.compactMap { id -> (id: String, lookup: RecordLookup<Value>)? in
            if answers.others.contains(id) { return nil }
            guard let record = answers.found[id] else { return (id, answers.absent.contains(id) ? .absent : .unknown) }
            do { return (id, .found(try coding.decode(record))) } catch {
                undecodable += 1
                return nil
            }
        }
        attachment.countUndecodable(undecodable)
        return decoded
    }
}

extension RecordsAttachment {
    /// Returns records by their ids: those that meet a condition, the ids of those that do not, and the ids of which there is no
    /// record.
    fileprivate func lookUp(_ ids: [String], meeting selection: RecordSelection, of table: RecordTable) async throws
        -> (
            found: RecordsByID, others: RecordIDs, absent: RecordIDs
        )
    {
        try await reading { [self] database in
            let isComplete = isComplete(try database.facts(of: table).pull)
            let (found, others) = try QueryError.translated {
                try database.records(ids, meeting: selection, of: table)
            }
            let missing = ids.filter { found[$0] == nil && !others.contains($0) }
            return (found, others, try database.absent(missing, of: table, isComplete: isComplete))
        }
    }
}

extension RecordDatabase {
    /// Returns records by their ids: those that meet a condition, and the ids of those that do not.
    fileprivate func records(
        _ ids: [String], meeting selection: RecordSelection, of table: RecordTable
    ) throws -> (found: RecordsByID, others: RecordIDs) {
        try reading { connection in
            var (found, others) = (RecordsByID(), RecordIDs())
            guard let number = try number(of: table, connection) else { return (found, others) }
            let sql = "SELECT 1 FROM records WHERE n=? AND (\(selection.condition ?? "1"))"
            for id in ids where found[id] == nil {
                guard let record = try connection.record(of: id, in: number),
                    let stored = try connection.keptRow(record, of: number)?.stored
                else { continue }
                var isMet = false
                try query(sql, [.integer(record)] + selection.values.map(\.bound), connection) { _ in isMet = true }
                if isMet { found[id] = stored } else { others.insert(id) }
            }
            return (found, others)
        }
    }
}
