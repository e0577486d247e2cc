import Larder

extension Records {
    /// Returns the record of an id. A former temporary id finds its record.
    ///
    /// - Throws: ``RecordError``, with the code ``RecordError/Code/undecodable`` if the record does not decode.
    public func get(_ id: String) async throws -> RecordLookup<Value> {
        let lookup = try await attachment().lookUp([id], of: table())
        if let record = lookup.found[id] { return .found(try coding.decode(record)) }
        return lookup.absent.contains(id) ? .absent : .unknown
    }

    /// Returns the records of several ids, in the order of the ids. The answer for a record that does not decode is nil.
    ///
    /// - Throws: ``RecordError``.
    public func get(_ ids: [String]) async throws -> [RecordLookup<Value>?] {
        let attachment = try attachment()
        let lookup = try await attachment.lookUp(ids, of: table())
        let answers = ids.map { id -> RecordLookup<Value>? in
            guard let record = lookup.found[id] else { return lookup.absent.contains(id) ? .absent : .unknown }
            return (try? coding.decode(record)).map { RecordLookup.found($0) }
        }
        attachment.countUndecodable(answers.count { $0 == nil })
        return answers
    }

    /// Returns the records that a query selects. Records that do not decode are left out and counted.
    ///
    /// - Throws: ``QueryError`` if the query cannot be asked; ``RecordError``.
    public func query(_ query: Query = Query()) async throws -> RecordPage<Value> {
        let (attachment, table) = (try attachment(), try table())
        let selection = try query.selection(in: coding.format)
        let (stored, isComplete) = try await attachment.page(selection, of: table)
        let page = coding.page(stored, isComplete: isComplete)
        attachment.countUndecodable(page.undecodable)
        return page
    }

    /// Returns the number of records that meet a query's condition, at most its limit. Records that do not decode are counted.
    ///
    /// - Throws: ``QueryError`` if the query cannot be asked; ``RecordError``.
    public func count(_ query: Query = Query()) async throws -> Int {
        let (attachment, table) = (try attachment(), try table())
        let selection = try query.selection(in: coding.format)
        let count = try await attachment.reading { database in
            try QueryError.translated { try database.count(selection, of: table) }
        }
        return min(count, selection.limit ?? .max)
    }
}

extension QueryError {
    /// Runs a query, and describes why SQLite refuses it.
    static func translated<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let failure as QueryFailure {
            switch failure {
            case .tooComplex: throw QueryError(description: "the query has too many conditions for SQLite")
            }
        }
    }
}
