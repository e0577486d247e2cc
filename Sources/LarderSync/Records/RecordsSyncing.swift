import Larder

extension Records {
    /// Brings the records together with the service now, whatever the policy's intervals are, as for a pull to refresh. If
    /// that is under way already, waits for it.
    ///
    /// Changes that the service has put off or not answered still wait afterwards: ``waiting()`` has them. Without versions, what is
    /// new is fetched before changes are sent, so that nothing is sent if that fails.
    ///
    /// - Throws: ``RecordError``: ``RecordError/Code/notSynced`` if the policy has neither `pull` nor `push`,
    ///   ``RecordError/Code/unavailable`` without a network, ``RecordError/Code/badAnswer`` if the service's answer cannot be
    ///   right; `LoadError` if a call failed; `CancellationError` if this task was cancelled, or the account was cleared. What
    ///   was fetched before stays, and the next time goes on there.
    public func sync() async throws {
        let (attachment, table) = (try attachment(), try table())
        guard let work = attachment.work else {
            throw RecordError(.notSynced, "the policy of '\(name)' has neither 'pull' nor 'push'")
        }
        try await work.sync(table)
    }

    /// Sends the changes that were made for another source to the present one, as an app does when its user agrees.
    ///
    /// Changes belong to the source that the policy named when they were made. If its URL is edited, what was made for a test
    /// server, for example, does not reach the real one by itself.
    ///
    /// - Returns: the number of changes that were held.
    @discardableResult
    public func releaseHeld() async throws -> Int {
        try await write { writer, records in try writer.part(records).decide { try $0.releaseHeld() } }
    }
}

extension RecordDecisions {
    /// Makes the changes of other sources changes of the present one.
    fileprivate func releaseHeld() throws -> Int {
        var count = 0
        for record in try waitingRecords() {
            _ = try decide(record: record) { row, _, _ in
                for place in row.writes.indices where !planner.rules.isSent(row.writes[place]) {
                    row.writes[place].source = planner.rules.source
                    // The present source has seen no try of it, and has versions of its own.
                    row.writes[place].forgetTries()
                    count += 1
                }
            }
        }
        return count
    }
}
