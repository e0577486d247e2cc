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

    /// Takes out what the eviction names, one item after the other, as long as `more` says so of the weight of the last. The
    /// item with this id stays. `more` is called with a lock held.
    func evict(sparing id: ID, mark: Int, while more: (Int) -> Bool) -> [(id: ID, item: Item)] {
        if isUntouched { return [] }
        return books.withLock { books in
            books.learn(from: readers)
            var gone: [(id: ID, item: Item)] = []
            var spared: (place: Int, weight: Int)?
            var goesOn = true
            while goesOn, let next = books.next() {
                let node = next >> bits
                let taken = changing(shards + next & (1 << bits - 1)) { content -> Shard<ID, Item>.Node? in
                    if content.nodes[node].id != id { return content.take(node) }
                    spared = (next, content.nodes[node].weight)
                    return nil
                }
                guard let taken else { continue }
                books.evicted(next, weight: taken.weight)
                gone.append((taken.id, taken.item))
                goesOn = more(taken.weight)
            }
            if let spared { books.spare(spared.place, hash: mark, weight: spared.weight) }
            return gone
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
