import LarderSystem

/// The requests of a group that wait outside of the queue of prefetches until it has room for them.
protocol PrefetchSupply: AnyObject, Sendable {
    /// Takes the next requests, at most `count`. Returns fewer if there are no more. Is called under the lock of the
    /// queue, so it must not call the queue.
    func next(_ count: Int) -> [Request]

    /// Drops the selected requests, and tells their observer that they were cancelled.
    func cancel(where isSelected: (Request) -> Bool)

    /// Drops all requests, and tells their observer that they were cancelled.
    func cancelAll()
}

/// Requests in the order of a list.
final class ListedPrefetches: PrefetchSupply {
    private let left: Locked<ArraySlice<Request>>
    private let observer: PrefetchQueue.Observer

    init(_ requests: [Request], _ observer: @escaping PrefetchQueue.Observer) {
        left = Locked(requests[...])
        self.observer = observer
    }

    func next(_ count: Int) -> [Request] {
        left.withLock { left in
            defer { left = left.dropFirst(count) }
            return Array(left.prefix(count))
        }
    }

    func cancel(where isSelected: (Request) -> Bool) {
        let cancelled = left.withLock { left in
            let cancelled = left.filter(isSelected)
            if !cancelled.isEmpty { left.removeAll(where: isSelected) }
            return cancelled
        }
        for request in cancelled { observer(request, .cancelled) }
    }

    func cancelAll() { cancel { _ in true } }
}
