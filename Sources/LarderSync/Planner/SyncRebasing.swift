import Larder

extension SyncPlanner {
    /// The ways to treat a place where the new base and a write differ.
    enum RebaseMode {
        /// Others changed the record: where both sides changed the same, the rule for conflicts decides.
        case merge
        /// An earlier write of the user is gone: what the user wrote later stays.
        case keepMine
    }

    /// Puts a new state of the service under the writes of a record.
    ///
    /// - Parameters:
    ///   - base: the record as the service has it; nil if it was deleted there.
    ///   - version: its version, if it is not in the record.
    func rebase(
        _ row: inout RecordRow, onto base: JSONText?, version: JSONText? = nil, at moment: inout SyncMoment,
        _ effects: inout SyncEffects
    ) {
        if !base.meansSame(as: row.base) { row.rejected = nil }
        if base == nil, outlastsDeletion(row) {
            // The user's change stays visible until its outcome is known, or its own source is asked again.
            row.isDeletedThere = true
            return
        }
        let former = row.base
        row.base = base
        row.version = version ?? self.version(of: base)
        row.isDeletedThere = false
        row.receivedAt = moment.now
        rebase(&row, mode: .merge, former: former, at: &moment, &effects)
    }

    /// Makes the writes of a record again, on what is under them now.
    ///
    /// - Parameter former: the base under them before.
    func rebase(
        _ row: inout RecordRow, mode: RebaseMode, former: JSONText? = nil, at moment: inout SyncMoment,
        _ effects: inout SyncEffects
    ) {
        var running = row.base
        var formerRunning = former
        var writes: [QueuedWrite] = []
        for write in row.writes {
            let before = formerRunning
            formerRunning = write.applied(to: formerRunning)
            if isFixed(write) {
                writes.append(write)
                running = write.applied(to: running)
                continue
            }
            var rebased = write
            if mode == .merge { rebased.baseMayHaveIt = false }
            let rebasing = Rebasing(former: before, isOutdated: write.baseMayHaveIt, mode: mode)
            if rebase(&rebased, of: row, on: running, rebasing, at: &moment, &effects) {
                writes.append(rebased)
                running = rebased.applied(to: running)
            }
        }
        row.writes = writes
    }

    /// Returns whether a pull does not change a write: it may have reached the service, or it was made for another one, whose
    /// records say nothing about it.
    func isFixed(_ write: QueuedWrite) -> Bool { write.isFrozen || !rules.isSent(write) }

    /// Returns whether a record stays although the service has deleted it: the outcome of a change is not known, or the first
    /// that waits belongs to another source. Changes behind that one wait with it.
    func outlastsDeletion(_ row: RecordRow) -> Bool {
        row.writes.contains(where: \.isFrozen)
            || row.writes.first(where: \.isPending).map { !rules.isSent($0) } ?? false
    }

    /// The facts about the change of a base.
    private struct Rebasing {
        /// The record that was under the write before; nil if there was none, or if it was not known.
        var former: JSONText?
        /// Whether that is not what the write was made on: a pull has brought the record between its first try and its refusal.
        var isOutdated = false
        var mode: RebaseMode

        /// Returns whether the record is the one that the write was made on.
        func isMadeOn(_ theirs: JSONText) -> Bool { !isOutdated && former.meansSame(as: theirs) }
    }

    /// Makes one write again.
    ///
    /// - Returns: whether it is still needed.
    private func rebase(
        _ write: inout QueuedWrite, of row: RecordRow, on theirs: JSONText?, _ rebasing: Rebasing,
        at moment: inout SyncMoment, _ effects: inout SyncEffects
    ) -> Bool {
        switch (write.kind, theirs) {
        case (.create, nil): return true
        case (.create, let theirs?):
            // Somebody else has made a record of the same id.
            let members = (write.content ?? .object).setting(rules.idPath, to: nil).members
            write.kind = .update
            write.patch = Patch(members.map { FieldChange(path: [$0.name], before: nil, after: $0.value) })
            return merge(&write, of: row, with: theirs, Rebasing(former: nil, mode: rebasing.mode), &effects)
        case (.delete, nil):
            overtake(write, of: row, &effects)
            return false
        case (.delete, let theirs?):
            if rebasing.mode == .keepMine || rebasing.isMadeOn(theirs) { return true }
            if rules.conflict.asksApp, rebasing.former != nil {
                effects.conflicts += 1
                effects.events.append(.conflict(id: row.id, mine: nil, theirs: theirs, result: nil))
                write.status = .conflict
                return true
            }
            guard let place = rules.stamp, let time = place.time(of: theirs), time > write.stamp,
                !rules.conflict.outlivesDeletion
            else { return true }
            effects.conflicts += 1
            effects.events.append(.conflict(id: row.id, mine: nil, theirs: theirs, result: theirs))
            giveUp(write, of: row, as: .overtaken, shown: nil, &effects)
            return false
        case (.update, nil):
            return outlive(&write, of: row, former: rebasing.former, mode: rebasing.mode, &effects)
        case (.update, let theirs?):
            return merge(&write, of: row, with: theirs, rebasing, &effects)
        }
    }

    /// Decides about a change of a record that was deleted elsewhere.
    private func outlive(
        _ write: inout QueuedWrite, of row: RecordRow, former: JSONText?, mode: RebaseMode,
        _ effects: inout SyncEffects
    ) -> Bool {
        guard let former else {
            // The record is not known now, as after a logout: the change waits for it, until the service says that it is gone.
            if mode == .keepMine { return true }
            effects.conflicts += 1
            giveUp(write, of: row, as: .overtaken, shown: nil, &effects)
            return false
        }
        let mine = write.patch.applied(to: former)
        if rules.conflict.outlivesDeletion, rules.ids == .client || TemporaryID.isOne(row.id) {
            var content = mine
            if let version = rules.versionPath { content = content.setting(version, to: nil) }
            write.kind = .create
            write.patch = Patch([FieldChange(path: [], before: nil, after: content)])
            effects.conflicts += 1
            effects.events.append(.conflict(id: row.id, mine: mine, theirs: nil, result: content))
            return true
        }
        effects.conflicts += 1
        effects.events.append(.conflict(id: row.id, mine: mine, theirs: nil, result: nil))
        giveUp(write, of: row, as: .overtaken, shown: mine, &effects)
        return false
    }

    /// Counts a write that others have made too.
    func overtake(_ write: QueuedWrite, of row: RecordRow, _ effects: inout SyncEffects) {
        effects.books.pending -= 1
        effects.books.overtaken += 1
        effects.events.append(.overtaken(id: row.id, write: write.number))
    }

    /// Merges a change with the service's state of the record.
    ///
    /// - Returns: whether anything of the change is left.
    private func merge(
        _ write: inout QueuedWrite, of row: RecordRow, with theirs: JSONText, _ rebasing: Rebasing,
        _ effects: inout SyncEffects
    ) -> Bool {
        let mode = rebasing.mode
        // Of what it was made on, the values that the user has changed are known. Others are nobody's conflict.
        let former = rebasing.isOutdated ? write.patch.undone(in: theirs) : rebasing.former
        var (kept, contested): ([FieldChange], [FieldChange]) = ([], [])
        for change in write.patch.changes where !rules.isStamp(change.path) {
            let present = theirs[change.path]
            if rules.isUnion(change.path) {
                kept.append(change.union(over: present))
            } else if change.before.meansSame(as: present) || mode == .keepMine {
                kept.append(FieldChange(path: change.path, before: present, after: change.after))
            } else if !change.after.meansSame(as: present) {
                contested.append(change)
            }
        }
        kept.removeAll(where: \.isEmpty)
        let isChangedThere = !rebasing.isMadeOn(theirs)
        let mine = write.patch.applied(to: former ?? theirs)
        let isPlain = write.patch.changes.contains { !rules.isStamp($0.path) && !rules.isUnion($0.path) }
        // A record that has all of the change, as after a try whose answer was lost, is in conflict with nothing.
        let isMet = kept.isEmpty && contested.isEmpty
        let isConflict =
            mode == .merge && !isMet
            && (rules.conflict.isAboutRecords ? isChangedThere && isPlain : !contested.isEmpty)
        guard isConflict else { return finish(&write, of: row, Patch(kept), on: theirs, &effects) }
        let conflict = RecordConflict(
            base: former, mine: mine, theirs: theirs, fields: contested,
            isMineLarger: isLarger(mine, theirs, fields: contested),
            times: rules.stamp.flatMap { place in place.time(of: theirs).map { (write.stamp, $0) } })
        effects.conflicts += 1
        let rule = rules.conflict
        let taken = contested.map { FieldChange(path: $0.path, before: theirs[$0.path], after: $0.after) }
        switch rule.resolve(conflict) {
        case .keepMine: kept += taken
        case .dropFields: break
        case .dropAll: kept = kept.filter { rules.isUnion($0.path) }
        case .replace:
            kept = kept.filter { rules.isUnion($0.path) }
            kept += replacement(of: theirs, by: mine).changes.filter { !rules.isUnion($0.path) }
        case .merged(let record): kept = replacement(of: theirs, by: record).changes
        case .ask:
            kept += taken
            write.status = .conflict
            effects.events.append(.conflict(id: row.id, mine: mine, theirs: theirs, result: nil))
            write.patch = stamped(Patch(kept), stamp: write.stamp, shown: theirs)
            return true
        }
        let isLost = kept.isEmpty
        let result = Patch(kept).applied(to: theirs)
        effects.events.append(.conflict(id: row.id, mine: mine, theirs: theirs, result: result))
        if isLost {
            giveUp(write, of: row, as: .overtaken, shown: mine, &effects)
            return false
        }
        return finish(&write, of: row, Patch(kept), on: theirs, &effects)
    }

    /// Returns whether the user's side is the larger one, of two changes at the same time. Only what the sides can differ in
    /// on every device is compared, so that each device decides alike.
    private func isLarger(_ mine: JSONText, _ theirs: JSONText, fields: [FieldChange]) -> Bool {
        if !rules.conflict.isAboutRecords {
            return RecordConflict.isLarger(
                JSONText(list: fields.map { $0.after ?? .null }),
                JSONText(list: fields.map { theirs[$0.path] ?? .null }))
        }
        func plain(_ record: JSONText) -> JSONText { rules.fixedPaths.reduce(record) { $0.setting($1, to: nil) } }
        return RecordConflict.isLarger(plain(mine), plain(theirs))
    }

    func replacement(of theirs: JSONText, by record: JSONText) -> Patch {
        let ignored = rules.fixedPaths + (rules.stamp.map { [$0.path] } ?? [])
        return Patch(from: theirs, to: record, shown: theirs, ignoring: ignored)
    }

    /// Gives a write what is left of its changes.
    ///
    /// - Returns: whether anything is left.
    func finish(
        _ write: inout QueuedWrite, of row: RecordRow, _ patch: Patch, on theirs: JSONText,
        _ effects: inout SyncEffects
    ) -> Bool {
        if patch.isEmpty {
            overtake(write, of: row, &effects)
            return false
        }
        // The merged record is newer than both that it was made of.
        makeNewer(&write, than: theirs)
        write.patch = stamped(patch, stamp: write.stamp, shown: theirs)
        return true
    }

    /// Makes the time of a write later than that of a record that the user has seen.
    func makeNewer(_ write: inout QueuedWrite, than theirs: JSONText?) {
        guard let place = rules.stamp, let time = place.time(of: theirs), time >= write.stamp else { return }
        write.stamp = place.format.rounded(time + place.format.unit)
    }
}
