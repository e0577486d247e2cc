import Larder

/// A change that a user made and the service has not confirmed yet: the intent, not the bytes of a request.
///
/// One key, one content: ``patch`` changes only while the write was never sent, or after the service has definitely
/// refused it; then it gets a new key.
struct QueuedWrite: Hashable, Sendable {
    /// The kinds of changes.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        case create, update, delete
    }

    /// The states of a write.
    enum Status: Hashable, Sendable {
        /// It is sent as soon as its turn comes and ``QueuedWrite/next`` has passed.
        case open
        /// It was claimed, and its outcome is not known yet.
        case sending
        /// The service accepted it without saying what the record is now. It is shown until a pull that began after this
        /// moment has brought the record, or has ended.
        case accepted(at: Int64)
        /// The service refused it because of another change that it did not tell. The record must be looked up.
        case needsRecord
        /// Both sides changed the same, and the app decides: see ``SyncPlanner/resolve(_:by:at:_:)``.
        case conflict
    }

    /// The number of the write. Later writes have larger ones.
    var number: Int64
    var kind: Kind
    /// The changes. A create has a single one, of the whole record. A delete has none.
    var patch: Patch
    /// The key by which the service knows whether it has seen this write.
    var key: String
    /// The time of the write by the device's clock, in milliseconds since 1970.
    var made: Int64
    /// The time of the change as it is compared with others' changes, in milliseconds since 1970; 0 if records have none.
    var stamp: Int64 = 0
    /// The source for which it was made. It is sent to no other, unless the policy says that they are the same.
    var source: String
    var status = Status.open
    /// Whether it may have reached the service with this content and key.
    var wasSent = false
    /// The version of the record that it was made on, as it was first sent: null if there was none. Every try sends this one,
    /// because the content stays the same, even if a pull has brought a newer one. Nil before it is sent.
    var sentVersion: JSONText?
    /// Whether a pull has brought the record since this was sent. The base may have the change then, and later changes of
    /// others, which the answer to another try does not know. If the service refuses the change, what others have changed is not
    /// known.
    var baseMayHaveIt = false
    /// The number of times it was sent.
    var tries = 0
    /// The number of conflicts in a row.
    var rounds = 0
    /// The earliest time of the next try, in milliseconds since 1970.
    var next: Int64 = 0
    /// Whether the service asked for that wait, so that nothing ends it earlier.
    var isAskedToWait = false
    /// Whether it waits because the service asked for a sign-in.
    var isHeld = false
    /// The status of the answer to the last try, which did not settle it; nil if there was none.
    var lastStatus: Int?

    /// Whether its content must stay as it is.
    var isFrozen: Bool {
        switch status {
        case .sending, .accepted: true
        case .open: wasSent
        case .needsRecord, .conflict: false
        }
    }

    /// Whether the service may still have to be told of it.
    var isPending: Bool { if case .accepted = status { false } else { true } }

    /// Makes it one that no service has seen.
    mutating func forgetTries() {
        (wasSent, sentVersion, baseMayHaveIt) = (false, nil, false)
    }

    /// The whole record of a create.
    var content: JSONText? { kind == .create ? patch[[]]?.after : nil }

    /// Returns a record after the write; nil if there is none then.
    func applied(to record: JSONText?) -> JSONText? {
        switch kind {
        case .create: content
        case .update: record.map { patch.applied(to: $0) }
        case .delete: nil
        }
    }
}
