/// The decisions of the queue of prefetches, without I/O: which request is next, and who waits for it.
struct PrefetchOrder {
    /// Identifies requests that share a place in the queue.
    struct Identity: Hashable {
        let request: Request
        let codec: Int

        /// - Parameter request: loses the parts that do not matter to a prefetch.
        init(_ request: Request, codec: Int) {
            var request = request
            (request.mode, request.deadline, request.priority, request.purpose) = (.refresh, nil, .low, .prefetch)
            self.request = request
            self.codec = codec
        }
    }

    /// A group of requests that were added together.
    struct Group {
        let number: Int
        let condition: PrefetchQueue.Condition
        let source: PrefetchQueue.Source
        let observer: PrefetchQueue.Observer
    }

    enum Stage: Equatable {
        /// In the queue.
        case waiting
        /// Waits for a network, or for power.
        case held
        /// Waits for its next try.
        case pausing
        case running(worker: Int)
    }

    struct Item {
        let number: Int
        let identity: Identity
        var priority: Request.Priority
        /// The groups that wait for it, the first first.
        var groups: [Group]
        var tries = 0
        var stage = Stage.waiting
    }

    /// Numbers in the order in which they were added.
    private struct Line {
        private var numbers: [Int] = []
        private var taken = 0

        mutating func append(_ number: Int) { numbers.append(number) }

        mutating func popFirst() -> Int? {
            guard taken < numbers.count else { return nil }
            defer {
                taken += 1
                if taken > 1_000, taken * 2 > numbers.count {
                    numbers.removeFirst(taken)
                    taken = 0
                }
            }
            return numbers[taken]
        }
    }

    private(set) var items: [Int: Item] = [:]
    /// The number of items that wait in the queue.
    private(set) var waiting = 0
    private var numbers: [Identity: Int] = [:]
    /// The items of each group.
    private var members: [Int: Set<Int>] = [:]
    /// The items in the queue, by priority. A number may also be in a line that its item has left.
    private var lines: [Request.Priority: Line] = [:]
    private var last = 0

    /// Returns the number of items of a group.
    func count(of group: Int) -> Int { members[group]?.count ?? 0 }

    /// The items that wait for a network, or for power, in their order.
    var held: [Item] { items.values.filter { $0.stage == .held }.sorted { $0.number < $1.number } }

    /// Adds a request, or joins the equal one that is there.
    mutating func add(_ request: Request, _ priority: Request.Priority, for group: Group) {
        let identity = Identity(request, codec: group.source.codec.id)
        if let number = numbers[identity] {
            items[number]?.groups.append(group)
            members[group.number, default: []].insert(number)
            return raise(number, to: priority)
        }
        last += 1
        items[last] = Item(number: last, identity: identity, priority: priority, groups: [group])
        members[group.number, default: []].insert(last)
        waiting += 1
        numbers[identity] = last
        lines[priority, default: Line()].append(last)
    }

    private mutating func raise(_ number: Int, to priority: Request.Priority) {
        guard let item = items[number] else { return }
        let isRaised = item.priority < priority
        if isRaised { items[number]?.priority = priority }
        // A group may allow what the others do not.
        if isRaised && item.stage == .waiting || item.stage == .held { move(number, to: .waiting) }
    }

    /// Takes the next item out of the queue: the most urgent, and of these the first.
    mutating func next() -> Item? {
        for priority in [Request.Priority.high, .normal, .low] {
            while let number = lines[priority]?.popFirst() {
                if let item = items[number], item.stage == .waiting, item.priority == priority { return item }
            }
        }
        return nil
    }

    /// Notes where an item is now. Returns false if it was removed.
    @discardableResult
    mutating func move(_ number: Int, to stage: Stage, tries: Int? = nil) -> Bool {
        guard var item = items[number] else { return false }
        waiting += (stage == .waiting ? 1 : 0) - (item.stage == .waiting ? 1 : 0)
        item.stage = stage
        item.tries = tries ?? item.tries
        items[number] = item
        if stage == .waiting { lines[item.priority, default: Line()].append(number) }
        return true
    }

    /// Lets an item wait for the device after its groups were judged. A group that has joined since may allow it.
    mutating func hold(_ judged: Item) {
        guard let item = items[judged.number] else { return }
        move(item.number, to: item.groups.count > judged.groups.count ? .waiting : .held)
    }

    /// Removes an item. Returns nil if it was removed before.
    mutating func remove(_ number: Int) -> Item? {
        guard let item = items.removeValue(forKey: number) else { return nil }
        numbers[item.identity] = nil
        for group in item.groups { leave(group.number, number) }
        if item.stage == .waiting { waiting -= 1 }
        return item
    }

    /// Removes groups from the items whose requests `isSelected` selects, and the items for which no other group waits.
    ///
    /// - Returns: the requests of the groups, and the items that were removed.
    mutating func removeGroups(
        _ groups: Set<Int>, where isSelected: (Request) -> Bool
    ) -> (requests: [(Request, Group)], items: [Item]) {
        var (requests, removed): ([(Request, Group)], [Item]) = ([], [])
        for number in Set(groups.flatMap { members[$0] ?? [] }).sorted() {
            guard var item = items[number], isSelected(item.identity.request) else { continue }
            let left = item.groups.filter { groups.contains($0.number) }
            requests += left.map { (item.identity.request, $0) }
            for group in left { leave(group.number, number) }
            item.groups.removeAll { groups.contains($0.number) }
            items[number] = item
            if item.groups.isEmpty, let item = remove(number) { removed.append(item) }
        }
        return (requests, removed)
    }

    /// Removes the groups that `isSelected` selects from an item, and the item if no other group waits for it.
    ///
    /// - Returns: the requests of the groups.
    mutating func removeGroups(of number: Int, where isSelected: (Group) -> Bool) -> [(Request, Group)] {
        guard let item = items[number] else { return [] }
        let selected = Set(item.groups.filter(isSelected).map(\.number))
        if selected.isEmpty { return [] }
        items[number]?.groups.removeAll { selected.contains($0.number) }
        for group in selected { leave(group, number) }
        if items[number]?.groups.isEmpty == true { _ = remove(number) }
        return item.groups.filter { selected.contains($0.number) }.map { (item.identity.request, $0) }
    }

    private mutating func leave(_ group: Int, _ number: Int) {
        guard members[group]?.remove(number) != nil, members[group]?.isEmpty == true else { return }
        members[group] = nil
    }

    /// Removes the items that `isSelected` selects, and returns them.
    mutating func removeAll(where isSelected: (Item) -> Bool) -> [Item] {
        items.values.filter(isSelected).sorted { $0.number < $1.number }.compactMap { remove($0.number) }
    }
}
