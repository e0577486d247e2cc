public import LarderSystem

/// A change that waits for the service.
public struct WaitingChange<Value: Sendable>: Sendable {
    /// The number of the change on this device. Later changes have larger ones.
    public let number: Int64
    /// The id of the record.
    public let id: String
    /// The kind of the change.
    public let kind: PushedChange.Kind
    /// The record as the user sees it with the change and those before it; nil if the change deletes it, if only the change is
    /// known, or if the record does not decode.
    public let value: Value?
    /// The time at which it was made, by the device's clock.
    public let madeAt: Timestamp
    /// The number of times it was sent. It may have reached the service if this is not 0.
    public let tries: Int
    /// The status of the answer to the last try, which did not end the wait; nil if there was none, or if it asked for a sign-in.
    /// A good status says that the answer could not be understood, such as a page of a hotel's network.
    public let lastStatus: Int?
    /// The reason for which it waits.
    public let waitsFor: WaitReason
    /// The change as the pusher gets it when it is sent now.
    public let pushed: PushedChange
    private let records: Records<Value>

    fileprivate init(
        _ waiting: WaitingWrite, _ prospect: SendingProspect, of records: Records<Value>, by rules: SyncRules
    ) {
        let write = waiting.write
        (number, id, tries, lastStatus) = (write.number, waiting.id, write.tries, write.lastStatus)
        pushed = PushedChange(
            write, of: waiting.idText, version: waiting.version, shown: waiting.shown, by: rules)
        kind = pushed.kind
        value = waiting.shown.flatMap { try? records.coding.decode($0) }
        madeAt = Timestamp(milliseconds: write.made)
        waitsFor = WaitReason(waiting, prospect)
        self.records = records
    }

    /// Drops the change: it is never sent, and counted as discarded. With a new record, its later changes are dropped, too.
    ///
    /// If it may have reached the service, the next pull brings what the service made of it.
    ///
    /// - Returns: whether it was dropped. A change that is being sent or has been settled meanwhile is not.
    /// - Throws: ``RecordError``.
    @discardableResult
    public func discard() async throws -> Bool {
        try await records.write { [number, id] writer, records in
            try writer.part(records).decide { try $0.discard(number, of: id) }
        }
    }
}

extension Records {
    /// The changes that wait for the service, in the order in which they were made, each with the reason for which it waits.
    ///
    /// ```swift
    /// for change in try await collections.waiting() { list.show("\(change.kind) waits for \(change.waitsFor)") }
    /// ```
    ///
    /// Of a resource without records, these are the requests of `Resource.send` that its section `outbox` keeps.
    public func waiting() async throws -> [WaitingChange<Value>] {
        let (attachment, records) = (try attachment(), try ofPresentAccount)
        let table = try records.table()
        let planner = attachment.planner
        let writes = try await attachment.reading { try $0.waitingWrites(of: table, by: planner) }
        let prospect = attachment.work?.prospect(of: table) ?? .never
        return writes.map { WaitingChange($0, prospect, of: records, by: planner.rules) }
    }

    /// Sends the changes that wait, now. Waits after failed tries end, and those that the service has asked for do not. If a run is
    /// under way already, waits for it first.
    ///
    /// The changes for which nothing was reached still wait then: ``waiting()`` has them.
    ///
    /// - Throws: ``RecordError``: ``RecordError/Code/notSynced`` if the policy has no `push`,
    ///   ``RecordError/Code/unavailable`` without a network; `LoadError` if records must be fetched before, and that failed;
    ///   `CancellationError` if this task was cancelled.
    public func sendWaiting() async throws {
        let (attachment, table) = (try attachment(), try table())
        guard let work = attachment.work, work.sends else {
            throw RecordError(.notSynced, "the policy of '\(name)' has no 'push'")
        }
        try await work.sync(table, as: .wake)
    }
}
