import Larder
import LarderFoundation
import LarderSystem

/// Sends requests that waited, and tells those who wait for their answers.
struct SendPusher: Pusher {
    let context: SectionContext
    let answers: SendAnswers
    /// The header field for the key of a request; nil if the service knows none.
    let key: String?
    let most = 1
    let parallel = 4

    func push(_ changes: [PushedChange], by call: PushCall) async throws -> [WriteOutcome] {
        var found: [WriteOutcome] = []
        for change in changes { found.append(try await push(change, by: call)) }
        return found
    }

    private func push(_ change: PushedChange, by call: PushCall) async throws -> WriteOutcome {
        // The app has taken back a request that may have been sent.
        if change.kind == .delete { return .accepted(nil) }
        guard let record = change.record, let id = change.id?.name, let send = QueuedSend(record) else {
            return .rejected(status: nil)
        }
        do {
            let answer = try await context.send(
                request(send, change, call), method: send.method,
                invalidating: send.tags.map { .tag($0) } + answers.selections(of: id), onlyTo: call.source)
            // The page of a hotel's network is no answer of the service.
            if answer.metadata?.isPage == true { return .unknown }
            answers.end(id, .success(answer))
            return .accepted(nil)
        } catch let error as LoadError {
            // A failed sign-in and a cut body are no answers of the service to the change.
            guard error.code != .notSignedIn, let status = error.status, status >= 400 else { throw error }
            switch call.statuses.meaning(of: status, for: .create) {
            case .accepted: return .unknown
            case .later: return .later(error.retryAfter?.milliseconds)
            case .signedOut: return .signedOut
            case .gone, .conflict, .rejected:
                answers.end(id, .failure(error))
                return .rejected(status: status)
            }
        }
    }

    private func request(_ send: QueuedSend, _ change: PushedChange, _ call: PushCall) -> Request {
        var fields = send.fields
        if let key, fields[key] == nil, let field = Fields.Field(key, change.key) { fields.add(field) }
        return Request(
            context.resource, Parameters(send.parameters), scope: call.account, deadline: RecordsPush.longestCall,
            fields: fields, body: send.body)
    }
}

extension Metadata {
    /// Whether the payload is a page for people.
    fileprivate var isPage: Bool { contentType?.lowercased().hasPrefix("text/html") == true }
}

/// The answers for which somebody waits.
struct SendAnswers: Sendable {
    typealias Answer = AwaitableWork<Loaded<Data>?>

    private struct Waiting {
        var answer: Answer
        /// The copies that are out of date after the change.
        var selections: [Selection]
    }

    private let waiting = Locked<[String: Waiting]>([:])

    /// Notes that somebody waits.
    func begin(_ id: String, _ selections: [Selection], in world: any World) -> Answer {
        let answer = Answer(in: world)
        waiting.withLock { $0[id] = Waiting(answer: answer, selections: selections) }
        return answer
    }

    /// Returns the copies that are out of date after a change, as far as this process knows.
    func selections(of id: String) -> [Selection] { waiting.withLock { $0[id]?.selections } ?? [] }

    /// Tells the end of a request.
    func end(_ id: String, _ result: Result<Loaded<Data>?, any Error>) {
        waiting.withLock { $0.removeValue(forKey: id) }?.answer.end(result)
    }

    /// Forgets a request that is not kept.
    func forget(_ id: String) { waiting.withLock { $0[id] = nil } }
}
