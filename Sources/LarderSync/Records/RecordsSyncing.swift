extension Records {
    /// Brings the records together with the service now, whatever the policy's intervals are, as for a pull to refresh. If
    /// that is under way already, waits for it.
    ///
    /// - Throws: ``RecordError``: ``RecordError/Code/notSynced`` if the policy has neither `pull` nor
    /// `push`,
    ///   ``RecordError/Code/unavailable`` without a network, ``RecordError/Code/badAnswer`` if the service's answer cannot be
    ///   right; `LoadError` if a call failed. What was fetched before stays, and the next time goes on there.
    public func sync() async throws {
        let (attachment, table) = (try attachment(), try table())
        guard let work = attachment.work else {
            throw RecordError(.notSynced, "the policy of '\(name)' has neither 'pull' nor 'push'")
        }
        try await work.sync(table)
    }
}
