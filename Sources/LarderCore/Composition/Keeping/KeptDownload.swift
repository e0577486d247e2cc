/// Instances of one account that are fetched and pinned together.
final class KeptDownload: PrefetchSupply {
    /// The number of its group in the queue.
    let number: Int
    let resource: ResourceState
    let scope: String?
    let codec: AnyCodec
    let priority: Request.Priority
    let condition: PrefetchQueue.Condition
    /// Whether it goes on with the list, and no handle waits for it.
    let isResumed: Bool
    let observer: PrefetchQueue.Observer
    private let instances: @Sendable () -> KeptInstances?
    private let pantry: @Sendable () -> Pantry?

    init(
        of resource: ResourceState, scope: String?, codec: AnyCodec = .raw, priority: Request.Priority = .low,
        when condition: PrefetchQueue.Condition, isResumed: Bool, in pantry: Pantry,
        _ observer: @escaping PrefetchQueue.Observer
    ) {
        number = pantry.prefetchQueue.nextGroup()
        (self.resource, self.scope, self.codec, self.priority) = (resource, scope, codec, priority)
        (self.condition, self.isResumed, self.observer) = (condition, isResumed, observer)
        instances = { [weak instances = pantry.keptInstances] in instances }
        self.pantry = { [weak pantry] in pantry }
    }

    /// Fetches and pins what waits, a few hundred instances at a time. It is called again when more waits.
    func begin() {
        guard let pantry = pantry() else { return }
        pantry.prefetchQueue.add(
            self, of: resource, codec: codec, priority: priority, when: condition, as: number, in: pantry
        ) { [instances, self] request, ending in instances()?.queueEnded(request, of: self, ending) }
    }

    func next(_ count: Int) -> [Request] { instances()?.next(count, of: self) ?? [] }

    /// Does nothing: the change of the list that makes it necessary drops the requests.
    func cancel(where isSelected: (Request) -> Bool) {}

    func cancelAll() { instances()?.cancelWaiting(of: self) }
}

/// Requests of a download that wait, as lines of a list, which take little memory.
struct KeptBacklog {
    private var lines: ArraySlice<KeptRequests.Line> = []
    /// The requests that say more than their lines, such as those with credentials.
    private var originals: [KeptRequests.Line: Request] = [:]

    var isEmpty: Bool { lines.isEmpty }

    mutating func append(_ line: KeptRequests.Line, _ request: Request, kept: Request) {
        lines.append(line)
        var plain = request
        (plain.mode, plain.deadline, plain.priority, plain.purpose) = (.normal, nil, .low, .user)
        if plain != kept { originals[line] = request }
    }

    mutating func popFirst() -> Request? {
        while let line = lines.popFirst() { if let request = request(line) { return request } }
        return nil
    }

    private func request(_ line: KeptRequests.Line) -> Request? { originals[line] ?? KeptRequests.request(line) }

    /// Removes the selected lines, and returns their requests.
    mutating func remove(where isSelected: (KeptRequests.Line) -> Bool) -> KeptBacklog {
        var removed = KeptBacklog()
        removed.lines = lines.filter(isSelected)[...]
        if removed.isEmpty { return removed }
        removed.originals = originals
        lines.removeAll(where: isSelected)
        return removed
    }
}
