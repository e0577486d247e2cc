import Larder

extension SyncPlanner {
    /// Gives up a write, and with a create all later writes of its record.
    func drop(
        _ place: Int, of row: inout RecordRow, as reason: DeadLetter.Reason, status: Int? = nil,
        at moment: inout SyncMoment, _ effects: inout SyncEffects
    ) {
        let write = row.writes[place]
        let shown = shown(row)
        giveUp(write, of: row, as: reason, status: status, shown: shown, &effects)
        row.writes.remove(at: place)
        if write.kind == .create {
            for later in row.writes[place...] {
                giveUp(later, of: row, as: .needsRejected, status: status, shown: shown, &effects)
            }
            row.writes.removeSubrange(place...)
            createIsGone(row, &effects)
        } else {
            rebase(&row, mode: .keepMine, at: &moment, &effects)
        }
        completeDeletion(of: &row, at: &moment, &effects)
        if reason == .rejected, rules.onReject == .keep, row.writes.isEmpty { row.rejected = shown }
    }

    /// Gives up the writes that have waited too long.
    func expire(_ row: inout RecordRow, at moment: inout SyncMoment, _ effects: inout SyncEffects) {
        guard let retention = rules.retention else { return }
        while let place = row.writes.firstIndex(where: {
            $0.isPending && $0.status != .sending && moment.now - $0.made > retention
        }) {
            drop(place, of: &row, as: .expired, at: &moment, &effects)
        }
    }
}
