import Larder
import LarderSystem

extension RecordsAttachment {
    /// Returns the records that a query selects, and whether all records of the service are known.
    func page(_ selection: RecordSelection, of table: RecordTable) async throws -> (
        stored: [StoredRecord], isComplete: Bool
    ) {
        try await reading { [self] database in
            let (stored, pull, isScan) = try QueryError.translated { try database.page(selection, of: table) }
            if isScan { countScan(selection.fields) }
            return (stored, isComplete(pull))
        }
    }

    /// Returns records by their ids, and those ids of which there is no record.
    func lookUp(_ ids: [String], of table: RecordTable) async throws -> (
        found: RecordsByID, absent: RecordIDs
    ) {
        let (found, absent) = try await reading { [self] database in
            let (found, _, absent) = try database.lookUp(ids, of: table) { knowsAll($0) }
            return (found, absent)
        }
        if outbox.sendsOnRead, found.values.contains(where: { $0.state == .pending }) { work?.wasRead(table) }
        return (found, absent)
    }
}
