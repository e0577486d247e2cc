public import LarderSystem
public import LarderCore
public import Synchronization

/// A concurrent hash table of limited capacity. When it is full, an eviction chooses the items to remove.
///
/// Finding an item takes the lock of its shard only. Insertions and removals hold the lock of the accounting, so they
/// happen one at a time. Therefore the capacity applies to all shards together, and a single item may use all of it. An
/// empty table takes little memory: the rest is allocated when it is needed.
///
/// ```swift
/// let names = ShardedTable<Int, String>(bytes: 1_000_000, eviction: eviction)
/// _ = names.insert("one", as: 1, hash: 1.hashValue, weight: 3)
/// names.find(1, hash: 1.hashValue)
/// ```
///
/// Use hashes that an attacker cannot predict. Then nobody can choose ids that collide. They should come from a
/// `Hasher`, as those of ``Key`` do, or be mixed with a seed of the process.
///
/// `@unchecked Sendable`: a thread accesses a shard only while it holds the shard's lock. A thread that needs both locks
/// takes that of the accounting first.
@_spi(Bench) public final class ShardedTable<ID: Equatable & Sendable, Item: Sendable>: @unchecked Sendable {
    @usableFromInline let bytes: Int
    @usableFromInline let entries: Int
    @usableFromInline let accounting: Locked<EvictionAccounting>
    /// The binary logarithm of the number of shards.
    @usableFromInline let bits: Int
    /// The number of bits of a hash that do not choose the shard.
    @usableFromInline let shift: UInt
    /// The number of the last shard.
    @usableFromInline let lastNumber: UInt
    /// The memory of the shards. Nil until the first insertion or the first miss.
    @usableFromInline let memory = Atomic<UnsafeMutableRawPointer?>(nil)
    /// Whether uses are noted. They are not in a table that is large and less than half full: it will not evict
    /// anything for a long time, and noting a use is a third of the cost of a hit.
    @usableFromInline let isNoting = Atomic(true)

    /// Creates an empty table for at most `bytes` and at most `entries`. During an insertion it may exceed its
    /// capacity, until the evicted item is removed. The number of shards is a power of two.
    public init(bytes: Int, entries: Int? = nil, eviction: any Eviction, shards count: Int = 16) {
        self.bytes = bytes
        self.entries = entries ?? .max
        accounting = Locked(EvictionAccounting(eviction: eviction))
        precondition(count > 0 && count & (count - 1) == 0, "the number of shards is a power of two")
        assert(MemoryLayout<Shard<ID, Item>>.offset(of: \.content) == 8)
        bits = count.trailingZeroBitCount
        shift = UInt(bitPattern: UInt.bitWidth &- bits)
        lastNumber = UInt(count - 1)
    }

    deinit {
        if let memory = memory.load(ordering: .acquiring) { dispose(memory) }
    }

    @usableFromInline @inline(never)
    func makeMemory() -> UnsafeMutableRawPointer {
        let made = UnsafeMutableRawPointer.allocate(
            byteCount: UseNotes.size + MemoryLayout<Shard<ID, Item>>.stride << bits, alignment: 128)
        UseNotes(made).prepare()
        let shards = (made + UseNotes.size).assumingMemoryBound(to: Shard<ID, Item>.self)
        for number in 0..<1 << bits {
            (shards + number).initialize(to: Shard())
        }
        let (isFirst, there) = memory.compareExchange(expected: nil, desired: made, ordering: .acquiringAndReleasing)
        guard !isFirst, let there else { return made }
        dispose(made)
        return there
    }

    private func dispose(_ memory: UnsafeMutableRawPointer) {
        let shards = (memory + UseNotes.size).assumingMemoryBound(to: Shard<ID, Item>.self)
        for number in 0..<1 << bits {
            Shard.content(shards + number).pointee.dispose()
        }
        memory.deallocate()
    }

    /// Whether there has been no insertion and no miss yet.
    @inlinable @inline(__always)
    var isUntouched: Bool { memory.load(ordering: .acquiring) == nil }

    @inlinable @inline(__always)
    var base: UnsafeMutableRawPointer { memory.load(ordering: .acquiring) ?? makeMemory() }

    @inlinable @inline(__always)
    var notes: UseNotes { UseNotes(base) }

    @inlinable @inline(__always)
    var shards: UnsafeMutablePointer<Shard<ID, Item>> {
        (base + UseNotes.size).assumingMemoryBound(to: Shard<ID, Item>.self)
    }

    /// Returns the item if there is one and `accept` returns true for it, and counts that as a use. `accept` is called with
    /// the lock of the item's shard held, and must not use the table.
    @inlinable @inline(__always)
    public func find(_ id: ID, hash: Int, if accept: (Item) -> Bool = { _ in true }) -> Item? {
        var found: Item?
        _ = use(id, hash) {
            Shard.lock($0).lock()
            return true
        } accept: { item in
            guard accept(item) else { return false }
            found = item
            return true
        }
        return found
    }

    /// Passes the item to `accept` if there is one. If `accept` returns true, that counts as a use.
    ///
    /// `accept` is called with the lock of the item's shard held. If the lock is not free within some milliseconds, this
    /// returns false. So an `accept` that uses the table does not wait forever for itself or for another thread's.
    @inlinable @inline(__always)
    func use(_ id: ID, hash: Int, if accept: (Item) -> Bool) -> Bool {
        use(id, hash, locking: { Shard.lock($0).tryLock() || Shard.lock($0).takeSoon() }, accept: accept)
    }

    @inlinable @inline(__always)
    func use(
        _ id: ID, _ hash: Int, locking: (UnsafeMutablePointer<Shard<ID, Item>>) -> Bool, accept: (Item) -> Bool
    ) -> Bool {
        // Read once, because the compiler reads an atomic again each time.
        guard let memory = memory.load(ordering: .acquiring) else { return false }
        let number = number(of: hash)
        let shard = (memory + UseNotes.size).assumingMemoryBound(to: Shard<ID, Item>.self) + number
        guard locking(shard) else { return false }
        let content = Shard.content(shard)
        let node = content.pointee.find(id, hash)
        guard node >= 0, content.pointee.nodes[node].isAccepted(by: accept) else {
            Shard.lock(shard).unlock()
            return false
        }
        content.pointee.hits &+= 1
        Shard.lock(shard).unlock()
        note(UInt32(truncatingIfNeeded: node << bits | number), in: UseNotes(memory))
        return true
    }

    /// Returns the item without counting a use.
    func peek(_ id: ID, hash: Int) -> Item? {
        Shard.locked(shard(of: hash)) { shard in
            let node = shard.find(id, hash)
            return node < 0 ? nil : shard.nodes[node].item
        }
    }

    /// Counts a miss.
    func missed(hash: Int) {
        let shard = shard(of: hash)
        Shard.locked(shard) { $0.misses += 1 }
    }

    /// Inserts or replaces an item and evicts others to make room for it. `evictionHash` is the hash that the eviction
    /// sees; by default it is `hash`.
    @inlinable
    public func insert(
        _ item: Item, as id: ID, hash: Int, evictionHash: Int? = nil, weight: Int
    ) -> Insertion<ID, Item> {
        if weight > bytes || entries < 1 {
            return Insertion(isKept: false, replaced: remove(id, hash: hash))
        }
        let shard = shard(of: hash)
        if let (node, old) = replace(item, as: id, hash: hash, weight: weight, in: shard) {
            note(place(of: node, in: shard), in: notes)
            return Insertion(isKept: true, replaced: old)
        }
        return accounting.withLock { accounting in
            accounting.reportUses(notes)
            if accounting.hasPins, !hasRoomBesidePins(for: id, hash: hash, weight: weight, accounting: accounting) {
                return Insertion(isKept: false, replaced: take(id, hash: hash, accounting: &accounting))
            }
            var insertion = put(
                item, as: id, hash: hash, evictionHash: evictionHash ?? hash, weight: weight, in: shard,
                accounting: &accounting)
            while accounting.isOver(bytes, entries) {
                if let next = accounting.next() {
                    let gone = Shard.locked(shards + next & (1 << bits - 1)) { $0.take(next >> bits) }
                    accounting.evicted(next, weight: gone.weight)
                    insertion.evict(gone.id, gone.item)
                    if next == insertion.place { insertion.isKept = false }
                } else {
                    // The eviction names nothing, so the new item is removed: the table must not grow.
                    take(id, hash: hash, accounting: &accounting)
                    insertion.isKept = false
                }
            }
            let hasAmpleSpace = accounting.hasAmpleSpace(bytes, entries)
            if isNoting.load(ordering: .relaxed) == hasAmpleSpace { isNoting.store(!hasAmpleSpace, ordering: .relaxed) }
            return insertion
        }
    }

    /// Replaces an item by one of the same weight, which does not change the accounting. Returns nil if there is no
    /// such item.
    @inlinable
    func replace(
        _ item: Item, as id: ID, hash: Int, weight: Int, in shard: UnsafeMutablePointer<Shard<ID, Item>>
    ) -> (node: Int, old: Item)? {
        Shard.locked(shard) { content in
            let node = content.find(id, hash)
            guard node >= 0, content.nodes[node].weight == weight else { return nil }
            return (node, content.exchange(item, weight, at: node).item)
        }
    }

    @inlinable
    func put(
        _ item: Item, as id: ID, hash: Int, evictionHash: Int, weight: Int,
        in shard: UnsafeMutablePointer<Shard<ID, Item>>, accounting: inout EvictionAccounting
    ) -> Insertion<ID, Item> {
        let (node, old) = Shard.locked(shard) { shard -> (Int, (item: Item, weight: Int)?) in
            let node = shard.find(id, hash)
            if node < 0 { return (shard.add(item, as: id, hash, weight: weight), nil) }
            return (node, shard.exchange(item, weight, at: node))
        }
        let place = Int(place(of: node, in: shard))
        if let old {
            accounting.change(place, from: old.weight, to: weight)
        } else {
            accounting.add(place, hash: evictionHash, weight: weight)
        }
        return Insertion(isKept: true, replaced: old?.item, place: place)
    }

    /// Removes an item.
    @inlinable @discardableResult
    func remove(_ id: ID, hash: Int) -> Item? {
        accounting.withLock { accounting in
            accounting.reportUses(notes)
            return take(id, hash: hash, accounting: &accounting)
        }
    }

    @inlinable @discardableResult
    func take(_ id: ID, hash: Int, accounting: inout EvictionAccounting) -> Item? {
        let shard = shard(of: hash)
        let gone = Shard.locked(shard) { shard -> (node: Int, content: Shard<ID, Item>.Removed)? in
            let node = shard.find(id, hash)
            return node < 0 ? nil : (node, shard.take(node))
        }
        guard let gone else { return nil }
        accounting.remove(Int(place(of: gone.node, in: shard)), weight: gone.content.weight)
        return gone.content.item
    }

    // MARK: Places

    @inlinable @inline(__always)
    func number(of hash: Int) -> Int {
        // The highest bits choose the shard; the shard uses the lowest bits.
        Int(bitPattern: UInt(bitPattern: hash) &>> shift & lastNumber)
    }

    @inlinable @inline(__always)
    func shard(of hash: Int) -> UnsafeMutablePointer<Shard<ID, Item>> { shards + number(of: hash) }

    /// Returns the number that identifies a shard's node among the nodes of all shards.
    @inlinable @inline(__always)
    func place(of node: Int, in shard: UnsafeMutablePointer<Shard<ID, Item>>) -> UInt32 {
        UInt32(truncatingIfNeeded: node << bits | (shard - shards))
    }

    /// Notes a use for the eviction.
    @inlinable @inline(__always)
    func note(_ place: UInt32, in notes: UseNotes) {
        if isNoting.load(ordering: .relaxed), notes.note(place) { reportUses() }
    }

    @usableFromInline @inline(never)
    func reportUses() {
        accounting.tryLock { $0.reportUses(notes) }
    }
}
