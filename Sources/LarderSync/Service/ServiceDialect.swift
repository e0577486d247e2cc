public import Larder

/// The language of the service that a policy of records describes. By it, a simulated service understands what the policy sends,
/// and answers as the policy expects.
public struct ServiceDialect: Sendable {
    /// The place of the id in a record.
    public let id: JSONPointer
    /// Whether the service names new records.
    public let namesRecords: Bool
    /// The place of the version in a record; nil if records have none.
    public let version: JSONPointer?
    /// The place of the time of the last change in a record; nil if records have none.
    public let updatedAt: JSONPointer?
    /// The language of pages; nil if the policy fetches none, or its puller does not tell its language.
    public let pull: PullDialect?
    /// The language of changes; nil if the policy sends none, or its pusher does not tell its language.
    public let push: PushDialect?
    /// How often everything is fetched, at least; nil if never.
    public let fullPulls: Duration?
    /// The longest time from a change to its first try, while there is a network.
    public let firstTry: Duration
    let format: StampFormat

    /// Returns a time as records of the service have it.
    ///
    /// - Parameter milliseconds: the time in milliseconds since 1970.
    public func time(_ milliseconds: Int64) -> JSONText { format.text(milliseconds) }
}

/// The language of a service's pages of records: the other side of a ``Puller``.
public struct PullDialect: Sendable {
    /// Reads a question from the parameters of a call.
    public let question: @Sendable (Parameters) -> ServiceQuestion
    /// Writes a page.
    public let page: @Sendable (ServicePage) -> JSONText

    /// Creates a language.
    public init(
        question: @escaping @Sendable (Parameters) -> ServiceQuestion,
        page: @escaping @Sendable (ServicePage) -> JSONText
    ) { (self.question, self.page) = (question, page) }
}

/// A question for records, as a service understands it.
public struct ServiceQuestion: Hashable, Sendable {
    /// The time of the service after which changes are asked for, in milliseconds since 1970; nil for all records.
    public var after: Int64?
    /// The number of rows to leave out, because pages before this one had them.
    public var skipped: Int
    /// The most rows of the page.
    public var limit: Int

    /// Creates a question.
    public init(after: Int64? = nil, skipped: Int = 0, limit: Int = 100_000) {
        (self.after, self.skipped, self.limit) = (after, max(0, skipped), max(1, limit))
    }
}

/// A page of a service.
public struct ServicePage: Sendable {
    /// The records.
    public var records: [JSONText]
    /// The ids of records that were deleted.
    public var deleted: [JSONText]
    /// The time after which changes were asked for; nil if all records were.
    public var asked: Int64?
    /// The time from which the next pull begins, in milliseconds since 1970.
    public var time: Int64
    /// The number of rows up to the end of this page; nil on the last page.
    public var next: Int?

    /// Creates a page.
    public init(
        _ records: [JSONText], deleted: [JSONText] = [], asked: Int64? = nil, time: Int64, next: Int? = nil
    ) {
        (self.records, self.deleted, self.asked, self.time, self.next) = (records, deleted, asked, time, next)
    }
}

/// The language of changes that a service is sent: the other side of a ``Pusher``.
public struct PushDialect: Sendable {
    /// Reads the changes of a call; nil if it is none of this policy.
    public let changes: @Sendable (_ request: Request, _ method: String) -> [ServiceChange]?
    /// Writes the answer to them.
    public let answer: @Sendable ([ServiceResult]) -> ServiceAnswer

    /// Creates a language.
    public init(
        changes: @escaping @Sendable (_ request: Request, _ method: String) -> [ServiceChange]?,
        answer: @escaping @Sendable ([ServiceResult]) -> ServiceAnswer
    ) { (self.changes, self.answer) = (changes, answer) }
}

/// A change, as a service understands it.
public struct ServiceChange: Hashable, Sendable {
    /// The kind of the change.
    public var kind: PushedChange.Kind
    /// The id of the record; nil for a new one that the service names.
    public var id: JSONText?
    /// The key by which the service knows whether it has made the change; nil if it is sent none.
    public var key: String?
    /// The version that the record must have; nil if it may have any.
    public var version: JSONText?
    /// The new values, by their members; `null` removes one.
    public var values: JSONText
    /// Whether it makes the record if there is none, because creates and changes are sent alike.
    public var makesRecord = false

    /// Creates a change.
    public init(
        _ kind: PushedChange.Kind, id: JSONText?, key: String? = nil, version: JSONText? = nil,
        values: JSONText = .object
    ) { (self.kind, self.id, self.key, self.version, self.values) = (kind, id, key, version, values) }
}

/// The result of a change at a service.
public struct ServiceResult: Hashable, Sendable {
    /// The change.
    public var change: ServiceChange
    /// The status, such as 200, 404 or 412.
    public var status: Int
    /// The record as the service has it now; nil if there is none.
    public var record: JSONText?

    /// Creates a result.
    public init(of change: ServiceChange, status: Int, record: JSONText?) {
        (self.change, self.status, self.record) = (change, status, record)
    }
}

/// The answer of a service to a call with changes.
public struct ServiceAnswer: Sendable {
    /// The status of the whole answer.
    public var status: Int
    /// The body; nil if there is none.
    public var body: JSONText?

    /// Creates an answer.
    public init(status: Int, body: JSONText?) { (self.status, self.body) = (status, body) }
}
