import Larder
import LarderSystem

extension RecordsAttachment {
    /// Returns the records that a query selects, and whether all records of the service are known.
    func page(_ selection: RecordSelection, of table: RecordTable) async throws -> (
        stored: [StoredRecord], isComplete: Bool
    ) {
        try await reading { [self] database in
            // Asked first: a pull that ends meanwhile has brought more records, and not fewer.
            let isComplete = isComplete(try database.facts(of: table).pull)
            let stored = try QueryError.translated { try database.records(selection, of: table) }
            return (stored, isComplete)
        }
    }

    /// Returns records by their ids, and those ids of which there is no record.
    func lookUp(_ ids: [String], of table: RecordTable) async throws -> (
        found: RecordsByID, absent: RecordIDs
    ) {
        try await reading { [self] database in
            let isComplete = isComplete(try database.facts(of: table).pull)
            let found = try database.records(ids, of: table)
            let missing = ids.filter { found[$0] == nil }
            if missing.isEmpty { return (found, RecordIDs()) }
            return (found, try database.absent(missing, of: table, isComplete: isComplete))
        }
    }
}

extension RecordDatabase {
    /// Returns those ids of which there is no record, as far as this device knows.
    ///
    /// - Parameter isComplete: whether a pull has brought all records.
    func absent(_ ids: [String], of table: RecordTable, isComplete: Bool) throws -> RecordIDs {
        try reading { connection in
            guard let number = try number(of: table, connection) else { return RecordIDs(isComplete ? ids : []) }
            var absent = RecordIDs()
            for id in ids {
                let row = try connection.record(of: id, in: number).flatMap { try connection.keptRow($0, of: number) }
                // Without a row, a complete pull has shown it; with one, the record was deleted here. One that has come
                // meanwhile is neither found nor absent.
                if row.map({ $0.state == .deleted }) ?? isComplete { absent.insert(id) }
            }
            return absent
        }
    }
}
