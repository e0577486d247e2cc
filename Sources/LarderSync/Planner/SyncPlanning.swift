import Larder

/// The next step of the writes of a record. Every write that waits has one, so it can always be explained.
enum NextStep: Hashable, Sendable {
    /// Nothing waits.
    case rest
    /// The write can be sent now.
    case send(Int64)
    /// The write can be sent at this time, in milliseconds since 1970.
    case wait(Int64, until: Int64)
    /// The write is being sent.
    case sending(Int64)
    /// The service's record must be looked up first.
    case lookUp(Int64)
    /// The write contains the temporary ids of records that the service has not named.
    case needs(Int64, Set<String>)
    /// The app must decide about a conflict.
    case ask(Int64)
    /// The write was made for another source.
    case otherSource(Int64)
}

extension SyncPlanner {
    /// Returns what happens next with a record.
    ///
    /// Only the first write that the service has not accepted is ever sent, so the writes of a record arrive in order.
    func nextStep(of row: RecordRow, at now: Int64) -> NextStep {
        guard let write = row.first else { return .rest }
        switch write.status {
        case .sending: return .sending(write.number)
        case .needsRecord: return .lookUp(write.number)
        case .conflict: return .ask(write.number)
        case .open, .accepted: break
        }
        if !rules.isSent(write) { return .otherSource(write.number) }
        let needed = needs(of: write, in: row)
        if !needed.isEmpty { return .needs(write.number, needed) }
        // A wait that is longer than any was begun under a wrong clock.
        let isWaiting = write.next > now && write.next - now <= Self.longestWait
        return isWaiting ? .wait(write.number, until: write.next) : .send(write.number)
    }

    /// Returns the temporary ids that a write would carry to the service.
    func needs(of write: QueuedWrite, in row: RecordRow) -> Set<String> {
        var needed = references(of: write)
        // A change or deletion names its record. A create is what gives it a name.
        if write.kind != .create, TemporaryID.isOne(row.id) { needed.insert(row.id) }
        return needed
    }

    /// Returns the temporary ids in the content of a write.
    ///
    /// An id among them that was named already must be replaced with ``rename(_:in:)`` in the same transaction, and one of
    /// which no create is left must be given up with ``giveUpNeeding(_:in:at:_:)``: nothing else would ever free the write.
    func references(of write: QueuedWrite) -> Set<String> {
        write.patch.changes.reduce(into: []) { found, change in
            if let after = change.after { found.formUnion(TemporaryID.all(in: after)) }
            for name in change.path { found.formUnion(TemporaryID.all(in: JSONText(string: name))) }
        }
    }

    // MARK: Names

    /// Replaces the temporary id of a record that the service has named, wherever it occurs in another record.
    ///
    /// - Returns: whether it occurred.
    func rename(_ renaming: SyncEffects.Renaming, in row: inout RecordRow) -> Bool {
        var isChanged = false
        for place in row.writes.indices {
            let patch = row.writes[place].patch.replacing(renaming.former, with: renaming.id)
            if patch == row.writes[place].patch { continue }
            row.writes[place].patch = patch
            isChanged = true
        }
        if let rejected = row.rejected?.replacing(renaming.former, with: renaming.id), rejected != row.rejected {
            row.rejected = rejected
            isChanged = true
        }
        return isChanged
    }

    /// Takes over a record that a pull has brought before the answer to its create arrived, with its writes. The other row
    /// must be deleted then.
    ///
    /// The pulled state stays: the answer to a create that was sent again may be older.
    func absorb(
        _ other: RecordRow, into row: inout RecordRow, at moment: inout SyncMoment, _ effects: inout SyncEffects
    ) {
        if let base = other.base {
            row.writes.removeAll { !$0.isPending }
            (row.base, row.version, row.isDeletedThere) = (base, other.version, other.isDeletedThere)
            (row.answered, row.receivedAt) = (other.answered, other.receivedAt)
        }
        let writes = (row.writes + other.writes).sorted { $0.number < $1.number }
        row.writes = writes.filter(\.isFrozen) + writes.filter { !$0.isFrozen }
        row.generation = max(row.generation, other.generation)
        rebase(&row, mode: .keepMine, at: &moment, &effects)
        completeDeletion(of: &row, at: &moment, &effects)
    }

    /// Gives up the writes of a record that need another record whose create is not sent any more.
    func giveUpNeeding(
        _ gone: Set<String>, in row: inout RecordRow, at moment: inout SyncMoment, _ effects: inout SyncEffects
    ) {
        while let place = row.writes.firstIndex(where: { write in
            write.isPending && write.status != .sending && !needs(of: write, in: row).isDisjoint(with: gone)
        }) {
            drop(place, of: &row, as: .needsRejected, at: &moment, &effects)
        }
    }
}
