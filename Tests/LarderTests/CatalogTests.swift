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

        mutating func insert(_ item: Int, as id: Int, weight: Int) -> [Int]? {
            kept.removeAll { $0.id == id }
            guard weight <= bytes else { return nil }
            var evicted: [Int] = []
            while self.weight + weight > bytes || kept.count >= entries { evicted.append(kept.removeFirst().item) }
            kept.append((id, item, weight))
            statistics.evictions += evicted.count
            return evicted
        }

        mutating func used(_ id: Int) {
            guard let place = kept.firstIndex(where: { $0.id == id }) else { return }
            kept.append(kept.remove(at: place))
            statistics.hits += 1
        }
    }

    @Test(arguments: [(bytes: 100, entries: Int?.none), (1_000, 7), (60, 3), (1, 1)], [1, 2, 3] as [UInt64])
    func anyHistoryKeepsWhatAListWould(limits: (bytes: Int, entries: Int?), seed: UInt64) {
        var dice = Dice(seed: seed)
        var catalog = Catalog<Int, Int>(bytes: limits.bytes, entries: limits.entries, eviction: LRU())
        var model = Model(bytes: limits.bytes, entries: limits.entries ?? .max)
        for item in 0..<2_000 {
            let id = dice.roll(12)
            switch dice.roll(20) {
            case 0..<10:
                let weight = dice.roll(limits.bytes / 3 + 2)
                let evicted = catalog.insert(item, as: id, hash: id.hashValue, weight: weight)
                #expect(evicted?.map(\.item) == model.insert(item, as: id, weight: weight))
            case 10..<15:
                catalog.used(id)
                model.used(id)
            case 15..<18:
                #expect(catalog.remove(id) == model.kept.first { $0.id == id }?.item)
                model.kept.removeAll { $0.id == id }
            case 18:
                catalog.missed()
                model.statistics.misses += 1
            default:
                let gone = catalog.removeAll { other, _ in other % 4 == id % 4 }
                #expect(Set(gone) == Set(model.kept.map(\.id).filter { $0 % 4 == id % 4 }))
                model.kept.removeAll { $0.id % 4 == id % 4 }
            }
            model.statistics.entries = model.kept.count
            model.statistics.bytes = model.weight
            #expect(catalog.statistics == model.statistics)
            #expect((0..<12).map { catalog.peek($0) } == (0..<12).map { id in model.kept.first { $0.id == id }?.item })
        }
    }

    @Test func anEvictionThatGivesUpDoesNotMakeTheCatalogHang() {
        struct Stubborn: Eviction {
            mutating func inserted(_ place: Int, hash: Int, weight: Int) {}
            mutating func used(_ place: Int) {}
            mutating func removed(_ place: Int) {}
            mutating func evict() -> Int? { nil }
        }
        var catalog = Catalog<Int, Int>(bytes: 10, entries: 1, eviction: Stubborn())
        #expect(catalog.insert(1, as: 1, hash: 1, weight: 10)?.isEmpty == true)
        // Nor does it grow.
        #expect(catalog.insert(2, as: 2, hash: 2, weight: 10) == nil)
        #expect(catalog.peek(2) == nil && catalog.statistics.entries == 1)
    }
}
