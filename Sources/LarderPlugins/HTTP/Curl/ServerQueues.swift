/// The requests that wait because as many as allowed run with the same server.
///
/// libcurl could make them wait, too, but some of its versions count that wait as a part of the time to connect.
struct ServerQueues<Element> {
    private struct Queue {
        var limit: Int
        var running = 0
        var waiting: [Element] = []
        /// The index of the element that has waited longest.
        var first = 0

        var hasRoom: Bool { running < limit }

        /// Takes out the element that has waited longest, which runs from now on. Returns nil if none may.
        mutating func next() -> Element? {
            guard hasRoom, first < waiting.count else { return nil }
            running += 1
            let element = waiting[first]
            first += 1
            if first * 2 >= waiting.count {
                waiting.removeFirst(first)
                first = 0
            }
            return element
        }
    }

    private let limit: Int
    private var queues: [String: Queue] = [:]

    /// Creates queues that let `limit` requests to each server run at once.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Whether nothing runs and nothing waits.
    var isEmpty: Bool { queues.isEmpty }

    /// Adds a request. Returns whether it runs now; otherwise it waits.
    mutating func add(_ element: Element, to server: String) -> Bool {
        var queue = queues.removeValue(forKey: server) ?? Queue(limit: limit)
        defer { queues[server] = queue }
        guard queue.hasRoom else {
            queue.waiting.append(element)
            return false
        }
        queue.running += 1
        return true
    }

    /// Ends a request that ran. Returns the next one, which runs from now on.
    mutating func end(at server: String) -> Element? {
        guard var queue = queues.removeValue(forKey: server) else { return nil }
        queue.running -= 1
        let next = queue.next()
        if queue.running > 0 { queues[server] = queue }
        return next
    }

    /// Lets more requests to a server run at once, as long as some do. Returns those that run from now on.
    mutating func raiseLimit(to limit: Int, at server: String) -> [Element] {
        guard var queue = queues[server], queue.limit < limit else { return [] }
        queues[server] = nil
        defer { queues[server] = queue }
        queue.limit = limit
        var elements: [Element] = []
        while let next = queue.next() { elements.append(next) }
        return elements
    }
}
