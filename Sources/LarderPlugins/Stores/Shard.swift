public import LarderSystem

/// A part of a ``ShardedTable`` with a lock of its own.
///
/// The lock is no part of the content, because other threads try it while one thread changes the content.
@usableFromInline struct Shard<ID: Equatable & Sendable, Item: Sendable> {
    @usableFromInline typealias Removed = ShardContent<ID, Item>.Removed

    @usableFromInline var lock = Lock()
    /// The content. A thread that uses it holds the lock.
    @usableFromInline var content = ShardContent<ID, Item>()
    /// Padding to two cache lines, so that threads which use different shards do not disturb each other.
    private let gap: (Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0)

    /// Returns the lock of the shard at `place`. The lock is the first field of the shard and does not move.
    @inlinable @inline(__always)
    static func lock(_ place: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<Lock> {
        UnsafeMutableRawPointer(place).assumingMemoryBound(to: Lock.self)
    }

    @inlinable @inline(__always)
    static func locked<Result>(
        _ place: UnsafeMutablePointer<Self>, _ body: (inout ShardContent<ID, Item>) -> Result
    ) -> Result {
        lock(place).lock()
        defer { lock(place).unlock() }
        return body(&content(place).pointee)
    }

    /// Returns the content of the shard at `place`. An access to the whole shard would be one to the lock, too.
    @inlinable @inline(__always)
    static func content(_ place: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<ShardContent<ID, Item>> {
        // The content begins with a pointer, so that it follows the lock at the next multiple of eight bytes.
        (UnsafeMutableRawPointer(place) + 8).assumingMemoryBound(to: ShardContent<ID, Item>.self)
    }
}

/// The items of a ``Shard``: those whose hashes begin with the same bits.
///
/// The items are in nodes, numbered from zero, in one block of memory. A hash table with open addressing finds them by
/// the low half of their hash.
@usableFromInline struct ShardContent<ID: Equatable & Sendable, Item: Sendable> {
    /// An item with its id. It cannot be copied, so that finding an item changes no reference count.
    @usableFromInline struct Node: ~Copyable {
        @usableFromInline var id: ID
        @usableFromInline var item: Item
        @usableFromInline var weight: Int
        @usableFromInline var hashBits: UInt32

        @inlinable
        init(id: ID, item: Item, weight: Int, hashBits: UInt32) {
            (self.id, self.item, self.weight, self.hashBits) = (id, item, weight, hashBits)
        }

        /// Returns the result of `accept` for the item. Called from outside, it would copy the item.
        @inlinable @inline(__always)
        borrowing func isAccepted(by accept: (Item) -> Bool) -> Bool { accept(item) }
    }

    /// An item that was removed.
    @usableFromInline struct Removed {
        @usableFromInline let id: ID
        @usableFromInline let item: Item
        @usableFromInline let weight: Int

        @inlinable
        init(_ node: consuming Node) { (id, item, weight) = (node.id, node.item, node.weight) }
    }

    /// The hash table. The upper half of a word is part of a hash, the lower half is the number of the node plus one.
    /// An empty word is 0.
    @usableFromInline var table: UnsafeMutablePointer<UInt64>
    @usableFromInline var mask = 3
    @usableFromInline var nodes: UnsafeMutablePointer<Node>
    /// For each free node, the number of the next free node.
    @usableFromInline var links: UnsafeMutablePointer<Int32>
    @usableFromInline var room = 0
    @usableFromInline var firstFree: Int32 = -1
    @usableFromInline var count = 0
    @usableFromInline var hits = 0
    @usableFromInline var misses = 0

    init() {
        table = .allocate(capacity: 4)
        table.initialize(repeating: 0, count: 4)
        nodes = .allocate(capacity: 0)
        links = .allocate(capacity: 0)
    }

    /// Frees the memory of an empty shard.
    mutating func giveBack() {
        table.deallocate()
        nodes.deallocate()
        links.deallocate()
        table = .allocate(capacity: 4)
        table.initialize(repeating: 0, count: 4)
        nodes = .allocate(capacity: 0)
        links = .allocate(capacity: 0)
        (mask, room, firstFree) = (3, 0, -1)
    }

    func dispose() {
        for node in taken { (nodes + node).deinitialize(count: 1) }
        table.deallocate()
        nodes.deallocate()
        links.deallocate()
    }

    @inlinable @inline(__always)
    static func hashBits(of hash: Int) -> UInt32 { UInt32(truncatingIfNeeded: hash) }

    /// Returns the number of the item's node, or a negative number if there is none.
    @inlinable @inline(__always)
    func find(_ id: ID, _ hash: Int) -> Int {
        let hashBits = Self.hashBits(of: hash)
        var place = Int(hashBits) & mask
        while true {
            let cell = table[place]
            if cell == 0 { return -1 }
            if UInt32(truncatingIfNeeded: cell >> 32) == hashBits {
                let node = Int(UInt32(truncatingIfNeeded: cell)) - 1
                if nodes[node].id == id { return node }
            }
            place = (place + 1) & mask
        }
    }

    /// The numbers of all nodes that contain an item.
    @usableFromInline var taken: [Int] {
        (0...mask).compactMap { table[$0] == 0 ? nil : Int(UInt32(truncatingIfNeeded: table[$0])) - 1 }
    }

    /// Replaces the item in a node.
    @inlinable
    func exchange(_ item: Item, _ weight: Int, at node: Int) -> (item: Item, weight: Int) {
        let old = (nodes[node].item, nodes[node].weight)
        nodes[node].item = item
        nodes[node].weight = weight
        return old
    }

    /// Adds an item. The shard must not contain one with the same id.
    ///
    /// - Returns: the number of the item's node.
    @inlinable
    mutating func add(_ item: Item, as id: ID, _ hash: Int, weight: Int) -> Int {
        if firstFree < 0 { addRoom() }
        if (count + 1) * 16 > (mask + 1) * 13 { widen() }
        let node = Int(firstFree)
        firstFree = links[node]
        let hashBits = Self.hashBits(of: hash)
        (nodes + node).initialize(to: Node(id: id, item: item, weight: weight, hashBits: hashBits))
        enter(UInt64(hashBits) << 32 | UInt64(node + 1))
        count += 1
        return node
    }

    /// Removes the item in a node.
    @inlinable
    mutating func take(_ node: Int) -> Removed {
        var place = Int(nodes[node].hashBits) & mask
        while Int(UInt32(truncatingIfNeeded: table[place])) != node + 1 { place = (place + 1) & mask }
        close(place)
        links[node] = firstFree
        firstFree = Int32(node)
        count -= 1
        return Removed((nodes + node).move())
    }

    @inlinable
    func enter(_ cell: UInt64) {
        var place = Int(cell >> 32) & mask
        while table[place] != 0 { place = (place + 1) & mask }
        table[place] = cell
    }

    /// Empties a word of the hash table and moves up the words that were displaced past it.
    @inlinable
    func close(_ place: Int) {
        var hole = place
        var next = (place + 1) & mask
        while table[next] != 0 {
            let home = Int(table[next] >> 32) & mask
            if (next - home) & mask >= (next - hole) & mask {
                table[hole] = table[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        table[hole] = 0
    }

    @inlinable
    mutating func widen() {
        let (old, size) = (table, mask + 1)
        table = .allocate(capacity: size * 2)
        table.initialize(repeating: 0, count: size * 2)
        mask = size * 2 - 1
        for place in 0..<size where old[place] != 0 { enter(old[place]) }
        old.deallocate()
    }

    @inlinable
    mutating func addRoom() {
        let wider = room == 0 ? 4 : room * 2
        let moved = UnsafeMutablePointer<Node>.allocate(capacity: wider)
        let relinked = UnsafeMutablePointer<Int32>.allocate(capacity: wider)
        // All nodes are taken: otherwise the shard would not grow.
        moved.moveInitialize(from: nodes, count: room)
        for node in 0..<wider { relinked[node] = node < wider - 1 ? Int32(node + 1) : -1 }
        firstFree = Int32(room)
        nodes.deallocate()
        links.deallocate()
        (nodes, links, room) = (moved, relinked, wider)
    }
}
