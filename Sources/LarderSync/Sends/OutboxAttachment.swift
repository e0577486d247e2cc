import Larder
import LarderFoundation
import LarderSystem

/// The section `outbox` of a resource. Without a section `records`, it keeps the requests that are sent to the resource.
final class OutboxAttachment: SendingAttachment, AgendaWork {
    let rules: OutboxRules
    private let context: SectionContext
    private let item: AgendaItem
    private let state = Locked(State())
    /// An empty place. Who holds one hears at the next start of a clearing that a crash has ended.
    private let clearings: ClearingPlace?

    private struct State {
        /// The requests, once they are needed.
        var queue: SendQueue?
        var isClosed = false
    }

    /// Looking whether there are records needs nothing.
    let conditions = AgendaConditions(network: .any)

    /// - Throws: an error if the folder for what users wrote cannot be used.
    init(_ rules: OutboxRules, _ context: SectionContext) throws {
        (self.rules, self.context) = (rules, context)
        item = AgendaItem(in: context)
        _ = try context.sharedDataPlace(RecordsAttachment.place)
        clearings = try? ClearingPlace.of(context)
        item.begin(self)
    }

    /// The requests that are sent to the resource; nil if the policy has a section `records`, or if they cannot be opened.
    var sends: SendQueue? { try? openSends() }

    /// Returns the requests that are sent to the resource; nil if the policy has a section `records`.
    ///
    /// - Throws: an error if the folder for what users wrote cannot be used.
    private func openSends() throws -> SendQueue? {
        guard let resource = context.ownResource, resource.attachment(RecordsAttachment.self) == nil else { return nil }
        return try state.withLock { state in
            if state.queue == nil, !state.isClosed { state.queue = try SendQueue(rules, context) }
            return state.queue
        }
    }

    func send(_ request: Request, method: String, invalidating selections: [Selection]) async throws -> Loaded<Data>? {
        let sends: SendQueue?
        do { sends = try openSends() } catch {
            throw LoadError(.failed, "the change could not be kept: \(LoadError.name(of: error))", origin: error)
        }
        return try await sends?.send(request, method: method, invalidating: selections)
    }

    // MARK: The agenda

    /// Opens the queue when the policy is in effect, because a former process may have left requests.
    func next(isMet: Bool) -> AgendaStep {
        _ = sends
        return .waitForDevice
    }

    func run() async {}

    // MARK: The attachment

    private var present: RecordsAttachment? { state.withLock { $0.queue }?.records }

    func cleared(_ selection: Selection, discardingUnsent: Bool) async {
        await (sends?.records ?? present)?.cleared(selection, discardingUnsent: discardingUnsent)
    }

    func measure() async { await present?.measure() }

    func close() async {
        item.cancel()
        state.withLock { $0.isClosed = true }
        await present?.close()
    }
}
