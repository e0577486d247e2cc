/// What lies where in a store of limited capacity, and what goes when it is full.
///
/// Finding takes the lock of one shard, and where something was found is noted without another. What changes what is kept
/// happens under the lock of the books, one change at a time: so the capacity is that of all shards together, an item
/// may be as large as that, and the eviction learns of every use in order.
///
/// `@unchecked Sendable`: a shard is reached only while its lock is held. Who needs both locks takes the books' first.
public final class Catalog<ID: Equatable & Sendable, Item: Sendable>: @unchecked Sendable {
    private let bytes: Int
    private let entries: Int
    private let books: Locked<Books>
    /// There are two to the power of `bits`.
    @usableFromInline let shards: UnsafeMutablePointer<Shard<ID, Item>>
    @usableFromInline let bits: Int
    @usableFromInline let recency = Recency()

    /// An empty catalog. No more than `bytes` and no more than `entries` are kept, but for the moment in which an item is
    /// in already and the one that goes for it is not out yet.
    public init(bytes: Int, entries: Int? = nil, eviction: any Eviction, shards count: Int = 8) {
        self.bytes = bytes
        self.entries = entries ?? .max
        books = Locked(Books(eviction: eviction))
        bits = count.trailingZeroBitCount
        let size = MemoryLayout<Shard<ID, Item>>.stride << bits
        shards = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 128).bindMemory(
            to: Shard<ID, Item>.self, capacity: 1 << bits)
        for number in 0..<1 << bits {
            (shards + number).initialize(to: Shard())
            Shard.lock(shards + number).prepare()
        }
    }

    deinit {
        for number in 0..<1 << bits {
            shards[number].dispose()
            Shard.lock(shards + number).dispose()
        }
        shards.deallocate()
        recency.dispose()
    }

    /// The item, if there is one that `accept`, called with a lock held, says will be used. That counts as its use.
    @inlinable @inline(__always)
    public func find(_ id: ID, hash: Int, if accept: (Item) -> Bool = { _ in true }) -> Item? {
        let shard = shard(of: hash)
        Shard.lock(shard).lock()
        let node = shard.pointee.find(id, hash)
        if node < 0 {
            Shard.lock(shard).unlock()
            return nil
        }
        // Copied once, for whoever asks for it.
        let item = shard.pointee.nodes[node].item
        let isAccepted = accept(item)
        if isAccepted { shard.pointee.hits += 1 }
        Shard.lock(shard).unlock()
        guard isAccepted else { return nil }
        note(place(of: node, in: shard))
        return item
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

    /// Puts an item in, in place of an older one, and makes room for it.
    public func insert(_ item: Item, as id: ID, hash: Int, weight: Int) -> Insertion<ID, Item> {
        if weight > bytes || entries < 1 {
            return Insertion(isKept: false, replaced: remove(id, hash: hash))
        }
        let shard = shard(of: hash)
        // One of the same weight changes nothing in the books.
        if let (node, old) = Shard.locked(shard, { $0.replace(item, as: id, hash, weight: weight) }) {
            note(place(of: node, in: shard))
            return Insertion(isKept: true, replaced: old)
        }
        return books.withLock { books in
            books.learn(from: recency)
            var insertion = put(item, as: id, hash, weight, in: shard, &books)
            while books.bytes > bytes || books.entries > entries {
                if let next = books.next() {
                    let gone = Shard.locked(shards + next & (1 << bits - 1)) { $0.take(next >> bits) }
                    books.evicted(next, weight: gone.weight)
                    insertion.evict(gone.id, gone.item)
                    if next == insertion.place { insertion.isKept = false }
                } else {
                    // An eviction that gives nothing up must not make the store grow.
                    take(id, hash, &books)
                    insertion.isKept = false
                }
            }
            return insertion
        }
    }

    private func put(
        _ item: Item, as id: ID, _ hash: Int, _ weight: Int, in shard: UnsafeMutablePointer<Shard<ID, Item>>,
        _ books: inout Books
    ) -> Insertion<ID, Item> {
        Shard.lock(shard).lock()
        defer { Shard.lock(shard).unlock() }
        let node = shard.pointee.find(id, hash)
        if node < 0 {
            let place = Int(place(of: shard.pointee.add(item, as: id, hash, weight: weight), in: shard))
            books.enter(place, hash: hash, weight: weight)
            return Insertion(isKept: true, place: place)
        }
        let old = shard.pointee.exchange(item, weight, at: node)
        let place = Int(place(of: node, in: shard))
        books.change(place, from: old.weight, to: weight)
        return Insertion(isKept: true, replaced: old.item, place: place)
    }

    /// Takes an item out.
    @discardableResult
    public func remove(_ id: ID, hash: Int) -> Item? {
        books.withLock { books in
            books.learn(from: recency)
            return take(id, hash, &books)
        }
    }

    @discardableResult
    private func take(_ id: ID, _ hash: Int, _ books: inout Books) -> Item? {
        let shard = shard(of: hash)
        Shard.lock(shard).lock()
        defer { Shard.lock(shard).unlock() }
        let node = shard.pointee.find(id, hash)
        guard node >= 0 else { return nil }
        let gone = shard.pointee.take(node)
        books.leave(Int(place(of: node, in: shard)), weight: gone.weight)
        return gone.item
    }

    /// Takes out every item that is meant. `isMeant` is called with a lock held.
    public func removeAll(where isMeant: (ID, Item) -> Bool) -> [(id: ID, item: Item)] {
        books.withLock { books in
            books.learn(from: recency)
            return (0..<1 << bits).flatMap { number in
                let shard = shards + number
                return Shard.locked(shard) { $0.taken.compactMap { take($0, in: shard, &books, if: isMeant) } }
            }
        }
    }

    /// Looks at so many places, going on where the last look ended and from the last to the first, and takes out what is
    /// meant. `isMeant` is called with a lock held.
    public func sweep(_ count: Int, where isMeant: (ID, Item) -> Bool) -> [(id: ID, item: Item)] {
        books.withLock { books in
            (0..<count).compactMap { _ in
                guard let place = books.turn() else { return nil }
                let shard = shards + place & (1 << bits - 1)
                return Shard.locked(shard) { _ in take(place >> bits, in: shard, &books, if: isMeant) }
            }
        }
    }

    /// Takes out the item of a node, if it is meant. Called with both locks held.
    private func take(
        _ node: Int, in shard: UnsafeMutablePointer<Shard<ID, Item>>, _ books: inout Books,
        if isMeant: (ID, Item) -> Bool
    ) -> (id: ID, item: Item)? {
        guard isMeant(shard.pointee.nodes[node].id, shard.pointee.nodes[node].item) else { return nil }
        let gone = shard.pointee.take(node)
        books.leave(Int(place(of: node, in: shard)), weight: gone.weight)
        return (gone.id, gone.item)
    }

    /// How much is kept and how it went so far.
    public var statistics: StoreStatistics {
        books.withLock { books in
            var statistics = StoreStatistics(entries: books.entries, bytes: books.bytes, evictions: books.evictions)
            for number in 0..<1 << bits {
                Shard.locked(shards + number) {
                    statistics.hits += $0.hits
                    statistics.misses += $0.misses
                }
            }
            return statistics
        }
    }

    // MARK: Places

    @inlinable @inline(__always)
    func shard(of hash: Int) -> UnsafeMutablePointer<Shard<ID, Item>> {
        // The highest bits: the lowest are the shard's own.
        shards + Int(truncatingIfNeeded: UInt(bitPattern: hash) &>> UInt(64 - bits) & (1 << UInt(bits) - 1))
    }

    /// The number of a shard's node among those of all.
    @inlinable @inline(__always)
    func place(of node: Int, in shard: UnsafeMutablePointer<Shard<ID, Item>>) -> UInt32 {
        UInt32(truncatingIfNeeded: node << bits | (shard - shards))
    }

    @inlinable @inline(__always)
    func note(_ place: UInt32) {
        if recency.note(place) { learn() }
    }

    @usableFromInline @inline(never)
    func learn() {
        books.tryLock { $0.learn(from: recency) }
    }
}
