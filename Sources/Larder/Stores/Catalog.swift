public import Synchronization

/// What lies where in a store of limited capacity, and what goes when it is full.
///
/// Finding takes no lock while nobody changes the same shard. What changes what is kept happens under the lock of the
/// books, one change at a time: so the capacity is that of all shards together, an item may be as large as that, and the
/// eviction learns of uses in order. An empty catalog takes up little: the rest of its memory is made when it is needed.
///
/// ```swift
/// let names = Catalog<Int, String>(bytes: 1_000_000, eviction: eviction)
/// _ = names.insert("one", as: 1, hash: 1.hashValue, weight: 3)
/// names.find(1, hash: 1.hashValue)
/// ```
///
/// A hash is as good as its secret: it should come from a `Hasher`, as those of ``Key`` do, or be mixed with a seed of
/// the process, so that nobody can choose ids which collide.
///
/// `@unchecked Sendable`: a shard is reached only by who has its lock, or is known to its `Readers`. Who needs both locks
/// takes the books' first.
public final class Catalog<ID: Equatable & Sendable, Item: Sendable>: @unchecked Sendable {
    @usableFromInline let bytes: Int
    @usableFromInline let entries: Int
    @usableFromInline let books: Locked<Books>
    /// There are two to the power of so many shards.
    @usableFromInline let bits: Int
    /// Readers and shards; nil until somebody puts something in or misses something.
    @usableFromInline let memory = Atomic<UnsafeMutableRawPointer?>(nil)
    /// Whether uses are noted. In a store that is large and not half full they are not: nothing will be forgotten for a
    /// long time, and what was used before that is hardly worth a third of what a hit costs.
    @usableFromInline let isNoting = Atomic(true)

    /// An empty catalog. No more than `bytes` and no more than `entries` are kept, but for the moment in which an item is
    /// in already and the one that goes for it is not out yet. The number of shards is a power of two.
    public init(bytes: Int, entries: Int? = nil, eviction: any Eviction, shards count: Int = 8) {
        self.bytes = bytes
        self.entries = entries ?? .max
        books = Locked(Books(eviction: eviction))
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

    /// Whether nothing was ever put in or missed.
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

    /// The item, if there is one that `accept` says will be used. That counts as its use. `accept` is called while nobody can
    /// change the item's shard: it must not wait for anything.
    @inlinable @inline(__always)
    public func find(_ id: ID, hash: Int, if accept: (Item) -> Bool = { _ in true }) -> Item? {
        if isUntouched { return nil }
        let number = number(of: hash)
        let readers = readers
        guard let lane = readers.enter(number) else { return findLocked(id, hash: hash, accept) }
        let shard = shards + number
        let node = shard.pointee.find(id, hash)
        if node < 0 {
            readers.leave(lane)
            return nil
        }
        // Copied once, for whoever asks for it.
        let item = shard.pointee.nodes[node].item
        guard accept(item) else {
            readers.leave(lane)
            return nil
        }
        readers.hit(in: lane)
        let place = UInt32(truncatingIfNeeded: node << bits | number)
        let isFull = isNoting.load(ordering: .relaxed) && readers.note(place, in: lane)
        readers.leave(lane)
        if isFull { learn() }
        return item
    }

    /// The same for when somebody is in the way. That the item was used is counted, but not noted.
    @usableFromInline
    func findLocked(_ id: ID, hash: Int, _ accept: (Item) -> Bool) -> Item? {
        Shard.locked(shards + number(of: hash)) { shard in
            let node = shard.find(id, hash)
            guard node >= 0, accept(shard.nodes[node].item) else { return nil }
            shard.hits += 1
            return shard.nodes[node].item
        }
    }

    /// The item, without counting that anybody looked.
    public func peek(_ id: ID, hash: Int) -> Item? {
        Shard.locked(shard(of: hash)) { shard in
            let node = shard.find(id, hash)
            return node < 0 ? nil : shard.nodes[node].item
        }
    }

    /// Counts that something was looked for and not found.
    public func missed(hash: Int) {
        let shard = shard(of: hash)
        Shard.locked(shard) { $0.misses += 1 }
    }

    /// Puts an item in, in place of an older one, and makes room for it. `mark` is what the eviction knows the id by: its
    /// hash, if nothing else is said.
    @inlinable
    public func insert(
        _ item: Item, as id: ID, hash: Int, mark: Int? = nil, weight: Int
    ) -> Insertion<ID, Item> {
        if weight > bytes || entries < 1 {
            return Insertion(isKept: false, replaced: remove(id, hash: hash))
        }
        let shard = shard(of: hash)
        if let (node, old) = replace(item, as: id, hash, weight, in: shard) {
            note(node, in: shard)
            return Insertion(isKept: true, replaced: old)
        }
        return books.locked { books in
            books.learn(from: readers)
            var insertion = put(item, as: id, hash, mark ?? hash, weight, in: shard, &books)
            while books.isOver(bytes, entries) {
                if let next = books.next() {
                    let gone = changing(shards + next & (1 << bits - 1)) { $0.take(next >> bits) }
                    books.evicted(next, weight: gone.weight)
                    insertion.evict(gone.id, gone.item)
                    if next == insertion.place { insertion.isKept = false }
                } else {
                    // An eviction that gives nothing up must not make the store grow.
                    take(id, hash, &books)
                    insertion.isKept = false
                }
            }
            let isRoomy = books.isRoomy(bytes, entries)
            if isNoting.load(ordering: .relaxed) == isRoomy { isNoting.store(!isRoomy, ordering: .relaxed) }
            return insertion
        }
    }

    /// Puts an item in place of another one of the same weight, which changes nothing in the books; nil if there is none.
    @inlinable
    func replace(
        _ item: Item, as id: ID, _ hash: Int, _ weight: Int, in shard: UnsafeMutablePointer<Shard<ID, Item>>
    ) -> (node: Int, old: Item)? {
        Shard.locked(shard) { content in
            let node = content.find(id, hash)
            guard node >= 0, content.nodes[node].weight == weight else { return nil }
            return (node, closed(shard) { content.exchange(item, weight, at: node).item })
        }
    }

    @inlinable
    func put(
        _ item: Item, as id: ID, _ hash: Int, _ mark: Int, _ weight: Int,
        in shard: UnsafeMutablePointer<Shard<ID, Item>>, _ books: inout Books
    ) -> Insertion<ID, Item> {
        let (node, old) = changing(shard) { shard -> (Int, (item: Item, weight: Int)?) in
            let node = shard.find(id, hash)
            if node < 0 { return (shard.add(item, as: id, hash, weight: weight), nil) }
            return (node, shard.exchange(item, weight, at: node))
        }
        let place = Int(place(of: node, in: shard))
        if let old {
            books.change(place, from: old.weight, to: weight)
        } else {
            books.enter(place, hash: mark, weight: weight)
        }
        return Insertion(isKept: true, replaced: old?.item, place: place)
    }

    /// Takes an item out.
    @inlinable @discardableResult
    public func remove(_ id: ID, hash: Int) -> Item? {
        books.locked { books in
            books.learn(from: readers)
            return take(id, hash, &books)
        }
    }

    @inlinable @discardableResult
    func take(_ id: ID, _ hash: Int, _ books: inout Books) -> Item? {
        let shard = shard(of: hash)
        let gone = changing(shard) { shard -> (node: Int, content: Shard<ID, Item>.Node)? in
            let node = shard.find(id, hash)
            return node < 0 ? nil : (node, shard.take(node))
        }
        guard let gone else { return nil }
        books.leave(Int(place(of: gone.node, in: shard)), weight: gone.content.weight)
        return gone.content.item
    }

    // MARK: Places

    @inlinable @inline(__always)
    func number(of hash: Int) -> Int {
        // The highest bits: the lowest are the shard's own.
        Int(truncatingIfNeeded: UInt(bitPattern: hash) &>> UInt(UInt.bitWidth - bits) & (1 << UInt(bits) - 1))
    }

    @inlinable @inline(__always)
    func shard(of hash: Int) -> UnsafeMutablePointer<Shard<ID, Item>> { shards + number(of: hash) }

    /// The number of a shard's node among those of all.
    @inlinable @inline(__always)
    func place(of node: Int, in shard: UnsafeMutablePointer<Shard<ID, Item>>) -> UInt32 {
        UInt32(truncatingIfNeeded: node << bits | (shard - shards))
    }

    /// Changes a shard while nobody reads in it.
    @inlinable @inline(__always)
    func changing<Result>(
        _ shard: UnsafeMutablePointer<Shard<ID, Item>>, _ change: (inout Shard<ID, Item>) -> Result
    ) -> Result {
        Shard.locked(shard) { content in closed(shard) { change(&content) } }
    }

    /// Keeps readers out of a shard whose lock is held.
    @inlinable @inline(__always)
    func closed<Result>(_ shard: UnsafeMutablePointer<Shard<ID, Item>>, _ body: () -> Result) -> Result {
        readers.close(shard - shards)
        defer { readers.open(shard - shards) }
        return body()
    }

    /// Notes a use, unless somebody is in the way.
    @inlinable @inline(__always)
    func note(_ node: Int, in shard: UnsafeMutablePointer<Shard<ID, Item>>) {
        guard isNoting.load(ordering: .relaxed), let lane = readers.enter(shard - shards) else { return }
        let isFull = readers.note(place(of: node, in: shard), in: lane)
        readers.leave(lane)
        if isFull { learn() }
    }

    @usableFromInline @inline(never)
    func learn() {
        books.tryLock { $0.learn(from: readers) }
    }
}
