public import LarderBase
public import LarderCore
public import Synchronization

/// A concurrent hash table of limited capacity. When it is full, an eviction chooses the items to remove.
///
/// Finding an item takes no lock unless another thread is changing the same shard. Insertions and removals hold the
/// lock of the accounting, so they happen one at a time. Therefore the capacity applies to all shards together, a
/// single item may use all of it, and the eviction learns of uses in order. An empty table takes little memory: the
/// rest is allocated when it is needed.
///
/// ```swift
/// let names = ShardedTable<Int, String>(bytes: 1_000_000, eviction: eviction)
/// _ = names.insert("one", as: 1, hash: 1.hashValue, weight: 3)
/// names.find(1, hash: 1.hashValue)
/// ```
///
/// Use hashes that an attacker cannot predict, so that nobody can choose ids that collide. They should come from a
/// `Hasher`, as those of ``Key`` do, or be mixed with a seed of the process.
///
/// `@unchecked Sendable`: a thread accesses a shard only while it holds the shard's lock or is registered in `Readers`.
/// A thread that needs both locks takes that of the accounting first.
@_spi(Bench) public final class ShardedTable<ID: Equatable & Sendable, Item: Sendable>: @unchecked Sendable {
    @usableFromInline let bytes: Int
    @usableFromInline let entries: Int
    @usableFromInline let accounting: Locked<EvictionAccounting>
    /// The binary logarithm of the number of shards.
    @usableFromInline let bits: Int
    /// The memory of readers and shards. Nil until the first insertion or the first miss.
    @usableFromInline let memory = Atomic<UnsafeMutableRawPointer?>(nil)
    /// Whether uses are noted. They are not in a table that is large and less than half full: it will not evict
    /// anything for a long time, and noting a use is a third of the cost of a hit.
    @usableFromInline let isNoting = Atomic(true)

    /// Creates an empty table for at most `bytes` and at most `entries`. During an insertion it may exceed its
    /// capacity, until the evicted item is removed. The number of shards is a power of two.
    public init(bytes: Int, entries: Int? = nil, eviction: any Eviction, shards count: Int = 8) {
        self.bytes = bytes
        self.entries = entries ?? .max
        accounting = Locked(EvictionAccounting(eviction: eviction))
        precondition(count > 0 && count & (count - 1) == 0, "the number of shards is a power of two")
        bits = count.trailingZeroBitCount
    }

    deinit {
        if let memory = memory.load(ordering: .acquiring) { dispose(memory) }
    }

    @usableFromInline @inline(never)
    func makeMemory() -> UnsafeMutableRawPointer {
        let size = Readers.size(1 << bits) + MemoryLayout<Shard<ID, Item>>.stride << bits
        let made = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 128)
        Readers(made).prepare(1 << bits)
        let shards = (made + Readers.size(1 << bits)).assumingMemoryBound(to: Shard<ID, Item>.self)
        for number in 0..<1 << bits {
            (shards + number).initialize(to: Shard())
            Shard.lock(shards + number).prepare()
        }
        let (isFirst, there) = memory.compareExchange(expected: nil, desired: made, ordering: .acquiringAndReleasing)
        guard !isFirst, let there else { return made }
        dispose(made)
        return there
    }

    private func dispose(_ memory: UnsafeMutableRawPointer) {
        let shards = (memory + Readers.size(1 << bits)).assumingMemoryBound(to: Shard<ID, Item>.self)
        for number in 0..<1 << bits {
            shards[number].dispose()
            Shard.lock(shards + number).dispose()
        }
        memory.deallocate()
    }

    /// Whether there has been no insertion and no miss yet.
    @inlinable @inline(__always)
    var isUntouched: Bool { memory.load(ordering: .acquiring) == nil }

    @inlinable @inline(__always)
    var base: UnsafeMutableRawPointer { memory.load(ordering: .acquiring) ?? makeMemory() }

    @inlinable @inline(__always)
    var readers: Readers { Readers(base) }

    @inlinable @inline(__always)
    var shards: UnsafeMutablePointer<Shard<ID, Item>> {
        (base + Readers.size(1 << bits)).assumingMemoryBound(to: Shard<ID, Item>.self)
    }

    /// Returns the item if there is one and `accept` returns true for it, and counts that as a use. The item's shard
    /// cannot change while `accept` runs, so `accept` must not wait for anything.
    @inlinable @inline(__always)
    public func find(_ id: ID, hash: Int, if accept: (Item) -> Bool = { _ in true }) -> Item? {
        if isUntouched { return nil }
        let number = number(of: hash)
        let readers = readers
        guard let stripe = readers.enter(number) else { return findLocked(id, hash: hash, accept) }
        let shard = shards + number
        let node = shard.pointee.find(id, hash)
        if node < 0 {
            readers.leave(stripe)
            return nil
        }
        // This is the only copy of the item that is made.
        let item = shard.pointee.nodes[node].item
        guard accept(item) else {
            readers.leave(stripe)
            return nil
        }
        readers.hit(in: stripe)
        let place = UInt32(truncatingIfNeeded: node << bits | number)
        let isFull = isNoting.load(ordering: .relaxed) && readers.note(place, in: stripe)
        readers.leave(stripe)
        if isFull { reportUses() }
        return item
    }

    /// Finds the item under the shard's lock, when another thread is in the way. The use is counted but not noted for
    /// the eviction.
    @usableFromInline
    func findLocked(_ id: ID, hash: Int, _ accept: (Item) -> Bool) -> Item? {
        Shard.locked(shards + number(of: hash)) { shard in
            let node = shard.find(id, hash)
            guard node >= 0, accept(shard.nodes[node].item) else { return nil }
            shard.hits += 1
            return shard.nodes[node].item
        }
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
        if let (node, old) = replace(item, as: id, hash, weight, in: shard) {
            note(node, in: shard)
            return Insertion(isKept: true, replaced: old)
        }
        return accounting.withLock { accounting in
            accounting.reportUses(from: readers)
            if accounting.hasPins, !hasRoomBesidePins(for: id, hash, weight, accounting) {
                return Insertion(isKept: false, replaced: take(id, hash, &accounting))
            }
            var insertion = put(item, as: id, hash, evictionHash ?? hash, weight, in: shard, &accounting)
            while accounting.isOver(bytes, entries) {
                if let next = accounting.next() {
                    let gone = changing(shards + next & (1 << bits - 1)) { $0.take(next >> bits) }
                    accounting.evicted(next, weight: gone.weight)
                    insertion.evict(gone.id, gone.item)
                    if next == insertion.place { insertion.isKept = false }
                } else {
                    // The eviction names nothing, so the new item is removed: the table must not grow.
                    take(id, hash, &accounting)
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
        _ item: Item, as id: ID, _ hash: Int, _ weight: Int, in shard: UnsafeMutablePointer<Shard<ID, Item>>
    ) -> (node: Int, old: Item)? {
        Shard.locked(shard) { content in
            let node = content.find(id, hash)
            guard node >= 0, content.nodes[node].weight == weight else { return nil }
            return (node, withoutReaders(shard) { content.exchange(item, weight, at: node).item })
        }
    }

    @inlinable
    func put(
        _ item: Item, as id: ID, _ hash: Int, _ evictionHash: Int, _ weight: Int,
        in shard: UnsafeMutablePointer<Shard<ID, Item>>, _ accounting: inout EvictionAccounting
    ) -> Insertion<ID, Item> {
        let (node, old) = changing(shard) { shard -> (Int, (item: Item, weight: Int)?) in
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
            accounting.reportUses(from: readers)
            return take(id, hash, &accounting)
        }
    }

    @inlinable @discardableResult
    func take(_ id: ID, _ hash: Int, _ accounting: inout EvictionAccounting) -> Item? {
        let shard = shard(of: hash)
        let gone = changing(shard) { shard -> (node: Int, content: Shard<ID, Item>.Node)? in
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
        Int(truncatingIfNeeded: UInt(bitPattern: hash) &>> UInt(UInt.bitWidth - bits) & (1 << UInt(bits) - 1))
    }

    @inlinable @inline(__always)
    func shard(of hash: Int) -> UnsafeMutablePointer<Shard<ID, Item>> { shards + number(of: hash) }

    /// Returns the number that identifies a shard's node among the nodes of all shards.
    @inlinable @inline(__always)
    func place(of node: Int, in shard: UnsafeMutablePointer<Shard<ID, Item>>) -> UInt32 {
        UInt32(truncatingIfNeeded: node << bits | (shard - shards))
    }

    /// Changes a shard while no thread reads it.
    @inlinable @inline(__always)
    func changing<Result>(
        _ shard: UnsafeMutablePointer<Shard<ID, Item>>, _ change: (inout Shard<ID, Item>) -> Result
    ) -> Result {
        Shard.locked(shard) { content in withoutReaders(shard) { change(&content) } }
    }

    /// Keeps readers out of a shard whose lock is held.
    @inlinable @inline(__always)
    func withoutReaders<Result>(_ shard: UnsafeMutablePointer<Shard<ID, Item>>, _ body: () -> Result) -> Result {
        readers.close(shard - shards)
        defer { readers.open(shard - shards) }
        return body()
    }

    /// Notes a use, unless another thread is in the way.
    @inlinable @inline(__always)
    func note(_ node: Int, in shard: UnsafeMutablePointer<Shard<ID, Item>>) {
        guard isNoting.load(ordering: .relaxed), let stripe = readers.enter(shard - shards) else { return }
        let isFull = readers.note(place(of: node, in: shard), in: stripe)
        readers.leave(stripe)
        if isFull { reportUses() }
    }

    @usableFromInline @inline(never)
    func reportUses() {
        accounting.tryLock { $0.reportUses(from: readers) }
    }
}
