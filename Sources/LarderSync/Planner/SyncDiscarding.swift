import Larder

extension SyncPlanner {
    /// Takes back a write that was never sent.
    ///
    /// - Returns: whether there is such a write.
    func undo(_ number: Int64, of row: inout RecordRow, at moment: inout SyncMoment, _ effects: inout SyncEffects)
        -> Bool
    {
        guard let place = row.writes.firstIndex(where: { $0.number == number }), !row.writes[place].isFrozen else {
            return false
        }
        discard(place, of: &row, at: &moment, &effects)
        return true
    }

    /// Drops a write, also one that may have reached the service. If it has, the next pull brings the record with it.
    ///
    /// - Returns: whether there is such a write that is not being sent.
    func discard(_ number: Int64, of row: inout RecordRow, at moment: inout SyncMoment, _ effects: inout SyncEffects)
        -> Bool
    {
        guard let place = row.writes.firstIndex(where: { $0.number == number }), row.writes[place].isPending,
            row.writes[place].status != .sending
        else { return false }
        discard(place, of: &row, at: &moment, &effects)
        return true
    }

    /// Discards all writes, because the app asked for it.
    func discardAll(of row: inout RecordRow, at moment: inout SyncMoment, _ effects: inout SyncEffects) {
        let pending = row.writes.filter(\.isPending)
        effects.books.discarded += pending.count
        effects.books.pending -= pending.count
        if pending.contains(where: { $0.kind == .create }) { createIsGone(row, &effects) }
        row.writes = []
        row.rejected = nil
        completeDeletion(of: &row, at: &moment, &effects)
    }

    private func discard(
        _ place: Int, of row: inout RecordRow, at moment: inout SyncMoment, _ effects: inout SyncEffects
    ) {
        let write = row.writes.remove(at: place)
        effects.books.discarded += 1
        effects.books.pending -= 1
        if write.kind == .create {
            // Later changes have nothing left to change.
            let later = row.writes[place...].count
            row.writes.removeSubrange(place...)
            effects.books.discarded += later
            effects.books.pending -= later
            createIsGone(row, &effects)
        } else {
            rebase(&row, mode: .keepMine, at: &moment, &effects)
        }
        completeDeletion(of: &row, at: &moment, &effects)
    }
}
