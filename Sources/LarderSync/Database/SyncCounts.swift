import Larder

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
    /// Bytes of the records in them.
    var bytes = 0
    /// Pulls that have fetched everything.
    var fullPulls = 0
    /// Records in pages that make no sense.
    var quarantined = 0
    /// The milliseconds from each accepted change to its acceptance.
    var waits: [Int64] = []

    mutating func add(_ effects: SyncEffects) {
        books = books + effects.books
        repeated += effects.repeated
        conflicts += effects.conflicts
        staleRows += effects.staleRows
        waits += effects.waits
    }
}
