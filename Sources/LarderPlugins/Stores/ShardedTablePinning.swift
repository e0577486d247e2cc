import LarderSystem
import LarderCore

extension ShardedTable {
    /// Keeps an item from being evicted. Returns false if there is none.
    func pin(_ id: ID, hash: Int) -> Bool {
        if isUntouched { return false }
        return accounting.withLock { accounting in
            accounting.reportUses(notes)
            guard let (place, weight) = node(id, hash) else { return false }
            accounting.pin(place, weight: weight)
            return true
        }
    }

    /// Lets an item be evicted again. `evictionHash` is the hash that the eviction sees.
    func unpin(_ id: ID, hash: Int, evictionHash: Int) {
        if isUntouched { return }
        accounting.withLock { accounting in
            accounting.reportUses(notes)
            guard let (place, weight) = node(id, hash) else { return }
            accounting.unpin(place, hash: evictionHash, weight: weight)
        }
    }

    /// Returns whether an item is pinned.
    func isPinned(_ id: ID, hash: Int) -> Bool {
        if isUntouched { return false }
        return accounting.withLock { accounting in
            accounting.hasPins && node(id, hash).map { accounting.isPinned($0.place) } == true
        }
    }

    /// Returns whether a pinned item could be replaced by one of this weight. Returns true for an item that is not
    /// pinned.
    func hasRoom(forPinned id: ID, hash: Int, weight: Int) -> Bool {
        if isUntouched { return true }
        return accounting.withLock { accounting in
            guard accounting.hasPins, let (place, _) = node(id, hash), accounting.isPinned(place) else { return true }
            return accounting.hasRoomBesidePins(for: weight, in: place, bytes, entries)
        }
    }

    /// Returns whether an item of this weight fits beside the pinned items.
    @usableFromInline
    func hasRoomBesidePins(for id: ID, hash: Int, weight: Int, accounting: borrowing EvictionAccounting) -> Bool {
        accounting.hasRoomBesidePins(for: weight, in: node(id, hash)?.place, bytes, entries)
    }

    /// Returns the place and the weight of an item. The accounting must be locked, so that the item stays there.
    private func node(_ id: ID, _ hash: Int) -> (place: Int, weight: Int)? {
        let shard = shard(of: hash)
        return Shard.locked(shard) { content in
            let node = content.find(id, hash)
            return node < 0 ? nil : (Int(place(of: node, in: shard)), content.nodes[node].weight)
        }
    }
}
