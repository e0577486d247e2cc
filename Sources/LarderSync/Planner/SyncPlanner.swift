import Larder

/// Decides what happens to records and writes: rows in, changed rows and effects out.
///
/// A planner is pure. It reads no clock and no file, and calls nothing. Each function is one transaction of the database:
/// the rows and the effects that it returns are kept together or not at all.
///
/// It is a class, because each change hands it along, and its rules are large.
final class SyncPlanner: Sendable {
    let rules: SyncRules

    init(_ rules: SyncRules) { self.rules = rules }

    /// The record as the user sees it.
    func shown(_ row: RecordRow) -> JSONText? { row.shown(idPath: rules.idPath) }

    /// The most conflicts in a row before the app must decide.
    static let mostRounds = 5
    /// The wait for a new sign-in before the service is asked again, in milliseconds.
    static let signedOutWait: Int64 = 900_000
    /// The longest wait that a service can ask for, in milliseconds.
    static let longestWait: Int64 = 86_400_000

    /// Returns the version of a record.
    func version(of record: JSONText?) -> JSONText? { rules.versionPath.flatMap { record?[$0] } }

    /// Gives up a write: it is counted and kept as a letter.
    func giveUp(
        _ write: QueuedWrite, of row: RecordRow, as reason: DeadLetter.Reason, status: Int? = nil, shown: JSONText?,
        _ effects: inout SyncEffects
    ) {
        effects.letters.append(
            DeadLetter(id: row.id, write: write, base: row.base, shown: shown, reason: reason, status: status))
        if write.isPending { effects.books.pending -= 1 }
        switch reason {
        case .rejected, .needsRejected:
            effects.books.rejected += 1
            effects.events.append(.rejected(id: row.id, write: write.number, status: status))
        case .expired:
            effects.books.expired += 1
            effects.events.append(.expired(id: row.id, write: write.number))
        case .overtaken:
            effects.books.overtaken += 1
            effects.events.append(.overtaken(id: row.id, write: write.number))
        }
    }

    /// Notes that no service will ever name the record of a create that is not sent any more.
    func createIsGone(_ row: RecordRow, _ effects: inout SyncEffects) {
        if TemporaryID.isOne(row.id) { effects.gone.insert(row.id) }
    }
}
