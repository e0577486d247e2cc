import Larder
import LarderSystem

extension RecordsAttachment {
    func cleared(_ selection: Selection, discardingUnsent: Bool) async {
        do { try await clear(selection, discardingUnsent: discardingUnsent) } catch {
            tell(.recordsNotCleared, "the records could not be cleared: \(error)")
        }
    }

    /// Clears what the service sent, and the unsent changes if that is asked for.
    private func clear(_ selection: Selection, discardingUnsent: Bool) async throws {
        try await writing { [self] database in
            let tables = try database.tables().filter { table in
                guard table.resource.utf8.elementsEqual(resource.utf8) else { return false }
                switch selection {
                case .all: return true
                case .scope(let scope): return RecordTable(resource: resource, scope: scope) == table
                case .key, .tag: return false
                }
            }
            if tables.isEmpty { return }
            try database.changing(.power) { transaction in
                for table in tables {
                    try RecordDecisions(transaction, table, planner).clear(discardingUnsent: discardingUnsent)
                }
            }
        }
    }
}

/// A place in the cache folder, which an attachment passes on to its successor after a reload.
final class ClearingPlace: Sendable {
    private let place: StorePlace

    init(_ place: StorePlace) { self.place = place }
}

extension Decision.Kind {
    /// Records could not be cleared.
    static let recordsNotCleared = Decision.Kind(rawValue: "records-not-cleared")
}
