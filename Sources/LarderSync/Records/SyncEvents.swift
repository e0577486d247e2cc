public import Larder

/// Something that happened to a record between the user and the service.
public struct SyncEvent: Sendable, Hashable {
    /// The kinds of events.
    @nonexhaustive public enum Kind: Sendable, Hashable {
        /// The service has made a change of the user.
        case accepted
        /// The service has refused a change, which is kept: see ``Records/rejected()``.
        ///
        /// - Parameter status: the status by which it refused; nil if there was none.
        case rejected(status: Int?)
        /// Somebody else has changed the same, or deleted the record, and their change stays. The user's is kept: see
        /// ``Records/rejected()``.
        case overtaken
        /// A change has waited longer than `retention` of the section `outbox`, and is kept.
        case expired
        /// Both sides changed the record.
        ///
        /// - Parameters:
        ///   - mine: the record as the user had it; nil if the user deleted it.
        ///   - theirs: the record as the service has it; nil if it was deleted there.
        ///   - result: the record as it is shown now; nil if it is gone, or if the app must decide (``Records/conflicts()``).
        case conflict(mine: JSONText?, theirs: JSONText?, result: JSONText?)
        /// The service has named a new record. Its former id still finds it.
        case renamed(former: String)
        /// Changes wait that were made for another source, such as another URL of the policy. They are not sent until the
        /// policy says that both are the same (`formerly`), or the app releases them: ``Records/releaseHeld()``.
        ///
        /// - Parameter count: the number of records with such changes.
        case held(count: Int)
        /// An answer would have deleted more records than `sweepGuard` allows. They stay until a second one agrees.
        case suspicious(missing: Int, of: Int)
    }

    /// The name of the resource.
    public let resource: String
    /// The account; nil if the records belong to nobody.
    public let account: String?
    /// The id of the record; nil if the event is about the whole resource.
    public let id: String?
    /// The kind of the event.
    public let kind: Kind

    init(heldRecords count: Int, of table: RecordTable) {
        (resource, account, id, kind) = (table.resource, table.scope, nil, .held(count: count))
    }

    init(_ event: RecordEvent, in table: RecordTable) {
        (resource, account) = (table.resource, table.scope)
        switch event {
        case .accepted(let id, _): (self.id, kind) = (id, .accepted)
        case .rejected(let id, _, let status): (self.id, kind) = (id, .rejected(status: status))
        case .overtaken(let id, _): (self.id, kind) = (id, .overtaken)
        case .expired(let id, _): (self.id, kind) = (id, .expired)
        case .conflict(let id, let mine, let theirs, let result):
            (self.id, kind) = (id, .conflict(mine: mine, theirs: theirs, result: result))
        case .renamed(let former, let id): (self.id, kind) = (id, .renamed(former: former))
        case .suspicious(let missing, let all): (id, kind) = (nil, .suspicious(missing: missing, of: all))
        }
    }
}

extension Pantry {
    /// A stream of what happens to records between users and services, in this process, from now on. A slow reader misses the
    /// oldest events beyond 1,000. It ends at once if no resource has records.
    ///
    /// ```swift
    /// for await event in pantry.syncEvents {
    ///     if case .rejected = event.kind { banner.show("A change was refused.") }
    /// }
    /// ```
    public var syncEvents: AsyncStream<SyncEvent> {
        recordsAttachments.first?.database.events.stream(most: 1_000) ?? AsyncStream { $0.finish() }
    }
}
