import Larder
import LarderSystem

/// The numbers of what a transaction has done to a table, for counters.
struct SyncCounts: Hashable, Sendable {
    /// The change of the books.
    var books = Books()
    /// Tries of a write whose outcome was not known.
    var repeated = 0
    /// Conflicts that were found.
    var conflicts = 0
    /// Rows of a pull that were older than an answer.
    var staleRows = 0
    /// Merged pages.
    var pages = 0
    /// Records and deletions in them.
    var rows = 0
    /// Records in them that make no sense.
    var quarantined = 0

    mutating func add(_ effects: SyncEffects) {
        books = books + effects.books
        repeated += effects.repeated
        conflicts += effects.conflicts
        staleRows += effects.staleRows
    }
}

/// The queue of a resource, of all its accounts together.
struct QueueFacts: Hashable, Sendable {
    /// The number of changes that the service may still have to be told of.
    var pending = 0
    /// The time at which the oldest of them was made, in milliseconds since 1970; nil if there are none.
    var oldest: Int64?
    /// The number of changes that the books of the accounts have lost.
    var unaccounted = 0
}

extension RecordDatabase {
    /// Returns the queue of a resource. Makes no file.
    func queue(of resource: String) throws -> QueueFacts {
        var facts = QueueFacts()
        guard Disk.stamp(of: file.path) != nil else { return facts }
        try reading { connection in
            for table in try TableFacts.all(connection) where table.table.resource.utf8.elementsEqual(resource.utf8) {
                facts.pending += table.books.pending
                facts.unaccounted += abs(table.books.unaccounted)
                if table.books.pending == 0 { continue }
                try connection.each(
                    "SELECT \(KeptWrite.columns) FROM outbox WHERE t=? ORDER BY n", .integer(table.number)
                ) { row in
                    let write = try KeptWrite(reading: row).write
                    if write.isPending { facts.oldest = min(facts.oldest ?? write.made, write.made) }
                    return !write.isPending
                }
            }
        }
        return facts
    }
}
