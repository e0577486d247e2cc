import Larder
import LarderFoundation
import LarderSystem

/// The changes that are sent to a resource without records. They are kept as records until the origin has answered.
final class SendQueue: Sendable {
    let records: RecordsAttachment
    /// The beginning of the marks of sources for which requests were made.
    static let sourcePrefix = "sends "
    private let answers = SendAnswers()
    private let rules: OutboxRules
    private let context: SectionContext

    /// - Throws: an error if the folder for what users wrote cannot be used.
    init(_ rules: OutboxRules, _ context: SectionContext) throws {
        (self.rules, self.context) = (rules, context)
        var plan = RecordsPlan(SyncRules(idPath: QueuedSend.idPath))
        plan.rules.forgetsAccepted = true
        plan.rules.order =
            rules.order.isEmpty ? .inLine : .inLines(rules.order.map { QueuedSend.path(ofParameter: $0) })
        plan.push = PushPlan(SendPusher(context: context, answers: answers, key: rules.key))
        records = try RecordsAttachment(plan, context)
    }

    /// Keeps a request, and tries to send it.
    ///
    /// - Returns: the origin's answer, or one without a payload if the request waits.
    /// - Throws: ``LoadError``; `CancellationError`.
    func send(_ request: Request, method: String, invalidating selections: [Selection]) async throws -> Loaded<Data> {
        let world = context.world
        if context.lacksAccount {
            throw LoadError(.notSignedIn, "the origin works for an account, and nobody is signed in")
        }
        let id = UUIDv7.make(in: world)
        let answer = answers.begin(id, selections, in: world)
        let table = RecordTable(resource: context.resource, scope: request.key.scope)
        do { try await keep(request, method, selections, id: id, in: table) } catch {
            answers.forget(id)
            throw Self.loadError(error)
        }
        // The first run may have begun before.
        world.spawn { [records, answers] in
            for _ in 0..<2 where answer.outcome == nil {
                guard await records.work?.send(table) == true else { break }
            }
            answers.postpone(id)
        }
        // A run may first fetch what other resources need.
        return try await answer.value(within: request.deadline ?? RecordsAttachment.longestCall).flatMap { $0 }
            ?? Loaded(Data(), from: .store(Plugin.outbox.name), age: nil, isStored: true)
    }

    private func keep(
        _ request: Request, _ method: String, _ selections: [Selection], id: String, in table: RecordTable
    ) async throws {
        let parameters = request.parameters.dictionary
        let send = QueuedSend(
            method: method, parameters: parameters, fields: request.fields, body: request.body,
            tags: selections.compactMap { if case .tag(let tag) = $0 { tag } else { nil } })
        let (records, durability) = (records, rules.durability)
        try await records.writing { database in
            let part = try database.changing(durability) { transaction in
                let part = try RecordPart(
                    of: table, RecordDecisions(transaction, table, records.planner), by: records)
                try part.write(.create(send.record(id: id)), id: id)
                return part
            }
            records.remember(part)
        }
    }

    private static func loadError(_ error: any Error) -> any Error {
        if error is CancellationError || error is LoadError { return error }
        let reason = (error as? RecordError)?.description ?? LoadError.name(of: error)
        return LoadError(.failed, "the change could not be kept: \(reason)", origin: error)
    }
}
