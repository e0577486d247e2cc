import LarderSystem
import LarderCore

extension ShardedTable {
    /// Removes all items for which `isMeant` returns true. `isMeant` is called with a lock held.
    func removeAll(where isMeant: (ID, Item) -> Bool) -> [(id: ID, item: Item)] {
        if isUntouched { return [] }
        return accounting.withLock { accounting in
            accounting.reportUses(notes)
            return (0..<1 << bits).flatMap { number -> [(id: ID, item: Item)] in
                take(nil, from: shards + number, &accounting, if: isMeant)
            }
        }
    }

    /// Removes the items that are not pinned.
    func removeUnpinned() -> [(id: ID, item: Item)] {
        if isUntouched { return [] }
        return accounting.withLock { accounting in
            accounting.reportUses(notes)
            return (0..<1 << bits).flatMap { number -> [(id: ID, item: Item)] in
                let shard = shards + number
                guard accounting.hasPins else { return take(nil, from: shard, &accounting) { _, _ in true } }
                var unpinned = Shard.locked(shard) { $0.taken }
                unpinned.removeAll { accounting.isPinned(Int(place(of: $0, in: shard))) }
                return take(unpinned, from: shard, &accounting) { _, _ in true }
            }
        }
    }

    /// Checks the next `count` places and removes the items that are not pinned and for which `isMeant` returns true. It continues where the
    /// last sweep ended, and after the last place begins with the first. `isMeant` is called with a lock held.
    func sweep(_ count: Int, where isMeant: (ID, Item) -> Bool) -> [(id: ID, item: Item)] {
        if isUntouched { return [] }
        return accounting.withLock { accounting in
            accounting.reportUses(notes)
            return (0..<count).flatMap { _ -> [(id: ID, item: Item)] in
                guard let place = accounting.nextTaken(), !accounting.isPinned(place) else { return [] }
                return take([place >> bits], from: shards + place & (1 << bits - 1), &accounting, if: isMeant)
            }
        }
    }

    /// Removes the items that the eviction names, one by one, until `more` returns false. `more` receives the weight of
    /// the item that was just removed and is called with a lock held. The item `id` stays.
    func evict(sparing id: ID, evictionHash: Int, while more: (Int) -> Bool) -> [(id: ID, item: Item)] {
        if isUntouched { return [] }
        return accounting.withLock { accounting in
            accounting.reportUses(notes)
            var gone: [(id: ID, item: Item)] = []
            var spared: (place: Int, weight: Int)?
            var goesOn = true
            while goesOn, let next = accounting.next() {
                let node = next >> bits
                let taken = Shard.locked(shards + next & (1 << bits - 1)) { content -> Shard<ID, Item>.Removed? in
                    if content.nodes[node].id != id { return content.take(node) }
                    spared = (next, content.nodes[node].weight)
                    return nil
                }
                guard let taken else { continue }
                accounting.evicted(next, weight: taken.weight)
                gone.append((taken.id, taken.item))
                goesOn = more(taken.weight)
            }
            if let spared { accounting.reinsert(spared.place, hash: evictionHash, weight: spared.weight) }
            return gone
        }
    }

    /// Returns whether the items that can be evicted, without the item `id`, add up to `total`. `size` receives the weight
    /// of an item and is called with a lock held.
    func canEvict(_ total: Int, sparing id: ID, counting size: (Int) -> Int) -> Bool {
        if isUntouched { return total <= 0 }
        return accounting.withLock { accounting in
            var sum = 0
            for number in 0..<1 << bits where sum < total {
                let shard = shards + number
                Shard.locked(shard) { content in
                    for node in content.taken where content.nodes[node].id != id {
                        if accounting.isPinned(Int(place(of: node, in: shard))) { continue }
                        sum += size(content.nodes[node].weight)
                        if sum >= total { return }
                    }
                }
            }
            return sum >= total
        }
    }

    /// Removes the items in these nodes, or in all nodes of the shard, for which `isMeant` returns true.
    private func take(
        _ nodes: [Int]?, from shard: UnsafeMutablePointer<Shard<ID, Item>>, _ accounting: inout EvictionAccounting,
        if isMeant: (ID, Item) -> Bool
    ) -> [(id: ID, item: Item)] {
        Shard.locked(shard) { content in
            let meant = (nodes ?? content.taken).filter { isMeant(content.nodes[$0].id, content.nodes[$0].item) }
            let gone = meant.map { node -> (id: ID, item: Item) in
                let gone = content.take(node)
                accounting.remove(Int(place(of: node, in: shard)), weight: gone.weight)
                return (gone.id, gone.item)
            }
            if nodes == nil, content.count == 0 { content.giveBack() }
            return gone
        }
    }

    /// The table's size, hits, misses and evictions.
    var statistics: StoreStatistics {
        if isUntouched { return StoreStatistics() }
        return accounting.withLock { accounting in
            var statistics = StoreStatistics(
                entries: accounting.entries, bytes: accounting.bytes, evictions: accounting.evictions)
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
