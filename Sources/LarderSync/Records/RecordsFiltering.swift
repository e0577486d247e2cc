import Larder

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
        let answers = try await attachment.reading { database in
            try QueryError.translated {
                try database.lookUp(ids, meeting: selection, of: table) { attachment.knowsAll($0) }
            }
        }
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
