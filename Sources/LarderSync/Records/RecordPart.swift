import Larder
import LarderSystem

/// The part of a transaction that is about the records of one resource and account.
final class RecordPart {
    let attachment: RecordsAttachment
    let table: RecordTable
    let planner: SyncPlanner
    private let decisions: RecordDecisions
    private let outbox: OutboxRules
    /// The version of the table before the transaction.
    let version: Int64
    /// The number of bytes of the changes that are not sent.
    private(set) var queueSize: Int
    /// Whether all that was changed is counted in it.
    private(set) var isSizeKnown = true

    init(of table: RecordTable, _ decisions: RecordDecisions, by attachment: RecordsAttachment) throws {
        (self.attachment, self.table, self.decisions) = (attachment, table, decisions)
        (planner, outbox) = (decisions.planner, attachment.outbox)
        version = try decisions.transaction.facts(of: decisions.number).version
        queueSize =
            try attachment.queueSize(of: table, at: version)
            ?? decisions.transaction.connection.queueSize(of: decisions.number)
    }

    private var connection: SQLiteConnection { decisions.transaction.connection }

    /// Makes a change of the user.
    ///
    /// - Returns: the record after the change; nil if there is none then.
    /// - Throws: ``RecordError`` if the queue is full or the change cannot be made.
    @discardableResult
    func write(_ intent: RecordIntent, id: String?) throws -> StoredRecord? {
        let (former, present, shown): (RecordRow?, RecordRow, JSONText?)
        do {
            (former, present, shown) = try decisions.transaction.running {
                try decisions.change(intent, id: id) { attachment.world.random() }
            }
        } catch let refusal as WriteRefusal { throw RecordError(refusal) }
        do { try count(former?.writes ?? [], present.writes) } catch {
            // Nothing of the transaction stays, also if the app goes on.
            decisions.transaction.refuse(because: error)
            throw error
        }
        guard let shown, let state = present.state(shown: shown).seen else { return nil }
        return StoredRecord(
            id: present.id, shown: shown, state: state, receivedAt: present.receivedAt > 0 ? present.receivedAt : nil)
    }

    /// Counts the writes of a record. Whatever makes the queue smaller is welcome.
    private func count(_ former: [QueuedWrite], _ present: [QueuedWrite]) throws {
        let (sizeBefore, size) = (former.reduce(0) { $0 + $1.size }, present.reduce(0) { $0 + $1.size })
        queueSize += size - sizeBefore
        let pending = try decisions.transaction.facts(of: decisions.number).books.pending
        if present.count > former.count, pending > outbox.most {
            throw RecordError(.full, "there are \(pending - 1) unsent changes, and the queue takes no more")
        }
        if size > sizeBefore, queueSize > outbox.capacity {
            throw RecordError(.full, "the unsent changes are larger than the capacity of the queue")
        }
    }

    /// Makes a change that is no write of the user, such as taking one back.
    func decide<Result>(_ body: (RecordDecisions) throws -> Result) throws -> Result {
        isSizeKnown = false
        return try decisions.transaction.running { try body(decisions) }
    }

    /// Returns a record with its writes; nil if there is none.
    func row(_ id: String) throws -> RecordRow? {
        try decisions.transaction.running { try decisions.transaction.row(id, of: decisions.number) }
    }

    /// Returns a record as the user sees it; nil if there is none.
    func shown(_ id: String) throws -> JSONText? { try stored(id)?.shown }

    /// Returns a record as it is read; nil if there is none.
    func stored(_ id: String) throws -> StoredRecord? {
        try decisions.transaction.running {
            try connection.record(of: id, in: decisions.number).flatMap {
                try connection.keptRow($0, of: decisions.number)
            }?.stored
        }
    }
}

extension QueuedWrite {
    /// About the number of bytes that it takes in the queue.
    fileprivate var size: Int {
        patch.changes.reduce(250) { size, change in
            size + 32 + (change.before?.bytes.count ?? 0) + (change.after?.bytes.count ?? 0)
        }
    }
}
