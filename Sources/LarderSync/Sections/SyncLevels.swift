import Larder

/// The states of the changes that wait for a service, the worst last.
enum OutboxLevel: String, CaseIterable, Comparable {
    /// No change waits.
    case empty
    /// Changes wait for their turn.
    case pending
    /// A change waits for a person: for its account to sign in, for the app to decide about a conflict, or for the app to
    /// agree to another source.
    case held
    /// The service has not taken a change, although it was tried again beyond the quick tries.
    case stuck
    /// The queue takes no further change of the usual size.
    case full

    static func < (one: OutboxLevel, other: OutboxLevel) -> Bool {
        (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
    }
}

/// The states of what is fetched for the account that is signed in, the worst last.
enum PullLevel: String, CaseIterable {
    /// A pull has shown which records there are, or none is needed.
    case complete
    /// Records may be missing: no pull has ended yet.
    case partial
    /// The service did not know the position any more, and everything is fetched anew.
    case expired
    /// A full pull missed so many records that a second one must agree.
    case suspicious
}

extension Level {
    /// The state of the changes that wait.
    static let outbox = Level(
        "sync_outbox", "State of the changes that wait for the service", values: OutboxLevel.allCases.map(\.rawValue))
    /// The state of what is fetched.
    static let pull = Level(
        "sync_pull", "State of what the service has sent of its records", values: PullLevel.allCases.map(\.rawValue))
}

/// The rules by which the state of a queue is judged.
struct QueueRules: Sendable {
    let rules: SyncRules
    /// The most changes of an account, and the most bytes of them.
    let (most, capacity): (Int, Int)
    /// The account that is signed in; nil if the origin knows none.
    let account: String?
    /// Whether the origin works for an account, and nobody is signed in.
    let lacksAccount: Bool
    /// Returns the size of the queue of a table in a version, if it is known without counting.
    let knownSize: @Sendable (RecordTable, _ version: Int64) -> Int?

    /// Returns whether the changes of a table wait for their account to sign in.
    func isAway(_ table: RecordTable) -> Bool {
        lacksAccount || account != nil && table.scope != nil && table.scope != account
    }

    /// Returns the state of a change that is the first one of its record to wait.
    func level(of write: QueuedWrite) -> OutboxLevel {
        // The first try is none of the quick ones that follow it.
        if write.tries > rules.backoff.retries + 1 { return .stuck }
        return write.status == .conflict || !rules.isSent(write) ? .held : .pending
    }

    /// Returns whether a queue takes no further change of the usual size.
    func isFull(_ count: Int, size: Int) -> Bool {
        count >= most || count > 0 && size + size / count > capacity
    }
}
