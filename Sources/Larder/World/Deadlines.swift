/// Items by the time at which each is due, earliest first. A heap: there may be thousands, and most are taken out long
/// before their time.
package struct Deadlines<Item: Sendable>: Sendable {
    private struct Deadline {
        var time: Duration
        var number: UInt64

        /// The earlier first; of those of one time, the one with the lower number.
        static func < (one: Deadline, other: Deadline) -> Bool {
            one.time == other.time ? one.number < other.number : one.time < other.time
        }
    }

    /// Each is before both of those at twice its place. Those of items that were taken out stay for a while.
    private var heap: [Deadline] = []
    private var items: [UInt64: (time: Duration, item: Item)] = [:]

    /// No items.
    package init() {}

    /// Whether there are no items.
    package var isEmpty: Bool { items.isEmpty }

    /// How many there are.
    package var count: Int { items.count }

    /// The times at which they are due, the earliest first.
    package var times: [Duration] { items.values.map(\.time).sorted() }

    /// The time at which the next one is due; nil when none ever is.
    package mutating func next() -> Duration? {
        while let first = heap.first {
            if items[first.number] != nil { return first.time }
            pop()
        }
        return nil
    }

    /// Adds an item under a number that no other has. One that is due at `.forever` waits to be taken out.
    package mutating func add(_ number: UInt64, at time: Duration, _ item: Item) {
        items[number] = (time, item)
        if time < .forever { push(Deadline(time: time, number: number)) }
    }

    /// Takes out an item; nil if there is none of this number.
    @discardableResult
    package mutating func take(_ number: UInt64) -> Item? {
        guard let taken = items.removeValue(forKey: number) else { return nil }
        if items.isEmpty {
            heap = []
        } else if heap.count > 2 * items.count + 64 {
            let kept = heap.filter { items[$0.number] != nil }
            heap = []
            for deadline in kept { push(deadline) }
        }
        return taken.item
    }

    /// Takes out the item that is due first; nil when none is due by `limit`.
    package mutating func takeNext(by limit: Duration) -> (time: Duration, item: Item)? {
        while let first = heap.first, first.time <= limit {
            pop()
            if let taken = items.removeValue(forKey: first.number) { return taken }
        }
        return nil
    }

    /// Takes out everything, in the order of the numbers.
    package mutating func takeAll() -> [Item] {
        defer {
            heap = []
            items = [:]
        }
        return items.sorted { $0.key < $1.key }.map(\.value.item)
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
