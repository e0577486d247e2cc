public import Larder
public import LarderFoundation

/// Sends changes of records to a service.
///
/// ```swift
/// try registry.register(.pusher("cloudkit", "Saves in CloudKit.", most: 400) { changes, _ in
///     try await zone.save(changes.map { ($0.id, $0.record) }).map { .accepted($0.record) }
/// })
/// ```
///
/// A change that deletes its record has none, so the example saves nil for it.
///
/// A pusher keeps nothing, and repeats nothing: a change whose outcome is not known comes again, with the same content and
/// the same key.
public protocol Pusher: Sendable {
    /// The most changes of one call.
    var most: Int { get }
    /// The most calls at once. By default one.
    var parallel: Int { get }

    /// Sends changes, and returns what became of each, in their order. Changes without an outcome count as
    /// ``WriteOutcome/unknown``.
    ///
    /// - Throws: ``PushError/tooLarge`` if the service takes fewer changes at once. After any other error, the outcome of all
    ///   changes is unknown, or ``WriteOutcome/signedOut`` after one with the code `notSignedIn`.
    func push(_ changes: [PushedChange], by call: PushCall) async throws -> [WriteOutcome]

    /// The language of the service to which it sends, by which the service can be simulated; nil, as by default, if it cannot.
    var dialect: PushDialect? { get }
}

extension Pusher {
    /// One.
    public var parallel: Int { 1 }

    /// No language is told.
    public var dialect: PushDialect? { nil }
}

/// The errors of a pusher that mean something to the run.
public enum PushError: Error, Hashable, Sendable {
    /// The service takes fewer changes at once, so the run sends half of them. A single change is given up.
    case tooLarge
}

/// A change of a record, as it is sent.
public struct PushedChange: Sendable {
    /// The kinds of changes.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A new record.
        case create
        /// New values of some fields.
        case update
        /// The end of a record.
        case delete
    }

    /// A field that was changed.
    public struct Field: Sendable {
        /// The place of the field in the record.
        public let place: JSONPointer
        /// The value that the user saw; nil if there was none.
        public let before: JSONText?
        /// The value that the user wrote; nil if it was removed.
        public let after: JSONText?
        /// Whether it is a list whose changes are merged item by item: see ``added`` and ``removed``.
        public let isUnion: Bool
        /// The items that a list gained.
        public let added: [JSONText]
        /// The items that a list lost.
        public let removed: [JSONText]

        /// Creates the change of a field.
        public init(_ place: JSONPointer, before: JSONText?, after: JSONText?, isUnion: Bool = false) {
            self.init(FieldChange(path: place.steps, before: before, after: after), isUnion: isUnion)
        }
    }

    /// The kind of the change.
    public let kind: Kind
    /// The id of the record, as it is written in the record; nil for a new one that the service names.
    public let id: JSONText?
    /// The key by which the service knows whether it has seen this change. Each change has one of its own, and keeps it.
    public let key: String
    /// The record with the change; nil if the change deletes it. A record without an id has none in it.
    public let record: JSONText?
    /// The fields that were changed. A new record has none.
    public internal(set) var fields: [Field]
    /// The version of the record that the change was made on; nil if it is not known.
    public internal(set) var version: JSONText?
    /// The time of the change by the device's clock, in milliseconds since 1970.
    public let madeAt: Int64
    /// The source for which it waits; nil if it can be sent to any.
    var source: String?

    /// Creates a change, such as for a test of a pusher.
    public init(
        _ kind: Kind, id: JSONText?, key: String, record: JSONText?, fields: [Field] = [], version: JSONText? = nil,
        madeAt: Int64 = 0
    ) {
        (self.kind, self.id, self.key, self.record) = (kind, id, key, record)
        (self.fields, self.version, self.madeAt) = (fields, version, madeAt)
    }
}

/// The way to the service.
public struct PushCall: Sendable {
    /// The account whose changes are sent; nil if there is none.
    public let account: String?
    /// The meaning of statuses, as the section `outbox` says it.
    let statuses: PushStatuses
    /// The place of the id in a record.
    let idPath: [String]
    /// The mark of the source that the changes were made for.
    let source: String
    /// Returns whether the origin takes a parameter.
    let takesParameter: @Sendable (String) -> Bool
    let answer: @Sendable (Parameters, _ method: String, Fields, _ body: Data?) async throws -> PushAnswer

    /// Creates a way to a service, such as for a test of a pusher. Statuses have their usual meanings.
    ///
    /// - Parameters:
    ///   - account: the account whose changes are sent.
    ///   - id: the place of the id in a record.
    ///   - send: answers what the pusher sends to the policy's origin.
    public init(
        account: String? = nil, id: JSONPointer,
        send: @escaping @Sendable (Parameters, _ method: String, Fields, _ body: Data?) async throws -> PushAnswer
    ) {
        self.init(
            account: account, statuses: PushStatuses(), idPath: id.steps, source: "", takesParameter: { _ in true },
            answer: send)
    }

    init(
        account: String?, statuses: PushStatuses, idPath: [String], source: String,
        takesParameter: @escaping @Sendable (String) -> Bool,
        answer: @escaping @Sendable (Parameters, _ method: String, Fields, _ body: Data?) async throws -> PushAnswer
    ) {
        (self.account, self.statuses, self.idPath) = (account, statuses, idPath)
        (self.source, self.takesParameter, self.answer) = (source, takesParameter, answer)
    }

    /// Sends a request to the policy's origin in the name of the account, and returns its answer, also one that refuses.
    ///
    /// - Throws: `LoadError` if there was no answer; `CancellationError` if the run was cancelled.
    public func send(
        _ parameters: Parameters, method: String, fields: Fields = [:], body: Data? = nil
    ) async throws -> PushAnswer { try await answer(parameters, method, fields, body) }
}

/// The answer to a change.
public struct PushAnswer: Sendable {
    /// The HTTP-like status; nil if the origin has none.
    public let status: Int?
    /// The fields of the answer that the origin passes on.
    public let fields: Fields
    /// The body. Of an answer that refuses, at most 64 KB.
    public let body: Data
    /// The time for which the service asked for no further calls; nil if it did not ask.
    public let retryAfter: Duration?

    /// Creates an answer.
    public init(status: Int?, fields: Fields = [:], body: Data = Data(), retryAfter: Duration? = nil) {
        (self.status, self.fields, self.body, self.retryAfter) = (status, fields, body, retryAfter)
    }
}
