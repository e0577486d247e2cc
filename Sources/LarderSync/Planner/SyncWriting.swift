import Larder

/// The reasons for which a write is refused before it is made.
enum WriteRefusal: Error, Hashable {
    /// There is no record of this id.
    case noRecord
    /// There is a record of this id already.
    case exists
    /// The value is no JSON object.
    case noObject
}

/// A change that a user makes.
enum RecordIntent: Hashable, Sendable {
    /// Makes a record.
    case create(JSONText)
    /// Changes what differs between two texts.
    case update(from: JSONText, to: JSONText)
    /// Makes the record be this, whether it exists or not.
    case put(JSONText)
    /// Makes a record, or sets these members of the one that exists. An object is set member by member.
    case merge(JSONText)
    case delete

    /// The whole record that it names; nil for a change or a deletion.
    var record: JSONText? {
        switch self {
        case .create(let record), .put(let record), .merge(let record): record
        case .update, .delete: nil
        }
    }
}

extension SyncPlanner {
    /// Makes a change of the user.
    ///
    /// - Parameters:
    ///   - intent: the change.
    ///   - row: the record; one without base and writes if there is none.
    ///   - number: the number of the write.
    /// - Returns: whether anything changed.
    /// - Throws: ``WriteRefusal`` if the change cannot be made.
    func write(
        _ intent: RecordIntent, to row: inout RecordRow, number: Int64, at moment: inout SyncMoment,
        _ effects: inout SyncEffects
    ) throws(WriteRefusal) -> Bool {
        let shown = shown(row)
        switch intent {
        case .create(let record):
            if shown != nil { throw .exists }
            if !mayCreate(row) { throw .noRecord }
            try add(.create(content(record)), to: &row, number, &moment, &effects)
        case .update(let old, let new):
            guard let shown else { throw .noRecord }
            return try update(from: old, to: new, shown: shown, &row, number, &moment, &effects)
        case .put(let record):
            if shown == nil, !mayCreate(row) { throw .noRecord }
            guard let shown else { return try write(.create(record), to: &row, number: number, at: &moment, &effects) }
            return try update(from: shown, to: record, shown: shown, &row, number, &moment, &effects)
        case .merge(let record):
            if shown == nil, !mayCreate(row) { throw .noRecord }
            guard let shown else { return try write(.create(record), to: &row, number: number, at: &moment, &effects) }
            // Objects are merged member by member, as in an update, and what the value does not have stays.
            let differences = Patch(from: shown, to: record, shown: shown, ignoring: []).changes
            let merged = Patch(differences.filter { $0.after != nil }).applied(to: shown)
            return try update(from: shown, to: merged, shown: shown, &row, number, &moment, &effects)
        case .delete:
            guard shown != nil else { throw .noRecord }
            if row.rejected != nil, row.base == nil {
                // The service has never had it.
                row.rejected = nil
                return true
            }
            add(.delete, to: &row, number, &moment, &effects)
        }
        return true
    }

    /// Returns whether a record can be made under an id. If the service names records, this is a temporary one.
    private func mayCreate(_ row: RecordRow) -> Bool { rules.ids == .client || TemporaryID.isOne(row.id) }

    /// The change of one write, before it is known whether it merges with another.
    private enum Change {
        case create(JSONText)
        case update(Patch)
        case delete
    }

    private func content(_ record: JSONText) throws(WriteRefusal) -> JSONText {
        guard record.kind == .object else { throw .noObject }
        var content = record
        if rules.ids == .server { content = content.setting(rules.idPath, to: nil) }
        if let version = rules.versionPath { content = content.setting(version, to: nil) }
        return content
    }

    private func update(
        from old: JSONText, to new: JSONText, shown: JSONText, _ row: inout RecordRow, _ number: Int64,
        _ moment: inout SyncMoment, _ effects: inout SyncEffects
    ) throws(WriteRefusal) -> Bool {
        guard new.kind == .object else { throw .noObject }
        let ignored = rules.fixedPaths + (rules.stamp.map { [$0.path] } ?? [])
        var patch = Patch(from: old, to: new, shown: shown, ignoring: ignored)
        if patch.isEmpty { return false }
        if row.rejected != nil {
            // The change and what was rejected go on together.
            let wanted = patch.applied(to: shown)
            guard let base = row.base else {
                add(.create(try content(wanted)), to: &row, number, &moment, &effects)
                return true
            }
            patch = Patch(from: base, to: wanted, shown: base, ignoring: ignored)
            if patch.isEmpty {
                row.rejected = nil
                return true
            }
        }
        add(.update(patch), to: &row, number, &moment, &effects)
        return true
    }

    /// Stamps a change and puts it into the queue of the record.
    ///
    /// A new record that contains its own temporary id is made without it, and changed when it has a name: that is a second
    /// write.
    private func add(
        _ change: Change, to row: inout RecordRow, _ number: Int64, _ moment: inout SyncMoment,
        _ effects: inout SyncEffects
    ) {
        if case .create(let content) = change, TemporaryID.isOne(row.id) {
            let own = content.members.filter { member in
                TemporaryID.all(in: JSONText(object: [member])).contains(row.id)
            }
            if !own.isEmpty {
                let plain = own.reduce(content) { $0.setting([$1.name], to: nil) }
                add(.create(plain), to: &row, number, &moment, &effects)
                let patch = Patch(own.map { FieldChange(path: [$0.name], before: nil, after: $0.value) })
                add(.update(patch), to: &row, moment.next(), &moment, &effects)
                return
            }
        }
        effects.books.made += 1
        let (stamp, shown) = (stamp(for: row, moment), shown(row))
        row.rejected = nil
        var write = QueuedWrite(
            number: number, kind: .delete, patch: Patch(), key: "", made: moment.now, stamp: stamp,
            source: rules.source)
        switch change {
        case .create(let content):
            let stamped = rules.stamp.map { content.setting($0.path, to: $0.format.text(stamp)) } ?? content
            write.kind = .create
            write.patch = Patch([FieldChange(path: [], before: nil, after: stamped)])
        case .update(let patch):
            write.kind = .update
            write.patch = stamped(patch, stamp: stamp, shown: shown)
        case .delete: break
        }
        if rules.merges, write.kind == .delete { dropChangesOfNewRecord(&row, &effects) }
        if rules.merges, let last = row.writes.last, !last.isFrozen, !bringsReference(write, into: last) {
            merge(write, into: last, of: &row, &moment, &effects)
        } else {
            // After a delete that may have reached the service, the record is made anew.
            write.key = moment.newKey()
            row.writes.append(write)
            effects.books.pending += 1
        }
    }

    /// Returns whether a change would make a create wait for another record. Two records that refer to each other could
    /// never be made then, so the change goes after the create.
    private func bringsReference(_ write: QueuedWrite, into last: QueuedWrite) -> Bool {
        last.kind == .create && !references(of: write).isSubset(of: references(of: last))
    }

    /// Drops the changes of a record that was made and never sent, because it is deleted now.
    private func dropChangesOfNewRecord(_ row: inout RecordRow, _ effects: inout SyncEffects) {
        while row.writes.count > 1, row.writes.suffix(2).allSatisfy({ !$0.isFrozen && $0.kind != .delete }) {
            row.writes.removeLast()
            vanish(&effects)
        }
    }

    /// Returns a patch with the time of the change.
    func stamped(_ patch: Patch, stamp: Int64, shown: JSONText?) -> Patch {
        guard let place = rules.stamp else { return patch }
        return patch.setting(
            FieldChange(path: place.path, before: shown?[place.path], after: place.format.text(stamp)))
    }

    /// Returns the time of a change: by the server's clock, and later than what the user saw.
    private func stamp(for row: RecordRow, _ moment: SyncMoment) -> Int64 {
        guard let place = rules.stamp else { return 0 }
        let seen = max(place.time(of: row.base) ?? .min, row.writes.map(\.stamp).max() ?? .min)
        let now = place.format.rounded(moment.now + moment.offset)
        return seen == .min ? now : max(now, place.format.rounded(seen + place.format.unit))
    }

    /// Puts a write into the last one of the record, which was never sent.
    private func merge(
        _ write: QueuedWrite, into last: QueuedWrite, of row: inout RecordRow, _ moment: inout SyncMoment,
        _ effects: inout SyncEffects
    ) {
        effects.books.merged += 1
        var merged = last
        merged.stamp = write.stamp
        row.writes.removeLast()
        switch (last.kind, write.kind) {
        case (.create, .delete):
            vanish(&effects)
            if row.writes.isEmpty { createIsGone(row, &effects) }
            return
        case (.update, .delete), (.delete, .delete):
            merged.kind = .delete
            merged.patch = Patch()
        case (.delete, .create):
            // Relative to the record that the delete would have removed.
            let present = row.shown(idPath: rules.idPath)
            if let present, let content = write.content {
                let ignored = rules.fixedPaths + (rules.stamp.map { [$0.path] } ?? [])
                let patch = Patch(from: present, to: content, shown: present, ignoring: ignored)
                if patch.isEmpty {
                    vanish(&effects)
                    return
                }
                merged.kind = .update
                merged.patch = stamped(patch, stamp: write.stamp, shown: present)
            } else {
                (merged.kind, merged.patch) = (.create, write.patch)
            }
        case (.update, .create):
            // The changed record is not known here, as after a logout.
            (merged.kind, merged.patch) = (.create, write.patch)
        default:
            merged.patch = last.patch.merged(with: write.patch)
            if last.kind == .update, isOnlyStamp(merged.patch) {
                vanish(&effects)
                return
            }
        }
        row.writes.append(merged)
    }

    private func vanish(_ effects: inout SyncEffects) {
        effects.books.merged += 1
        effects.books.pending -= 1
    }

    /// Returns whether nothing but the time of the change is left.
    func isOnlyStamp(_ patch: Patch) -> Bool { patch.changes.allSatisfy { rules.isStamp($0.path) } }
}
