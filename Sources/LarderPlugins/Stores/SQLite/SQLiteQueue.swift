import LarderSystem
import LarderCore

/// The changes that wait for the writer, in their order.
///
/// Removals go first, past all changes that wait, and take the waiting entries that they select with them. All other
/// changes are made in the order of the calls. Until a change is made, reads find its entry here.
struct SQLiteQueue {
    /// A change of the entries.
    enum Change {
        case write(Entry, Key)
        case renew(Entry, Key)
        case expire(Selection)
        /// Removes the selected entries, and those under the keys, which waited to be replaced by selected ones.
        case remove(Selection, also: [Key])
        case pin(Key)
        case unpin(Key)
        /// Nothing: the change is made when all changes before it are.
        case nothing
    }

    /// A change and the call that waits for it.
    struct Item {
        let number: Int
        var change: Change
        /// Nil if the call did not wait.
        let caller: Suspension<Result<Bool, any Error>>?

        var isRemoval: Bool { if case .remove = change { true } else { false } }

        /// The bytes in memory.
        fileprivate var size: Int { change.size }
    }

    /// The change that waits for a key.
    enum Pending {
        case entry(Entry)
        /// The entry is being removed.
        case removal
    }

    private var items: [Item] = []
    /// The last change of each key that is not made.
    private var pending: [Key: (number: Int, value: Pending)] = [:]
    private var nextNumber = 0
    /// The payloads of the items that wait, in bytes.
    private(set) var size = 0
    /// Whether a thread makes the changes.
    private(set) var isServed = false
    private(set) var isClosed = false

    /// The most changes and bytes that are made together.
    static let largestGroup = (items: 256, bytes: 4_000_000)

    var count: Int { items.count }

    /// Returns what waits for a key.
    func pending(_ key: Key) -> Pending? { pending[key]?.value }

    /// Adds a change.
    ///
    /// - Returns: whether a thread must be sent to make the changes, and the calls whose changes will not be made because
    ///   this one removes their entries.
    mutating func add(
        _ change: Change, caller: Suspension<Result<Bool, any Error>>?
    ) -> (isFirst: Bool, removed: [Suspension<Result<Bool, any Error>>]) {
        var item = Item(number: nextNumber, change: change, caller: caller)
        nextNumber += 1
        var removed: [Suspension<Result<Bool, any Error>>] = []
        switch change {
        case .write(let entry, let key):
            pending[key] = (item.number, .entry(entry))
            items.append(item)
        case .remove(let selection, _):
            let taken = takeWrites(selection)
            removed = taken.compactMap(\.caller)
            item.change = .remove(selection, also: markRemoved(selection, by: item.number) + taken.compactMap(\.key))
            items.insert(item, at: items.firstIndex { !$0.isRemoval } ?? items.endIndex)
        default: items.append(item)
        }
        size += item.size
        defer { isServed = true }
        return (!isServed, removed)
    }

    /// Takes the entries that wait to be written and that a removal selects.
    private mutating func takeWrites(_ selection: Selection) -> [Item] {
        func isSelected(_ item: Item) -> Bool {
            guard case .write(let entry, let key) = item.change else { return false }
            return selection.contains(key, entry)
        }
        let taken = items.filter(isSelected)
        if !taken.isEmpty { items.removeAll(where: isSelected) }
        size -= taken.reduce(0) { $0 + $1.size }
        return taken
    }

    /// Hides the entries that a removal selects until it is made. Returns their keys.
    private mutating func markRemoved(_ selection: Selection, by number: Int) -> [Key] {
        if case .key(let key) = selection {
            pending[key] = (number, .removal)
            return [key]
        }
        var keys: [Key] = []
        for (key, last) in pending {
            guard case .entry(let entry) = last.value, selection.contains(key, entry) else { continue }
            pending[key] = (number, .removal)
            keys.append(key)
        }
        return keys
    }

    /// Takes the changes to make next, removals alone. Returns none if there are none, and no thread serves the queue then.
    mutating func take() -> [Item] {
        var (count, bytes) = (0, 0)
        while count < min(items.count, Self.largestGroup.items), bytes < Self.largestGroup.bytes,
            items[count].isRemoval == items[0].isRemoval
        {
            bytes += items[count].size
            count += 1
        }
        let group = Array(items[..<count])
        items.removeFirst(count)
        isServed = !group.isEmpty
        return group
    }

    /// Returns whether no later change of the same entry waits.
    func isLast(_ item: Item) -> Bool { item.key.map { pending[$0]?.number == item.number } ?? true }

    /// Takes all changes, because no thread can make them.
    mutating func takeAll() -> [Item] {
        defer { (items, isServed) = ([], false) }
        return items
    }

    /// Forgets a change that was made, or that failed.
    ///
    /// - Parameter leavesOlder: whether an older entry may be left that must not be found any more.
    mutating func end(_ item: Item, leavesOlder: Bool = false) {
        size -= item.size
        switch item.change {
        case .write(_, let key): end(key, number: item.number, leavesOlder: leavesOlder)
        case .remove(_, let keys): for key in keys { end(key, number: item.number, leavesOlder: leavesOlder) }
        default: break
        }
    }

    private mutating func end(_ key: Key, number: Int, leavesOlder: Bool) {
        guard pending[key]?.number == number else { return }
        pending[key] = leavesOlder ? (number, .removal) : nil
    }

    /// Refuses all changes from now on. Those that wait are still made.
    mutating func close() { isClosed = true }
}

extension SQLiteQueue.Change {
    /// The bytes of the payload that is to be written.
    var size: Int { if case .write(let entry, _) = self { entry.payload.bytes.count } else { 0 } }
}

extension SQLiteQueue.Item {
    /// The key of an entry that is to be written.
    fileprivate var key: Key? { if case .write(_, let key) = change { key } else { nil } }
}
