extension Catalog {
    /// Takes out every item that is meant. `isMeant` is called with a lock held.
    public func removeAll(where isMeant: (ID, Item) -> Bool) -> [(id: ID, item: Item)] {
        if isUntouched { return [] }
        return books.withLock { books in
            books.learn(from: readers)
            return (0..<1 << bits).flatMap { number -> [(id: ID, item: Item)] in
                take(nil, from: shards + number, &books, if: isMeant)
            }
        }
    }

    /// Looks at so many places, going on where the last look ended and from the last to the first, and takes out what is
    /// meant. `isMeant` is called with a lock held.
    public func sweep(_ count: Int, where isMeant: (ID, Item) -> Bool) -> [(id: ID, item: Item)] {
        if isUntouched { return [] }
        return books.withLock { books in
            books.learn(from: readers)
            return (0..<count).flatMap { _ -> [(id: ID, item: Item)] in
                guard let place = books.turn() else { return [] }
                return take([place >> bits], from: shards + place & (1 << bits - 1), &books, if: isMeant)
            }
        }
    }

    /// Takes out those items of a shard's nodes, or of all of them, that are meant.
    private func take(
        _ nodes: [Int]?, from shard: UnsafeMutablePointer<Shard<ID, Item>>, _ books: inout Books,
        if isMeant: (ID, Item) -> Bool
    ) -> [(id: ID, item: Item)] {
        changing(shard) { content in
            let meant = (nodes ?? content.taken).filter { isMeant(content.nodes[$0].id, content.nodes[$0].item) }
            let gone = meant.map { node -> (id: ID, item: Item) in
                let gone = content.take(node)
                books.leave(Int(place(of: node, in: shard)), weight: gone.weight)
                return (gone.id, gone.item)
            }
            if nodes == nil, content.count == 0 { content.giveBack() }
            return gone
        }
    }

    /// How much is kept and how it went so far.
    public var statistics: StoreStatistics {
        if isUntouched { return StoreStatistics() }
        return books.withLock { books in
            var statistics = StoreStatistics(entries: books.entries, bytes: books.bytes, evictions: books.evictions)
            statistics.hits = readers.hits
            for number in 0..<1 << bits {
                Shard.locked(shards + number) {
                    statistics.hits += $0.hits
                    statistics.misses += $0.misses
                }
            }
            return statistics
        }
    }
}
