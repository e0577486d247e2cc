/// The numbers of the requests that wait because as many as allowed run with the same server.
///
/// libcurl could make them wait, too, but some of its versions count that wait as a part of the time to connect.
struct ServerQueues {
    private struct Queue {
        var limit: Int
        var running = 0
        /// The requests that wait.
        var waiting: Set<UInt64> = []
        /// The requests that wait, in their order, and some that were removed.
        var order: [UInt64] = []
        /// The index of the request that has waited longest.
        var first = 0

        var hasRoom: Bool { running < limit }

        /// Takes out the request that has waited longest, which runs from now on. Returns nil if none may.
        mutating func next() -> UInt64? {
            while hasRoom, first < order.count {
                let number = order[first]
                first += 1
                if first * 2 >= order.count {
                    order.removeFirst(first)
                    first = 0
                }
                guard waiting.remove(number) != nil else { continue }
                running += 1
                return number
            }
            return nil
        }

        mutating func remove(_ number: UInt64) {
            waiting.remove(number)
            guard order.count - first > 2 * waiting.count + 64 else { return }
            order = order[first...].filter(waiting.contains)
            first = 0
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
    mutating func add(_ number: UInt64, to server: String) -> Bool {
        var queue = queues.removeValue(forKey: server) ?? Queue(limit: limit)
        defer { queues[server] = queue }
        guard queue.hasRoom else {
            queue.waiting.insert(number)
            queue.order.append(number)
            return false
        }
        queue.running += 1
        return true
    }

    /// Takes out a request that waits, because it was cancelled.
    mutating func remove(_ number: UInt64, from server: String) { queues[server]?.remove(number) }

    /// Ends a request that ran. Returns the next one, which runs from now on.
    mutating func end(at server: String) -> UInt64? {
        guard var queue = queues.removeValue(forKey: server) else { return nil }
        queue.running -= 1
        let next = queue.next()
        if queue.running > 0 { queues[server] = queue }
        return next
    }

    /// Lets more requests to a server run at once, as long as some do. Returns those that run from now on.
    mutating func raiseLimit(to limit: Int, at server: String) -> [UInt64] {
        guard var queue = queues[server], queue.limit < limit else { return [] }
        queues[server] = nil
        defer { queues[server] = queue }
        queue.limit = limit
        var numbers: [UInt64] = []
        while let next = queue.next() { numbers.append(next) }
        return numbers
    }
}
