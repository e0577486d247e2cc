import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct EvictionTests {
    @Test func adaptiveEvictionIsDefault() throws {
        #expect(try Registry.standard.defaultPart(of: .eviction).plugin.name == "adaptive")
    }

    @Test(arguments: Evictions.names, [(1, 1), (10, 1), (200, 1), (5_000, 500)] as [(capacity: Int, most: Int)])
    func everyInsertedEntryIsEvictedExactlyOnce(name: String, store: (capacity: Int, most: Int)) throws {
        for seed in 1...2 as ClosedRange<UInt64> {
            var dice = SeededGenerator(seed: seed)
            var plain = PlainStore(try Evictions.named(name), capacity: store.capacity)
            for step in 0..<3_000 {
                let key = dice.roll(dice.roll(2) == 0 ? 40 : 600)
                let weight = store.most == 1 ? 1 : dice.roll(store.most + 1)
                switch dice.roll(40) {
                case 0..<26: plain.ask(key, weight: weight)
                case 26..<30: plain.insert(key, weight: weight)
                case 30..<33: plain.use([key, key / 2, key, 1])
                case 33..<36: plain.change(key, weight: weight)
                case 36..<39: plain.remove(key)
                default:
                    // The store is cleared from time to time.
                    if step % 7 == 0 { for key in 0..<600 { plain.remove(key) } }
                }
                if let complaint = plain.complaint {
                    Issue.record("step \(step): \(complaint)")
                    return
                }
            }
            plain.drain()
            #expect(plain.complaint == nil && plain.weight == 0)
        }
    }

    @Test func leastRecentlyUsedEntryIsEvicted() {
        var lru = LRU()
        for place in 0..<4 { lru.inserted(place, hash: place, weight: 1) }
        lru.used(0)
        lru.removed(2)
        lru.inserted(2, hash: 9, weight: 1)
        lru.used(1)
        #expect((0..<5).map { _ in lru.evict() } == [3, 0, 2, 1, nil])
    }

    @Test func queuesTrackTheirWeights() {
        var chains = LinkedQueues(lists: 2, blank: 0)
        chains.insert(3, weight: 5, record: 7, in: 0)
        chains.insert(0, weight: 0, record: 8, in: 1)
        chains.insert(1, weight: 2, record: 9, in: 0, asOldest: true)
        #expect(chains.weights == [7, 1, 0, 0] && chains.weight == 8 && chains.count == 3 && chains[3] == 7)
        #expect(chains.oldest(0) == 1 && chains.oldest(1) == 0 && chains.list(of: 2) == nil)
        chains.move(1, to: 1)
        chains.setWeight(10, of: 1)
        chains.remove(2)
        #expect(chains.weights == [5, 11, 0, 0] && chains.list(of: 1) == 1)
        // A place that is inserted twice is in one list only.
        chains.insert(3, weight: 1, record: 1, in: 1)
        #expect(chains.weights == [0, 12, 0, 0] && chains.count == 3 && chains.oldest(0) == nil)
    }

    @Test func recentlyEvictedReturnsTimeAndForgetsOldest() {
        var ghosts = RecentlyEvicted(perEntry: 1)
        var now: UInt32 = .max - 2_000
        for hash in 0..<4_000 as Range<UInt32> {
            now &+= 1
            ghosts.reserve(min(1_000, Int(hash)), now: now)
            ghosts.insert(UInt32(stirring: Int(hash)), at: now)
        }
        func known(_ range: Range<Int>) -> Int {
            range.filter { number in
                let went = now &- UInt32(3_999 - number)
                guard let time = ghosts.take(UInt32(stirring: number), now: now) else { return false }
                // The returned time is at most one unit earlier, and never later.
                return went &- time < 16
            }.count
        }
        #expect(known(3_600..<4_000) > 360)
        #expect(known(0..<1_000) < 50)
        #expect(known(3_600..<4_000) == 0, "what was told is forgotten")
    }

    @Test func recentlyEvictedRemembersOneTimeForEachEntry() {
        var ghosts = RecentlyEvicted(perEntry: 1)
        ghosts.insert(7, at: 10)
        for number in 0..<6 as Range<UInt32> { ghosts.insert(number << 20, at: 11) }
        ghosts.insert(7, at: 12)
        #expect(ghosts.take(7, now: 20) == 12)
        #expect(ghosts.take(7, now: 20) == nil)
    }

    @Test func sketchCountsUsesAndForgetsOldOnes() {
        var sketch = FrequencySketch()
        sketch.reserve(500)
        let hashes = (0..<500).map { UInt32(stirring: $0) }
        for (number, hash) in hashes.enumerated() { for _ in 0..<(number % 5) { sketch.count(hash) } }
        let exact = hashes.indices.filter { sketch.frequency(of: hashes[$0]) == $0 % 5 }.count
        #expect(exact > 400)
        #expect(hashes.indices.allSatisfy { sketch.frequency(of: hashes[$0]) >= $0 % 5 })
        for round in 0..<12 { for hash in hashes.indices where hash % 100 == round { sketch.count(hashes[hash]) } }
        for other in 1_000..<9_000 { sketch.count(UInt32(stirring: other)) }
        #expect(sketch.frequency(of: hashes[4]) < 8)
    }
}
