import Larder
import LarderSystem

extension RecordsAttachment {
    func cleared(_ selection: Selection, discardingUnsent: Bool) async {
        switch selection {
        case .all, .scope: work?.interrupt()
        case .key, .tag: return
        }
        do { try await clear(selection, discardingUnsent: discardingUnsent) } catch {
            tell(.recordsNotCleared, "the records could not be cleared: \(error)")
        }
    }

    /// Clears what the service sent, and the unsent changes if that is asked for.
    ///
    /// Resources without a policy are cleared, too: nobody else does it. A damaged database that was set aside goes as a whole,
    /// because nobody knows whose records it has.
    private func clear(_ selection: Selection, discardingUnsent: Bool) async throws {
        let isCleared: @Sendable (RecordTable) -> Bool
        switch selection {
        case .all: isCleared = { _ in true }
        case .scope(let scope): isCleared = { $0 == RecordTable(resource: $0.resource, scope: scope) }
        case .key, .tag: return
        }
        try await writing { [self] database in
            // The first try may find damage. The database is set aside then, and what was saved of it is cleared.
            do { try clear(isCleared, of: database, discardingUnsent) } catch let failure as SQLiteFailure
                where failure.isDamaged
            { try clear(isCleared, of: database, discardingUnsent) }
            try database.file.removeAside()
        }
        work?.forget(isCleared)
    }

    private func clear(
        _ isCleared: (RecordTable) -> Bool, of database: RecordDatabase, _ discardsUnsent: Bool
    ) throws {
        try database.changing(.power) { transaction in
            for facts in try TableFacts.all(transaction.connection) where isCleared(facts.table) {
                let isOwn = facts.table.resource.utf8.elementsEqual(resource.utf8)
                guard isOwn || !database.isUsed(facts.table.resource) else { continue }
                let planner = isOwn ? planner : SyncPlanner(SyncRules(idPath: facts.idPath))
                try RecordDecisions(transaction, facts.table, planner).clear(discardingUnsent: discardsUnsent)
            }
        }
    }
}

/// A place in the cache folder, which an attachment passes on to its successor after a reload.
final class ClearingPlace: Sendable {
    private let place: StorePlace

    init(_ place: StorePlace) { self.place = place }

    /// Returns the place of a resource.
    static func of(_ context: SectionContext) throws -> ClearingPlace {
        try context.share(context.resource) { try ClearingPlace(context.place(RecordsAttachment.place)) }
    }
}

extension Decision.Kind {
    /// Records could not be cleared.
    static let recordsNotCleared = Decision.Kind(rawValue: "records-not-cleared")
}
