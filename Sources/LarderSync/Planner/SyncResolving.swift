import Larder

extension SyncPlanner {
    /// Makes the app's decision about a conflict.
    ///
    /// - Parameter record: the record that the app chose; nil to leave the record as the service has it.
    /// - Returns: whether there was a conflict to decide.
    func resolve(
        _ row: inout RecordRow, with record: JSONText?, at moment: inout SyncMoment, _ effects: inout SyncEffects
    ) -> Bool {
        guard let place = row.writes.firstIndex(where: { $0.status == .conflict }) else { return false }
        let theirs = row.writes[..<place].reduce(row.base) { $1.applied(to: $0) }
        var write = row.writes[place]
        if let record, theirs == nil, rules.ids == .client || TemporaryID.isOne(row.id) {
            // The service has none, so the app's choice is made anew.
            (write.status, write.rounds, write.next, write.key) = (.open, 0, 0, moment.newKey())
            (write.kind, write.wasSent) = (.create, false)
            write.patch = Patch([FieldChange(path: [], before: nil, after: record)])
            row.writes[place] = write
            return true
        }
        guard let record, let theirs else {
            row.writes.remove(at: place)
            overtake(write, of: row, &effects)
            rebase(&row, mode: .keepMine, at: &moment, &effects)
            return true
        }
        (write.status, write.rounds, write.next, write.key) = (.open, 0, 0, moment.newKey())
        (write.kind, write.wasSent) = (.update, false)
        if finish(&write, of: row, replacement(of: theirs, by: record), on: theirs, &effects) {
            row.writes[place] = write
        } else {
            row.writes.remove(at: place)
        }
        rebase(&row, mode: .keepMine, at: &moment, &effects)
        return true
    }
}
