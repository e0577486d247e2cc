/// A queue of items, each due at a time of its own, with the earliest first.
///
/// It is a heap, because there may be thousands of items and most are taken out long before their time.
package struct DeadlineQueue<Item: Sendable>: Sendable {
    private struct Deadline {
        var time: Duration
        var number: UInt64

        /// Orders deadlines by time. The lower number comes first when the times are equal.
        static func < (one: Deadline, other: Deadline) -> Bool {
            one.time == other.time ? one.number < other.number : one.time < other.time
        }
    }

    /// A binary heap: each deadline comes before the two below it. The deadlines of items that were taken out stay for
    /// a while.
    private var heap: [Deadline] = []
    private var items: [UInt64: (time: Duration, item: Item)] = [:]

    /// Makes an empty queue.
    package init() {}

    /// The times at which the items are due, earliest first.
    package var times: [Duration] { items.values.map { $0.time }.sorted() }

    /// Returns the time at which the next item is due, or nil if no item ever is.
    package mutating func next() -> Duration? {
        while let first = heap.first {
            if items[first.number] != nil { return first.time }
            pop()
        }
        return nil
    }

    /// Adds an item under a number that no other item has. An item that is due at `.forever` stays until it is taken
    /// out.
    package mutating func add(_ number: UInt64, at time: Duration, _ item: Item) {
        items[number] = (time, item)
        if time < .forever { push(Deadline(time: time, number: number)) }
    }

    /// Takes out the item with this number. Returns nil if there is none.
    @discardableResult
    package mutating func take(_ number: UInt64) -> Item? {
        guard let taken = items.removeValue(forKey: number) else { return nil }
        if items.isEmpty {
            heap = []
        } else if heap.count > 2 * items.count + 64 {
            let deadlines = heap.filter { items[$0.number] != nil }
            heap = []
            for deadline in deadlines { push(deadline) }
        }
        return taken.item
    }

    /// Takes out the item that is due first. Returns nil if none is due by `limit`.
    package mutating func takeNext(by limit: Duration) -> (time: Duration, item: Item)? {
        while let first = heap.first, first.time <= limit {
            pop()
            if let taken = items.removeValue(forKey: first.number) { return taken }
        }
        return nil
    }

    /// Takes out all items and returns them in the order of their numbers.
    package mutating func takeAll() -> [Item] {
        defer {
            heap = []
            items = [:]
        }
        return items.sorted { $0.key < $1.key }.map { $0.value.item }
    }

    private mutating func push(_ deadline: Deadline) {
        heap.append(deadline)
        var place = heap.count - 1
        while place > 0, heap[place] < heap[(place - 1) / 2] {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func pop() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            if least == place { return }
            heap.swapAt(place, least)
            place = least
        }
    }
}
