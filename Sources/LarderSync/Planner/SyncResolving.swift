import Larder

extension SyncPlanner {
    /// The app's decisions about a conflict.
    enum Decision: Hashable, Sendable {
        /// The record stays as the service has it, and the user's changes are dropped.
        case theirs
        /// This record goes on.
        case record(JSONText)
        /// The record is deleted.
        case deletion
    }

    /// Makes the app's decision about a conflict. It is about all changes of the record.
    ///
    /// - Returns: whether there was a conflict to decide.
    func resolve(
        _ row: inout RecordRow, by decision: Decision, at moment: inout SyncMoment, _ effects: inout SyncEffects
    ) -> Bool {
        guard let place = row.writes.firstIndex(where: { $0.status == .conflict }) else { return false }
        let theirs = row.writes[..<place].reduce(row.base) { $1.applied(to: $0) }
        var write = row.writes[place]
        // The app has seen the later changes, and decides about them, too. None of them was ever sent.
        let later = row.writes[(place + 1)...]
        row.writes.removeSubrange(place...)
        for dropped in later { overtake(dropped, of: row, &effects) }
        if decision == .theirs || decision == .deletion && theirs == nil {
            overtake(write, of: row, &effects)
            return true
        }
        (write.status, write.rounds, write.next, write.key) = (.open, 0, 0, moment.newKey())
        write.forgetTries()
        if let last = later.last { write.stamp = max(write.stamp, last.stamp) }
        switch (decision, theirs) {
        case (.record(let record), nil):
            // The service has none, so the app's choice is made anew.
            (write.kind, write.patch) = (.create, Patch([FieldChange(path: [], before: nil, after: record)]))
            if rules.ids == .client || TemporaryID.isOne(row.id) {
                row.writes.append(write)
            } else {
                overtake(write, of: row, &effects)
            }
        case (.record(let record), let theirs?):
            write.kind = .update
            if finish(&write, of: row, replacement(of: theirs, by: record), on: theirs, &effects) {
                row.writes.append(write)
            }
        case (.deletion, _), (.theirs, _):
            write.kind = .delete
            write.patch = Patch()
            makeNewer(&write, than: theirs)
            row.writes.append(write)
        }
        return true
    }
}
