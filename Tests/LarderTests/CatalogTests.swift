import LarderSimulation
import Testing

@testable import Larder

@Suite struct CatalogTests {
    /// What a catalog should be: a list, the least recently used first.
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

    /// Hashes that are good, that are all in one shard, and that are all the same.
    private static let hashes: [@Sendable (Int) -> Int] = [{ $0.hashValue }, { $0 }, { _ in 7 }]

    @Test(
        arguments: [(bytes: 100, entries: Int?.none), (1_000, 7), (60, 3), (1, 1)],
        [(seed: 1, shards: 1, hash: 0), (2, 8, 0), (3, 4, 1), (4, 8, 2)] as [(UInt64, Int, Int)])
    func anyHistoryKeepsWhatAListWould(
        limits: (bytes: Int, entries: Int?), way: (seed: UInt64, shards: Int, hash: Int)
    ) {
        var dice = Dice(seed: way.seed)
        let hash = Self.hashes[way.hash]
        let catalog = Catalog<Int, Int>(
            bytes: limits.bytes, entries: limits.entries, eviction: LRU(), shards: way.shards)
        var model = Model(bytes: limits.bytes, entries: limits.entries ?? .max)
        for item in 0..<2_000 {
            let id = dice.roll(12)
            switch dice.roll(20) {
            case 0..<10:
                let weight = dice.roll(limits.bytes / 3 + 2)
                let insertion = catalog.insert(item, as: id, hash: hash(id), weight: weight)
                let expected = model.insert(item, as: id, weight: weight)
                #expect(insertion.isKept == expected.isKept && insertion.replaced == expected.replaced)
                #expect(insertion.evicted.map(\.item) == expected.evicted)
            case 10..<15: #expect(catalog.find(id, hash: hash(id)) == model.find(id))
            case 15..<18: #expect(catalog.remove(id, hash: hash(id)) == model.remove(id))
            case 18:
                catalog.missed(hash: hash(id))
                model.statistics.misses += 1
            default:
                let gone = catalog.removeAll { other, _ in other % 4 == id % 4 }
                #expect(Set(gone.map(\.id)) == Set(model.kept.map(\.id).filter { $0 % 4 == id % 4 }))
                model.kept.removeAll { $0.id % 4 == id % 4 }
            }
            model.statistics.entries = model.kept.count
            model.statistics.bytes = model.weight
            #expect(catalog.statistics == model.statistics)
            let kept = (0..<12).map { catalog.peek($0, hash: hash($0)) }
            #expect(kept == (0..<12).map { id in model.kept.first { $0.id == id }?.item })
        }
    }

    @Test func whatIsNotAcceptedWasNotUsed() {
        let catalog = Catalog<Int, Int>(bytes: 2, eviction: LRU())
        for id in 1...2 { _ = catalog.insert(id, as: id, hash: id.hashValue, weight: 1) }
        #expect(catalog.find(1, hash: 1.hashValue) { _ in false } == nil)
        #expect(catalog.insert(3, as: 3, hash: 3.hashValue, weight: 1).evicted.map(\.id) == [1])
        #expect(catalog.statistics.hits == 0)
    }

    /// An item may be as heavy as all shards together.
    @Test func theCapacityIsThatOfTheWholeCatalog() {
        let catalog = Catalog<Int, Int>(bytes: 1_000, eviction: LRU(), shards: 8)
        for id in 0..<100 { _ = catalog.insert(id, as: id, hash: id.hashValue, weight: 10) }
        #expect(catalog.statistics.bytes == 1_000)
        #expect(catalog.insert(-1, as: -1, hash: (-1).hashValue, weight: 1_000).evicted.count == 100)
        #expect(catalog.statistics.entries == 1 && catalog.statistics.bytes == 1_000)
    }

    @Test func itemsAreLetGo() {
        final class Item: Sendable {}
        weak var kept: Item?
        weak var evicted: Item?
        weak var removed: Item?
        weak var replaced: Item?
        do {
            let catalog = Catalog<Int, Item>(bytes: 2, eviction: LRU())
            func insert(_ id: Int) -> Item {
                let item = Item()
                _ = catalog.insert(item, as: id, hash: id.hashValue, weight: 1)
                return item
            }
            evicted = insert(1)
            removed = insert(2)
            replaced = insert(3)
            kept = insert(3)
            catalog.remove(2, hash: 2.hashValue)
            #expect(evicted == nil && removed == nil && replaced == nil && kept != nil)
        }
        #expect(kept == nil)
    }

    @Test func anEvictionThatGivesUpDoesNotMakeTheCatalogHang() {
        struct Stubborn: Eviction {
            let answer: Int?
            mutating func inserted(_ place: Int, hash: Int, weight: Int) {}
            mutating func used(_ place: Int) {}
            mutating func changed(_ place: Int, weight: Int) {}
            mutating func removed(_ place: Int) {}
            mutating func evict() -> Int? { answer }
        }
        // It names nothing, or places where nothing is.
        for answer in [nil, -1, 1, 99] {
            let catalog = Catalog<Int, Int>(bytes: 10, eviction: Stubborn(answer: answer), shards: 1)
            #expect(catalog.insert(1, as: 1, hash: 1, weight: 10).isKept)
            // Nor does it grow.
            #expect(catalog.insert(2, as: 1, hash: 1, weight: 9).isKept)
            #expect(!catalog.insert(2, as: 2, hash: 2, weight: 10).isKept || answer == 1)
            #expect(catalog.statistics.entries <= 1 && catalog.statistics.bytes <= 10)
        }
    }

    @Test func whatIsSparedStaysAndGoesInItsTurnLater() {
        let catalog = Catalog<Int, String>(bytes: 100, eviction: LRU(), shards: 1)
        for id in 1...5 { _ = catalog.insert("\(id)", as: id, hash: id.hashValue, weight: 20) }
        var freed = 0
        let gone = catalog.evict(sparing: 1, mark: 1.hashValue) { weight in
            freed += weight
            return freed < 40
        }
        #expect(gone.map(\.id) == [2, 3] && catalog.peek(1, hash: 1.hashValue) == "1")
        #expect(catalog.statistics.entries == 3 && catalog.statistics.bytes == 60)
        #expect(catalog.statistics.evictions == 2)
        #expect(catalog.evict(sparing: 9, mark: 9.hashValue) { _ in true }.map(\.id) == [4, 5, 1])
        #expect(catalog.evict(sparing: 9, mark: 9.hashValue) { _ in true }.isEmpty)
        #expect(catalog.statistics.bytes == 0)
    }
}
