import Larder
import LarderFoundation
import LarderSystem

/// The section `outbox` of a resource. Without a section `records`, it keeps the requests that are sent to the resource.
final class OutboxAttachment: SendingAttachment, AgendaWork {
    let rules: OutboxRules
    private let context: SectionContext
    private let item: AgendaItem
    /// The requests, once they are needed.
    private let queue = Locked<SendQueue?>(nil)

    /// Looking whether there are records needs nothing.
    let conditions = AgendaConditions(network: .any)

    /// - Throws: an error if the folder for what users wrote cannot be used.
    init(_ rules: OutboxRules, _ context: SectionContext) throws {
        (self.rules, self.context) = (rules, context)
        item = AgendaItem(in: context)
        _ = try context.sharedDataPlace(RecordsAttachment.place)
        item.begin(self)
    }

    /// The requests that are sent to the resource; nil if the policy has a section `records`.
    var sends: SendQueue? {
        guard let resource = context.ownResource, resource.attachment(RecordsAttachment.self) == nil else { return nil }
        return queue.withLock { queue in
            if queue == nil { queue = try? SendQueue(rules, context) }
            return queue
        }
    }

    func send(_ request: Request, method: String, invalidating selections: [Selection]) async throws -> Loaded<Data>? {
        try await sends?.send(request, method: method, invalidating: selections)
    }

    // MARK: The agenda

    /// Opens the queue when the policy is in effect, because a former process may have left requests.
    func next(isMet: Bool) -> AgendaStep {
        _ = sends
        return .waitForDevice
    }

    func run() async {}

    // MARK: The attachment

    private var present: RecordsAttachment? { queue.withLock { $0 }?.records }

    func cleared(_ selection: Selection, discardingUnsent: Bool) async {
        await present?.cleared(selection, discardingUnsent: discardingUnsent)
    }

    func measure() async { await present?.measure() }

    func close() async {
        item.cancel()
        await present?.close()
    }
}
