public import Larder

/// Asks a service for its records, page by page.
///
/// ```swift
/// try registry.register(.puller("cloudkit", "Asks CloudKit.") { ask in
///     let batch = try await zone.changes(since: ask.cursor ?? ask.position, most: ask.limit)
///     let (next, position) = batch.more ? (batch.token, nil) : (nil, batch.token)
///     return PullPage(batch.records, deleted: batch.deletedIDs, next: next, position: position)
/// })
/// ```
///
/// A puller keeps nothing: the cursor and the position come back with the next question, also after a restart. It does not
/// check what a page holds either. Records that make no sense are set aside, and a page that cannot be right is refused.
public protocol Puller: Sendable {
    /// Returns a page.
    ///
    /// - Throws: ``PullError/positionExpired`` if the service does not know the position or the cursor any more;
    ///   ``PullError/malformed(_:)`` if its answer cannot be understood; the errors of ``PullQuestion/fetch(_:)``.
    func page(_ question: PullQuestion) async throws -> PullPage

    /// Returns the language of the service that it asks, by which the service can be simulated; nil, as by default, if it cannot.
    ///
    /// - Parameter id: the place of the id in a record.
    func dialect(id: JSONPointer) -> PullDialect?
}

extension Puller {
    /// Returns nil.
    public func dialect(id: JSONPointer) -> PullDialect? { nil }
}

/// The question to a puller.
public struct PullQuestion: Sendable {
    /// The position that the last complete pull has reached; nil if everything is asked for.
    public let position: String?
    /// The cursor that the page before gave; nil for the first page.
    public let cursor: String?
    /// The most records that the page should have.
    public let limit: Int
    /// The account whose records are asked for; nil if there is none.
    public let account: String?
    /// The place of the id in a record: the setting `id` of the section.
    public let id: JSONPointer
    /// The place of the time of the last change in a record: the setting `updatedAt` of the section; nil if records have none.
    public let updatedAt: JSONPointer?
    /// The time by the device's clock, which may be wrong.
    public let now: Timestamp
    /// Returns whether the policy's origin takes a parameter of this name.
    public let takes: @Sendable (String) -> Bool
    let answer: @Sendable (Parameters) async throws -> Entry

    /// Creates a question, such as for a test of a puller.
    ///
    /// - Parameters:
    ///   - position: the position that the last complete pull has reached.
    ///   - cursor: the cursor that the page before gave.
    ///   - limit: the most records that the page should have.
    ///   - account: the account whose records are asked for.
    ///   - id: the place of the id in a record.
    ///   - updatedAt: the place of the time of the last change in a record.
    ///   - now: the time by the device's clock.
    ///   - takes: returns whether the policy's origin takes a parameter of this name.
    ///   - fetch: answers what the puller asks the policy's origin for.
    public init(
        position: String? = nil, cursor: String? = nil, limit: Int = 200, account: String? = nil, id: JSONPointer,
        updatedAt: JSONPointer? = nil, now: Timestamp, takes: @escaping @Sendable (String) -> Bool = { _ in true },
        fetch: @escaping @Sendable (Parameters) async throws -> Entry
    ) {
        (self.position, self.cursor, self.limit, self.account) = (position, cursor, limit, account)
        (self.id, self.updatedAt, self.now, self.takes, answer) = (id, updatedAt, now, takes, fetch)
    }

    /// Returns the answer of the policy's origin to a request with these parameters, in the name of the account.
    ///
    /// - Throws: `LoadError`; `CancellationError` if the pull was cancelled.
    public func fetch(_ parameters: Parameters) async throws -> Entry { try await answer(parameters) }
}

/// A page of records.
public struct PullPage: Sendable {
    /// The records: JSON objects, each with its id.
    public var records: [JSONText]
    /// The ids of records that the service has deleted. A record that is on the same page stays.
    public var deleted: [String]
    /// The cursor of the next page; nil on the last one.
    public var next: String?
    /// The position from which the next pull begins, in the service's own words: never a time of the device's clock. The first
    /// page that has one decides, because what changes during the pull must come again.
    public var position: String?
    /// The service's mark of its own history. If it changes, as after a restored backup, everything is fetched anew.
    public var epoch: String?

    /// Creates a page. By default, it is the last one.
    public init(
        _ records: [JSONText], deleted: [String] = [], next: String? = nil, position: String? = nil,
        epoch: String? = nil
    ) {
        (self.records, self.deleted, self.next) = (records, deleted, next)
        (self.position, self.epoch) = (position, epoch)
    }
}

/// The errors of a puller that mean something to the pull. After any other, the pull goes on at the same page later.
public enum PullError: Error, Hashable, Sendable {
    /// The service does not know the position or the cursor any more. Everything is fetched anew; unsent changes stay.
    case positionExpired
    /// The answer cannot be understood. The reason has no key, address or value.
    case malformed(String)
}
