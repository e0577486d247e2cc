public import Larder
import LarderFoundation
public import LarderSystem

/// The service behind the records of a resource and an account, as the policy reaches it: by its origin, its wrappers and its
/// signer.
///
/// It is for looking at a service, for example to check whether it keeps what a policy expects. What it answers is not merged
/// into the records, and a change that is sent by it is in no queue.
///
/// ```swift
/// let service = try pantry.records("collections").service()
/// let page = try await service.puller?.page(service.question())
/// ```
public struct RecordService: Sendable {
    /// The way to ask for records; nil if the policy has no `pull`.
    public let puller: (any Puller)?
    /// The way to send changes; nil if the policy has no `push`.
    public let pusher: (any Pusher)?
    /// The most records of a page.
    public let limit: Int
    /// The place of the id in a record.
    public let id: JSONPointer
    /// The place of the version in a record; nil if records have none.
    public let version: JSONPointer?
    /// The place of the time of the last change in a record; nil if records have none.
    public let updatedAt: JSONPointer?
    /// Whether the service names new records.
    public let namesRecords: Bool
    private let attachment: RecordsAttachment
    private let table: RecordTable

    fileprivate init(_ attachment: RecordsAttachment, _ table: RecordTable) {
        (self.attachment, self.table) = (attachment, table)
        let (rules, pull) = (attachment.planner.rules, attachment.work?.pull)
        (puller, pusher, limit) = (pull?.puller, attachment.work?.push?.pusher, pull?.limit ?? 0)
        (id, version) = (JSONPointer(steps: rules.idPath), rules.versionPath.map { JSONPointer(steps: $0) })
        (updatedAt, namesRecords) = (attachment.updatedAt, rules.ids == .server)
    }

    /// Returns a question for ``puller``.
    ///
    /// - Parameters:
    ///   - position: the position from which changes are asked for; nil for everything.
    ///   - cursor: the cursor of the page; nil for the first one.
    public func question(position: String? = nil, cursor: String? = nil) -> PullQuestion {
        let rules = attachment.planner.rules
        return attachment.question(
            for: table, position: position, cursor: cursor, limit: limit, source: rules.source, rules)
    }

    var rules: SyncRules { attachment.planner.rules }

    /// The way for changes of ``pusher``.
    public var call: PushCall { attachment.call(for: table, attachment.planner.rules) }

    /// Returns the service's record of an id, which is asked for by the parameter `id`; nil if it has none.
    ///
    /// - Throws: `LoadError`; ``RecordError`` with the code ``RecordError/Code/badAnswer`` if the answer is not that record;
    ///   `CancellationError`.
    public func record(_ id: String) async throws -> JSONText? {
        try await attachment.fetchRecord(id, of: table, attachment.planner.rules)
    }

    /// Returns the time that a value in JSON stands for, as it is read in records; nil if it stands for none.
    public static func time(_ value: JSONText) -> Timestamp? {
        StampFormat(of: value)?.time(value).map { Timestamp(milliseconds: $0) }
    }
}

extension Records {
    /// Returns the service behind the records.
    public func service() throws(RecordError) -> RecordService { RecordService(try attachment(), try table()) }
}

extension RecordsAttachment {
    /// The longest time of a call, if the policy gives none.
    static let longestCall = Duration.seconds(60)

    /// Returns a question for a puller.
    ///
    /// - Parameters:
    ///   - table: the resource and account.
    ///   - position: the position from which changes are asked for.
    ///   - cursor: the cursor of the page.
    ///   - limit: the most records of the page.
    ///   - source: the mark of the only origin that may be asked.
    ///   - rules: the rules of the policy.
    func question(
        for table: RecordTable, position: String?, cursor: String?, limit: Int, source: String, _ rules: SyncRules
    ) -> PullQuestion {
        PullQuestion(
            position: position, cursor: cursor, limit: limit, account: table.scope,
            id: JSONPointer(steps: rules.idPath), updatedAt: updatedAt, now: world.now,
            takes: { [context] in context.ownResource?.originTakes($0) ?? false }
        ) { [context] parameters in
            try await context.fetch(
                Request(table.resource, parameters, scope: table.scope, deadline: Self.longestCall), onlyFrom: source)
        }
    }

    /// Returns the way for changes of a pusher.
    func call(for table: RecordTable, _ rules: SyncRules) -> PushCall {
        let context = context
        return PushCall(
            account: table.scope, statuses: outbox.statuses, idPath: rules.idPath, source: rules.source,
            takesParameter: { context.ownResource?.originTakes($0) ?? false }
        ) { parameters, method, fields, body in
            let request = Request(
                table.resource, parameters, scope: table.scope, deadline: Self.longestCall, fields: fields, body: body)
            do {
                let loaded = try await context.send(request, method: method, onlyTo: rules.source)
                let metadata = loaded.metadata
                return PushAnswer(
                    status: metadata?.status, fields: metadata?.fields ?? [:], body: loaded.value, retryAfter: nil)
            } catch let error as LoadError {
                // A failed sign-in and a cut body are no answers of the service to the change.
                guard error.code != .notSignedIn, let status = error.status, status >= 400 else { throw error }
                return PushAnswer(
                    status: status, fields: error.reply?.fields ?? [:], body: error.reply?.body ?? Data(),
                    retryAfter: error.retryAfter)
            }
        }
    }

    /// Returns the service's record of an id; nil if it has none.
    ///
    /// - Throws: `LoadError`; ``RecordError`` with the code ``RecordError/Code/badAnswer`` if the answer is not that record.
    func fetchRecord(_ id: String, of table: RecordTable, _ rules: SyncRules) async throws -> JSONText? {
        let request = Request(table.resource, ["id": id], scope: table.scope, deadline: Self.longestCall)
        do {
            let entry = try await context.fetch(request, onlyFrom: rules.source)
            guard let answer = try? JSONText(entry.payload.bytes), answer.kind == .object,
                answer[rules.idPath]?.name.map({ Array($0.utf8) }) == Array(id.utf8)
            else { throw RecordError(.badAnswer, "the answer is not the record of the id") }
            return answer
        } catch let error as LoadError where error.code == .answer && [404, 410].contains(error.status) {
            return nil
        }
    }
}
