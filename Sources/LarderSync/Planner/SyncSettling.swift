public import Larder

/// The outcome of a change that was sent.
public enum WriteOutcome: Hashable, Sendable {
    /// The service made the change.
    ///
    /// - Parameters:
    ///   - record: the record after it; nil if the answer does not have it.
    ///   - version: its version, if it is not in the record.
    case accepted(_ record: JSONText?, version: JSONText? = nil)
    /// The service refused the change, because somebody else has changed the record, which is now this.
    case conflict(_ record: JSONText, version: JSONText? = nil)
    /// The same, and the record was deleted.
    case conflictWithDeletion
    /// The same, and the answer does not tell the record.
    case conflictWithoutRecord
    /// The service refuses the change for good.
    case rejected(status: Int?)
    /// The service wants to be asked again.
    ///
    /// - Parameters:
    ///   - wait: the milliseconds after which it wants that, if it said so.
    ///   - status: the status by which it put the change off; nil if there was none.
    case later(_ wait: Int64? = nil, status: Int? = nil)
    /// Nobody is signed in.
    case signedOut
    /// There was no answer.
    case unknown
    /// There was an answer with this status, but none that can be understood, such as a page of a hotel's network.
    case notUnderstood(status: Int)
}

extension SyncPlanner {
    /// Freezes a write before it is sent. This must be durable before a byte leaves the device.
    ///
    /// - Parameter version: the version of its record; nil if there is none.
    func claim(_ write: inout QueuedWrite, at version: JSONText?, _ effects: inout SyncEffects) {
        if write.wasSent { effects.repeated += 1 }
        write.sentVersion = write.sentVersion ?? version ?? .null
        (write.status, write.isAskedToWait, write.isHeld, write.lastStatus) = (.sending, false, false, nil)
        write.wasSent = true
        write.tries += 1
    }

    /// Opens a write again whose process ended while it was sent. Whether the service has it is not known.
    func reopen(_ write: inout QueuedWrite) {
        if write.status == .sending { write.status = .open }
    }

    /// Ends the wait of a write for its next try, unless the service has asked for it.
    func wake(_ write: inout QueuedWrite, at now: Int64) {
        if write.status == .open, !write.isAskedToWait { write.next = min(write.next, now) }
    }

    /// Settles a write.
    ///
    /// - Parameters:
    ///   - number: the number of the write. A write that is not being sent is left as it is.
    ///   - row: its record.
    func settle(
        _ outcome: WriteOutcome, of number: Int64, in row: inout RecordRow, at moment: inout SyncMoment,
        _ effects: inout SyncEffects
    ) {
        guard let place = row.writes.firstIndex(where: { $0.number == number && $0.status == .sending }) else { return }
        switch outcome {
        case .accepted(let record, let version):
            accept(place, in: &row, record, version: version, at: &moment, &effects)
        case .conflict(let record, let version):
            conflict(place, in: &row, record, version: version, at: &moment, &effects)
        case .conflictWithDeletion:
            reopenRefused(&row.writes[place], at: &moment)
            row.answered = moment.next()
            foldAccepted(into: &row)
            rebase(&row, onto: nil, at: &moment, &effects)
            limitRounds(of: number, in: &row, &effects)
        case .conflictWithoutRecord where TemporaryID.isOne(row.id):
            // The record in the way is another one, and there is no name by which it could be looked up.
            drop(place, of: &row, as: .rejected, at: &moment, &effects)
        case .conflictWithoutRecord:
            reopenRefused(&row.writes[place], at: &moment)
            row.writes[place].status = .needsRecord
        case .rejected(let status):
            drop(place, of: &row, as: .rejected, status: status, at: &moment, &effects)
        case .later(let wait, let status):
            postpone(&row.writes[place], at: moment, by: wait)
            (row.writes[place].isAskedToWait, row.writes[place].lastStatus) = (wait != nil, status)
        case .signedOut:
            postpone(&row.writes[place], at: moment, by: Self.signedOutWait)
            row.writes[place].isHeld = true
        case .unknown:
            postpone(&row.writes[place], at: moment, by: nil)
        case .notUnderstood(let status):
            postpone(&row.writes[place], at: moment, by: nil)
            row.writes[place].lastStatus = status
        }
        completeDeletion(of: &row, at: &moment, &effects)
    }

    /// Deletes a record that the service has deleted, now that the outcome of all that was sent is known.
    func completeDeletion(of row: inout RecordRow, at moment: inout SyncMoment, _ effects: inout SyncEffects) {
        if row.isDeletedThere, !outlastsDeletion(row) {
            rebase(&row, onto: nil, at: &moment, &effects)
        }
    }

    /// Puts the writes that the service accepted before a moment into the base.
    func foldAccepted(into row: inout RecordRow, before moment: Int64 = .max) {
        while let write = row.writes.first, case .accepted(let at) = write.status, at < moment {
            if rules.forgetsAccepted {
                row.base = nil
            } else if !write.baseMayHaveIt {
                row.base = write.applied(to: row.base)?.setting(rules.idPath, to: row.idText)
            }
            row.writes.removeFirst()
        }
    }

    private func postpone(_ write: inout QueuedWrite, at moment: SyncMoment, by wait: Int64?) {
        write.status = .open
        let wait = max(wait ?? 0, rules.backoff.wait(after: write.tries, key: write.key))
        write.next = moment.now + min(wait, Self.longestWait)
    }

    /// Opens a write that the service has definitely refused. Its content may change now, so it gets a new key.
    private func reopenRefused(_ write: inout QueuedWrite, at moment: inout SyncMoment) {
        // The next rebase asks whether a pull has brought the record meanwhile.
        (write.status, write.wasSent, write.sentVersion, write.key) = (.open, false, nil, moment.newKey())
        write.rounds += 1
        write.next = moment.now
    }

    // MARK: Accepted

    private func accept(
        _ place: Int, in row: inout RecordRow, _ record: JSONText?, version: JSONText?, at moment: inout SyncMoment,
        _ effects: inout SyncEffects
    ) {
        let write = row.writes[place]
        if write.kind == .create, TemporaryID.isOne(row.id) {
            // A pull may have brought the record already, by a name that was not known here.
            if write.tries > 1 { row.writes[place].baseMayHaveIt = true }
            guard let id = record?[rules.idPath], let name = id.name, !name.isEmpty else {
                // Without an id nothing can be done with the record. The key protects the next try.
                postpone(&row.writes[place], at: moment, by: nil)
                return
            }
            let renaming = SyncEffects.Renaming(former: row.id, id: id)
            effects.renamed.append(renaming)
            _ = rename(renaming, in: &row)
            effects.events.append(.renamed(former: row.id, id: name))
            (row.id, row.idText) = (name, id)
        }
        effects.books.pending -= 1
        effects.books.accepted += 1
        effects.waits.append(moment.now - write.made)
        effects.events.append(.accepted(id: row.id, write: write.number))
        let now = moment.next()
        // The answer to another try may tell the record as it was after the first one.
        let isOlder = write.tries > 1 && !isNewer(record, version: version, than: row)
        guard let record, record.kind == .object, write.kind != .delete, !isOlder else {
            // A pull that is under way may bring the record without the change, which stays on top of it.
            row.writes[place].status = .accepted(at: now)
            if write.kind != .delete, !isOlder || row.version == nil {
                // Even an older version is a precondition: the service refuses what was not made on its present one.
                row.version = version ?? record.flatMap(self.version) ?? row.version
            }
            if !rules.isPulled { foldAccepted(into: &row) }
            // The writes after it were made on top of it, and stay so.
            return
        }
        row.answered = now
        // The record has all that was accepted before.
        row.writes.removeSubrange(...place)
        settle(base: record, version: version, of: &row, mode: .keepMine, at: &moment, &effects)
    }

    /// Returns whether a record is certainly newer than the base.
    private func isNewer(_ record: JSONText?, version: JSONText?, than row: RecordRow) -> Bool {
        guard rules.versionsIncrease, let known = row.version?.number,
            let version = (version ?? self.version(of: record))?.number
        else { return false }
        return version > known
    }

    /// Puts the state that an answer told under the rest of the writes.
    private func settle(
        base: JSONText, version: JSONText?, of row: inout RecordRow, mode: RebaseMode, at moment: inout SyncMoment,
        _ effects: inout SyncEffects
    ) {
        let former = row.base
        row.base = base
        row.version = version ?? self.version(of: base)
        row.isDeletedThere = false
        row.receivedAt = moment.now
        rebase(&row, mode: mode, former: former, at: &moment, &effects)
    }

    // MARK: Conflict

    private func conflict(
        _ place: Int, in row: inout RecordRow, _ record: JSONText, version: JSONText?, at moment: inout SyncMoment,
        _ effects: inout SyncEffects
    ) {
        let write = row.writes[place]
        if write.kind == .create {
            if isMade(write, by: record) {
                // An earlier try had reached the service, and this is the present record.
                row.writes[place].tries = 1
                row.writes[place].baseMayHaveIt = false
                accept(place, in: &row, record, version: version, at: &moment, &effects)
                return
            }
            if TemporaryID.isOne(row.id) {
                // The record in the way is another one.
                drop(place, of: &row, as: .rejected, at: &moment, &effects)
                return
            }
        }
        let number = write.number
        reopenRefused(&row.writes[place], at: &moment)
        row.answered = moment.next()
        // The record has all that was accepted before.
        foldAccepted(into: &row)
        settle(base: record, version: version, of: &row, mode: .merge, at: &moment, &effects)
        limitRounds(of: number, in: &row, &effects)
    }

    /// Returns whether a record of the service has all that a create would make.
    private func isMade(_ write: QueuedWrite, by record: JSONText) -> Bool {
        guard let content = write.content else { return false }
        return content.members.allSatisfy { member in
            let isFixed =
                rules.fixedPaths.contains { $0.isSamePlace(as: [member.name]) } || rules.isStamp([member.name])
            return isFixed || record[member.name].meansSame(as: member.value)
        }
    }

    /// Asks the app after too many conflicts in a row.
    private func limitRounds(of number: Int64, in row: inout RecordRow, _ effects: inout SyncEffects) {
        guard let place = row.writes.firstIndex(where: { $0.number == number }),
            row.writes[place].status == .open, row.writes[place].rounds > Self.mostRounds
        else { return }
        row.writes[place].status = .conflict
        effects.events.append(.conflict(id: row.id, mine: shown(row), theirs: row.base, result: nil))
    }

    /// Takes the record that was looked up for a write that needs it: the answer to ``WriteOutcome/conflictWithoutRecord``.
    ///
    /// - Parameter record: the record; nil if the service has none.
    func found(
        _ record: JSONText?, version: JSONText? = nil, for number: Int64, in row: inout RecordRow,
        at moment: inout SyncMoment, _ effects: inout SyncEffects
    ) {
        guard let place = row.writes.firstIndex(where: { $0.number == number && $0.status == .needsRecord }) else {
            return
        }
        if let record, isMade(row.writes[place], by: record) {
            row.writes[place].tries = 1
            accept(place, in: &row, record, version: version, at: &moment, &effects)
            return
        }
        row.writes[place].status = .open
        row.answered = moment.next()
        foldAccepted(into: &row)
        if let record {
            settle(base: record, version: version, of: &row, mode: .merge, at: &moment, &effects)
        } else {
            rebase(&row, onto: nil, at: &moment, &effects)
        }
        limitRounds(of: number, in: &row, &effects)
    }
}
