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
        // The app has deleted a request that may have been sent.
        if change.kind == .delete { return .accepted(nil) }
        guard let record = change.record, let id = change.id?.name, let send = QueuedSend(record) else {
            return .rejected(status: nil)
        }
        do {
            let answer = try await context.send(
                request(for: send, key: change.key, by: call), method: send.method,
                invalidating: send.tags.map { .tag($0) } + answers.selections(of: id),
                onlyTo: String(call.source.dropFirst(SendQueue.sourcePrefix.count)))
            // The page of a hotel's network is no answer of the service.
            if answer.metadata?.contentType?.lowercased().hasPrefix("text/html") == true, !answer.value.isEmpty {
                return .unknown
            }
            answers.end(id, .success(answer))
            return .accepted(nil)
        } catch let error as LoadError where error.code == .invalidRequest {
            answers.end(id, .failure(error))
            return .rejected(status: nil)
        } catch let error as LoadError {
            // A failed sign-in and a cut body are no answers of the service to the change.
            guard error.code != .notSignedIn, let status = error.status, status >= 400 else { throw error }
            let kind: PushedChange.Kind = send.method == "DELETE" ? .delete : .create
            switch call.statuses.meaning(of: status, for: kind) {
            case .accepted:
                // It is gone, perhaps because of an earlier try.
                answers.end(id, .failure(error))
                return .accepted(nil)
            case .later: return .later(error.retryAfter?.milliseconds, status: status)
            case .signedOut: return .signedOut
            case .gone, .conflict, .rejected:
                answers.end(id, .failure(error))
                return .rejected(status: status)
            }
        }
    }

    private func request(for send: QueuedSend, key value: String, by call: PushCall) -> Request {
        var fields = send.fields
        if let key, fields[key] == nil, let field = Fields.Field(key, value) { fields.add(field) }
        return Request(
            context.resource, Parameters(send.parameters), scope: call.account, deadline: RecordsAttachment.longestCall,
            fields: fields, body: send.body)
    }
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

    /// The most copies that are remembered for requests that are sent later.
    private static let most = 10_000

    /// Notes that somebody waits.
    func begin(_ id: String, _ selections: [Selection], in world: any World) -> Answer {
        let answer = Answer(in: world)
        waiting.withLock { waiting in
            // Requests that were taken back or given up are among them.
            if waiting.count >= Self.most { waiting = waiting.filter { $0.value.answer.outcome == nil } }
            waiting[id] = Waiting(answer: answer, selections: selections)
        }
        return answer
    }

    /// Tells that a request is sent later.
    func postpone(_ id: String) {
        let later = waiting.withLock { waiting -> Answer? in
            let later = waiting[id]
            if later?.selections.isEmpty == true { waiting[id] = nil }
            return later?.answer
        }
        later?.end(.success(nil))
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
