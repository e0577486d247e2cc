public import Larder
import LarderFoundation
public import LarderSync
public import LarderSystem

/// A service of records in memory, which speaks as a policy says. It is as good as the policy lets it be: it knows keys and
/// versions if it is sent any, and tells deletions if its pages have a place for them.
///
/// ```swift
/// let service = SimulatedService(in: world)
/// service.dialect = pantry.serviceDialect(of: "collections")
/// service.trouble = [.answerIsLost]
/// ```
public final class SimulatedService: Loader {
    /// A trouble with one call.
    public enum Trouble: Hashable, Sendable {
        /// The call does not arrive.
        case callIsLost
        /// The call arrives, and its answer is lost.
        case answerIsLost
        /// The service answers with this status, and does nothing.
        case status(Int)
        /// Something on the way answers with a page for people and the status 200, as the network of a hotel does.
        case loginPage
    }

    /// A change that the service has made.
    public struct Made: Hashable, Sendable {
        /// The change, as it was sent; nil if another device has made it.
        public let change: ServiceChange?
        /// The id of the record.
        public let id: String
        /// Whether it has replaced another device's change that its sender had never seen.
        public let isBlind: Bool
        /// The time of the service, in milliseconds since 1970.
        public let time: Int64
    }

    private struct State {
        var dialect: ServiceDialect?
        var service = ServiceRecords()
        var trouble: [Trouble] = []
        var (calls, misunderstood) = (0, 0)
        /// Told before a call and before its answer.
        var reached: @Sendable (Moment) throws -> Void = { _ in }
    }

    /// The moments of a call at which something can happen.
    package enum Moment: Hashable, Sendable { case call, answer }

    private let world: any World
    private let state = Locked(State())

    /// Creates a service without records.
    ///
    /// - Parameter world: the world whose clock it has.
    public init(in world: any World) { self.world = world }

    /// The language that it speaks; nil before it is known. It answers nothing then.
    public var dialect: ServiceDialect? {
        get { state.withLock { $0.dialect } }
        set { state.withLock { $0.dialect = newValue } }
    }

    /// The troubles of the next calls that change something, one after the other.
    public var trouble: [Trouble] {
        get { state.withLock { $0.trouble } }
        set { state.withLock { $0.trouble = newValue } }
    }

    /// The records by their ids.
    public var records: [String: JSONText] { state.withLock { $0.service.records } }

    /// All changes that it has made, in their order.
    public var made: [Made] { state.withLock { $0.service.made } }

    /// The number of calls so far.
    public var calls: Int { state.withLock { $0.calls } }

    /// The number of calls with changes that it could not read. It has refused them.
    public var misunderstood: Int { state.withLock { $0.misunderstood } }

    /// Is told at the moments of each call that changes something; throws to end the call.
    package func onChange(_ body: @escaping @Sendable (Moment) throws -> Void) { state.withLock { $0.reached = body } }

    /// Changes a record, or makes one, as another device does.
    ///
    /// - Parameters:
    ///   - id: the id of the record.
    ///   - values: the new values by their members.
    public func put(_ id: String, _ values: JSONText) {
        state.withLock { state in
            guard let dialect = state.dialect else { return }
            state.service.put(id, values, in: dialect, now: now)
        }
    }

    /// Deletes a record, as another device does.
    public func delete(_ id: String) {
        state.withLock { state in state.service.delete(id, now: now) }
    }

    /// Answers a call of the policy.
    public func load(_ call: Call) async throws -> Loaded<Entry> {
        if world.network.reach == .offline { throw LoadError(.unavailable, "there is no network") }
        guard let method = call.method else { return try lookup(call.request) }
        let trouble = state.withLock { state in
            state.calls += 1
            return state.trouble.isEmpty ? nil : state.trouble.removeFirst()
        }
        let reached = state.withLock { state in
            for change in state.dialect?.push?.changes(call.request, method) ?? [] {
                state.service.note(sendingOf: change)
            }
            return state.reached
        }
        try reached(.call)
        switch trouble {
        case .callIsLost: throw LoadError(.failed, "the connection was lost")
        case .status(let status): throw LoadError.status(status)
        case .loginPage:
            let page = Data("<html>Welcome</html>".utf8)
            return Loaded(Entry(page, Metadata(contentType: "text/html", status: 200)), from: .origin)
        case .answerIsLost, nil: break
        }
        let answer = try state.withLock { state -> ServiceAnswer in
            guard let dialect = state.dialect, let push = dialect.push,
                let changes = push.changes(call.request, method)
            else {
                state.misunderstood += 1
                throw LoadError.status(400)
            }
            let results = changes.map { state.service.make($0, in: dialect, now: now) }
            if trouble != .answerIsLost {
                for result in results { state.service.deliver(result.record, dialect) }
            }
            return push.answer(results)
        }
        try reached(.answer)
        if trouble == .answerIsLost { throw LoadError(.failed, "the connection was lost") }
        let body = answer.body.map { Data($0.bytes) } ?? Data()
        if answer.status >= 400 {
            throw LoadError.status(answer.status, reply: Reply(status: answer.status, body: body))
        }
        return Loaded(Entry(body, Metadata(contentType: "application/json", status: answer.status)), from: .origin)
    }

    /// The time in milliseconds since 1970.
    private var now: Int64 { world.now.nanoseconds / 1_000_000 }

    private func lookup(_ request: Request) throws -> Loaded<Entry> {
        let answer = try state.withLock { state -> JSONText in
            state.calls += 1
            guard let dialect = state.dialect else { throw LoadError.status(503) }
            if let id = request.parameters["id"] {
                guard let record = state.service.records[id] else { throw LoadError.status(404) }
                state.service.deliver(record, dialect)
                return record
            }
            guard let pull = dialect.pull else { throw LoadError.status(404) }
            let page = state.service.page(pull.question(request.parameters), now: now)
            for record in page.records { state.service.deliver(record, dialect) }
            for id in page.deleted { state.service.deliverDeletion(id.name ?? "") }
            return pull.page(page)
        }
        return Loaded(
            Entry(Data(answer.bytes), Metadata(contentType: "application/json", status: 200)), from: .origin)
    }
}
