import LarderSystem
import LarderCore

extension ShardedTable {
    /// Returns the next items after a position, at most `count`, and the position of the last one. The position is nil
    /// at the end. An item that stays in the table during the whole listing is returned once.
    func items(after position: Int?, most count: Int) -> (items: [(id: ID, item: Item)], next: Int?) {
        if isUntouched { return ([], nil) }
        let count = max(1, count)
        var items: [(id: ID, item: Item)] = []
        // The lower half of a position is the number of a node, the upper half that of its shard.
        var (number, first) = position.map { ($0 >> 32, ($0 & 0xFFFF_FFFF) + 1) } ?? (0, 0)
        guard number >= 0 else { return ([], nil) }
        while number < 1 << bits {
            let last = Shard.locked(shards + number) { content -> Int? in
                let nodes = content.taken.filter { $0 >= first }.sorted().prefix(count - items.count)
                items += nodes.map { (content.nodes[$0].id, content.nodes[$0].item) }
                return nodes.last
            }
            if items.count >= count, let last { return (items, number << 32 | last) }
            (number, first) = (number + 1, 0)
        }
        return (items, nil)
    }

    /// Returns the identifiers of the items for which `isMeant` returns true, without counting uses. `isMeant` is called
    /// with a lock held.
    func ids(where isMeant: (ID, Item) -> Bool) -> [ID] {
        if isUntouched { return [] }
        return (0..<1 << bits).flatMap { number in
            Shard.locked(shards + number) { content in
                content.taken.compactMap { node in
                    isMeant(content.nodes[node].id, content.nodes[node].item) ? content.nodes[node].id : nil
                }
            }
        }
    }
}
