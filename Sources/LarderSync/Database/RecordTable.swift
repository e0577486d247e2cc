import Larder

/// The records of one resource and one account.
struct RecordTable: Hashable, Sendable {
    var resource: String
    /// The account; nil for records that belong to nobody.
    var scope: String?

    /// Compares by bytes, because equivalent texts of Unicode are different accounts.
    static func == (left: RecordTable, right: RecordTable) -> Bool {
        guard left.resource.utf8.elementsEqual(right.resource.utf8) else { return false }
        guard let one = left.scope, let other = right.scope else { return left.scope == nil && right.scope == nil }
        return one.utf8.elementsEqual(other.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for text in [resource, scope ?? ""] {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }
}

/// A record as it is read.
struct StoredRecord: Hashable, Sendable {
    var id: String
    /// The record as the user sees it.
    var shown: JSONText
    var state: RecordState
    /// The time at which the service's state of it was received, in milliseconds since 1970; nil if it never was.
    var receivedAt: Int64?
}

/// The state of a record between the user and the service.
public enum RecordState: Sendable, Hashable {
    /// The service has it as it is shown.
    case synced
    /// A change of the user waits for the service.
    case pending
    /// The user and somebody else changed the same, and the app decides.
    case conflict
    /// The service has refused the last change. The record is shown as the user made it.
    case rejected
}

/// The records that a query selects.
struct RecordSelection: Sendable {
    /// A condition in SQL over ``RecordColumns``, with `?` for each value; nil for all records.
    var condition: String?
    var values: [RecordValue] = []
    /// Terms for `ORDER BY`, such as `json_extract(…) DESC`.
    var order: [String] = []
    var limit: Int?
    /// The names of the fields in the condition and the order, for messages.
    var fields: [String] = []
}

/// A value in a condition.
enum RecordValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case number(Double)
    case text(String)
}
