import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@_spi(Bench) @testable import LarderPlugins

@Suite struct CatalogTests {
    /// A simple model of a table: a list with the least recently used item first.
    private struct Model {
        let bytes: Int
        let entries: Int
        var kept: [(id: Int, item: Int, weight: Int)] = []
        var statistics = StoreStatistics()

        var weight: Int { kept.reduce(0) { $0 + $1.weight } }

        mutating func insert(_ item: Int, as id: Int, weight: Int) -> (isKept: Bool, replaced: Int?, evicted: [Int]) {
            let replaced = remove(id)
            guard weight <= bytes else { return (false, replaced, []) }
            var evicted: [Int] = []
            while self.weight + weight > bytes || kept.count >= entries { evicted.append(kept.removeFirst().item) }
            kept.append((id, item, weight))
            statistics.evictions += evicted.count
            return (true, replaced, evicted)
        }

        mutating func find(_ id: Int) -> Int? {
            guard let place = kept.firstIndex(where: { $0.id == id }) else { return nil }
            kept.append(kept.remove(at: place))
            statistics.hits += 1
            return kept.last?.item
        }

        mutating func remove(_ id: Int) -> Int? {
            guard let place = kept.firstIndex(where: { $0.id == id }) else { return nil }
            return kept.remove(at: place).item
        }
    }

    /// Hashes that are well spread, that all belong to one shard, and that are all equal.
    private static let hashes: [@Sendable (Int) -> Int] = [{ $0.hashValue }, { $0 }, { _ in 7 }]

    @Test(
        arguments: [(bytes: 100, entries: Int?.none), (1_000, 7), (60, 3), (1, 1)],
        [(seed: 1, shards: 1, hash: 0), (2, 8, 0), (3, 4, 1), (4, 8, 2)] as [(UInt64, Int, Int)])
    func anyHistoryKeepsWhatAListWould(
        limits: (bytes: Int, entries: Int?), way: (seed: UInt64, shards: Int, hash: Int)
    ) {
        var dice = SeededGenerator(seed: way.seed)
        let hash = Self.hashes[way.hash]
        let table = ShardedTable<Int, Int>(
            bytes: limits.bytes, entries: limits.entries, eviction: LRU(), shards: way.shards)
        var model = Model(bytes: limits.bytes, entries: limits.entries ?? .max)
        for item in 0..<2_000 {
            let id = dice.roll(12)
            switch dice.roll(20) {
            case 0..<10:
                let weight = dice.roll(limits.bytes / 3 + 2)
                let insertion = table.insert(item, as: id, hash: hash(id), weight: weight)
                let expected = model.insert(item, as: id, weight: weight)
                #expect(insertion.isKept == expected.isKept && insertion.replaced == expected.replaced)
                #expect(insertion.evicted.map(\.item) == expected.evicted)
            case 10..<15: #expect(table.find(id, hash: hash(id)) == model.find(id))
            case 15..<18: #expect(table.remove(id, hash: hash(id)) == model.remove(id))
            case 18:
                table.missed(hash: hash(id))
                model.statistics.misses += 1
            default:
                let gone = table.removeAll { other, _ in other % 4 == id % 4 }
                #expect(Set(gone.map(\.id)) == Set(model.kept.map(\.id).filter { $0 % 4 == id % 4 }))
                model.kept.removeAll { $0.id % 4 == id % 4 }
            }
            model.statistics.entries = model.kept.count
            model.statistics.bytes = model.weight
            #expect(table.statistics == model.statistics)
            let kept = (0..<12).map { table.peek($0, hash: hash($0)) }
            #expect(kept == (0..<12).map { id in model.kept.first { $0.id == id }?.item })
        }
    }

    @Test func refusedItemIsNotCountedAsUsed() {
        let table = ShardedTable<Int, Int>(bytes: 2, eviction: LRU())
        for id in 1...2 { _ = table.insert(id, as: id, hash: id.hashValue, weight: 1) }
        #expect(table.find(1, hash: 1.hashValue) { _ in false } == nil)
        #expect(table.insert(3, as: 3, hash: 3.hashValue, weight: 1).evicted.map(\.id) == [1])
        #expect(table.statistics.hits == 0)
    }

    /// A validator must not use its store. If one does, its thread must not wait for itself.
    @Test func useWithinUseEndsWithoutAnItem() {
        let table = ShardedTable<Int, Int>(bytes: 2, eviction: LRU())
        _ = table.insert(1, as: 1, hash: 1.hashValue, weight: 1)
        var inner: Bool?
        let outer = table.use(1, hash: 1.hashValue) { _ in
            inner = table.use(1, hash: 1.hashValue) { _ in true }
            return true
        }
        #expect(outer && inner == false)
        #expect(table.find(1, hash: 1.hashValue) == 1 && table.statistics.hits == 2)
    }

    /// An item may be as heavy as all shards together.
    @Test func capacityAppliesToWholeTable() {
        let table = ShardedTable<Int, Int>(bytes: 1_000, eviction: LRU(), shards: 8)
        for id in 0..<100 { _ = table.insert(id, as: id, hash: id.hashValue, weight: 10) }
        #expect(table.statistics.bytes == 1_000)
        #expect(table.insert(-1, as: -1, hash: (-1).hashValue, weight: 1_000).evicted.count == 100)
        #expect(table.statistics.entries == 1 && table.statistics.bytes == 1_000)
    }

    @Test func removedItemsAreReleased() {
        final class Item: Sendable {}
        weak var kept: Item?
        weak var evicted: Item?
        weak var removed: Item?
        weak var replaced: Item?
        do {
            let table = ShardedTable<Int, Item>(bytes: 2, eviction: LRU())
            func insert(_ id: Int) -> Item {
                let item = Item()
                _ = table.insert(item, as: id, hash: id.hashValue, weight: 1)
                return item
            }
            evicted = insert(1)
            removed = insert(2)
            replaced = insert(3)
            kept = insert(3)
            table.remove(2, hash: 2.hashValue)
            #expect(evicted == nil && removed == nil && replaced == nil && kept != nil)
        }
        #expect(kept == nil)
    }

    @Test func evictionWithoutVictimDoesNotHangTable() {
        struct Stubborn: Eviction {
            let answer: Int?
            mutating func inserted(_ place: Int, hash: Int, weight: Int) {}
            mutating func used(_ place: Int) {}
            mutating func changed(_ place: Int, weight: Int) {}
            mutating func removed(_ place: Int) {}
            mutating func evict() -> Int? { answer }
        }
        // The eviction names no place, or empty places.
        for answer in [nil, -1, 1, 99] {
            let table = ShardedTable<Int, Int>(bytes: 10, eviction: Stubborn(answer: answer), shards: 1)
            #expect(table.insert(1, as: 1, hash: 1, weight: 10).isKept)
            // The table does not grow either.
            #expect(table.insert(2, as: 1, hash: 1, weight: 9).isKept)
            #expect(!table.insert(2, as: 2, hash: 2, weight: 10).isKept || answer == 1)
            #expect(table.statistics.entries <= 1 && table.statistics.bytes <= 10)
        }
    }

    @Test func sparedItemStaysAndIsEvictedLater() {
        let table = ShardedTable<Int, String>(bytes: 100, eviction: LRU(), shards: 1)
        for id in 1...5 { _ = table.insert("\(id)", as: id, hash: id.hashValue, weight: 20) }
        var freed = 0
        let gone = table.evict(sparing: 1, evictionHash: 1.hashValue) { weight in
            freed += weight
            return freed < 40
        }
        #expect(gone.map(\.id) == [2, 3] && table.peek(1, hash: 1.hashValue) == "1")
        #expect(table.statistics.entries == 3 && table.statistics.bytes == 60)
        #expect(table.statistics.evictions == 2)
        #expect(table.evict(sparing: 9, evictionHash: 9.hashValue) { _ in true }.map(\.id) == [4, 5, 1])
        #expect(table.evict(sparing: 9, evictionHash: 9.hashValue) { _ in true }.isEmpty)
        #expect(table.statistics.bytes == 0)
    }
}
