public import LarderSystem

/// A record as an app sees it.
public struct Record<Value: Sendable>: Sendable, Identifiable {
    /// The id. A record that the service has not named yet has a temporary one, by which it is found for ever.
    public let id: String
    /// The record with the user's own changes.
    public let value: Value
    /// The state of the record between the user and the service.
    public let state: RecordState
    /// The time at which the service's state of the record was received; nil if it never was.
    public let receivedAt: Timestamp?

    /// Whether the service has not named the record yet.
    public var isTemporary: Bool { TemporaryID.isOne(id) }
}

extension Record: Equatable where Value: Equatable {}
extension Record: Hashable where Value: Hashable {}

/// The answer to the question for one record.
public enum RecordLookup<Value: Sendable>: Sendable {
    /// The record is there.
    case found(Record<Value>)
    /// There is none: a complete pull has shown it, or it was deleted.
    case absent
    /// Nobody knows yet. Show it as unknown, and not as a default.
    case unknown

    /// The record; nil if it was not found.
    public var record: Record<Value>? {
        if case .found(let record) = self { record } else { nil }
    }
}

extension RecordLookup: Equatable where Value: Equatable {}

/// The records that a query has found at one moment.
public struct RecordPage<Value: Sendable>: Sendable {
    /// The records, in the order of the query.
    public let records: [Record<Value>]
    /// The number of records that are left out because they do not decode.
    public let undecodable: Int
    /// Whether all records of the service that the policy keeps are here: a pull was complete. If not, there may be more
    /// records that meet the query.
    public let isComplete: Bool
    /// The error because of which the records could not be read now. The page then has the records of the last one.
    public let error: (any Error)?
}

/// A record that the user and somebody else have changed, about which the app decides: see ``Records/resolve(_:with:)``.
public struct ConflictingRecord<Value: Sendable>: Sendable, Identifiable {
    /// The id.
    public let id: String
    /// The record with the user's changes; nil if the user has deleted it.
    public let mine: Value?
    /// The record as the service has it; nil if it is deleted there.
    public let theirs: Value?
}

/// A decision about a conflict.
public enum ConflictDecision<Value: Sendable>: Sendable {
    /// The user's changes go on. If the user has deleted the record, it is deleted.
    case mine
    /// The record stays as the service has it, and the user's changes are dropped.
    case theirs
    /// This record goes on.
    case merged(Value)
}
