import Foundation
import LarderSimulation
import Synchronization
import Testing

@testable import Larder

/// What threads saw of one key, and whether there is an order of their operations, each at one moment between its
/// beginning and its end, in which a plain variable would have shown the same.
struct Interleaving {
    enum Act: Hashable {
        case write(Int)
        case read(Int?)
        case remove
    }

    struct Operation {
        var act: Act
        var began: Int
        var ended: Int
    }

    var operations: [Operation]
    /// Whether a value may be forgotten at any moment.
    var forgets: Bool

    var isLinearizable: Bool {
        struct Point: Hashable {
            var done: Set<Int>
            var value: Int?
        }
        var seen: Set<Point> = []
        func search(_ point: Point) -> Bool {
            if point.done.count == operations.count { return true }
            guard seen.insert(point).inserted else { return false }
            let open = operations.indices.filter { !point.done.contains($0) }
            guard let limit = open.map({ operations[$0].ended }).min() else { return true }
            return open.contains { number in
                // What began after another had ended cannot come before it.
                guard operations[number].began <= limit else { return false }
                var next = Point(done: point.done.union([number]), value: point.value)
                switch operations[number].act {
                case .write(let value): next.value = value
                case .remove: next.value = nil
                case .read(nil):
                    if point.value != nil, !forgets { return false }
                    next.value = nil
                case .read(let value?): if value != point.value { return false }
                }
                return search(next)
            }
        }
        return search(Point(done: [], value: nil))
    }
}

@Suite struct LinearizabilityTests {
    /// Keys under one lock each would be easy. What is checked here shares shards, and the books.
    @Test(arguments: [2, 4, 8], [nil, 3])
    func threadsSeeEachKeyAsIfTheyTookTurns(threads: Int, room: Int?) {
        for round in 0..<20 {
            let catalog = Catalog<Int, Int>(bytes: .max, entries: room, eviction: LRU(), shards: 2)
            let seed = UInt64(round * 100 + threads)
            let histories = Self.record(threads: threads, keys: 4, steps: 400 / threads, seed: seed) { act, key in
                switch act {
                case .write(let value):
                    // One after the other, a heavier or lighter one than before: with and without the books.
                    let isKept = catalog.insert(value, as: key, hash: key.hashValue, weight: value % 3).isKept
                    return isKept ? act : .remove
                case .read: return .read(catalog.find(key, hash: key.hashValue))
                case .remove:
                    catalog.remove(key, hash: key.hashValue)
                    return .remove
                }
            }
            for operations in histories {
                #expect(Interleaving(operations: operations, forgets: room != nil).isLinearizable)
            }
            #expect(catalog.statistics.entries <= room ?? .max)
        }
    }

    /// A cache whose readers look into a copy of their own, which is brought up to date now and then, is found out.
    @Test func theCheckFindsWhatIsNotLinearizable() {
        func history(_ operations: (Interleaving.Act, Int, Int)...) -> Interleaving {
            Interleaving(operations: operations.map { .init(act: $0.0, began: $0.1, ended: $0.2) }, forgets: true)
        }
        #expect(history((.write(1), 0, 3), (.read(1), 1, 2), (.read(nil), 4, 5)).isLinearizable)
        // An older value after a newer one, a removed one, one that was forgotten, one nobody wrote.
        #expect(!history((.write(1), 0, 1), (.write(2), 2, 3), (.read(1), 4, 5)).isLinearizable)
        #expect(!history((.write(1), 0, 1), (.remove, 2, 3), (.read(1), 4, 5)).isLinearizable)
        #expect(!history((.write(1), 0, 1), (.read(nil), 2, 3), (.read(1), 4, 5)).isLinearizable)
        #expect(!history((.read(1), 0, 1), (.write(1), 2, 3)).isLinearizable)
        // Two at the same time may be seen in one order only.
        #expect(
            !history((.write(1), 0, 9), (.write(2), 0, 9), (.read(1), 1, 2), (.read(2), 3, 4), (.read(1), 5, 6))
                .isLinearizable)
        var strict = history((.write(1), 0, 1), (.read(nil), 2, 3))
        #expect(strict.isLinearizable)
        strict.forgets = false
        #expect(!strict.isLinearizable)
    }

    /// Nothing here makes threads wait for each other but the catalog: what it leaves open, the thread sanitizer sees.
    @Test func threadsThatOnlyMeetInTheCatalog() {
        final class Item: Sendable {
            let key: Int
            init(_ key: Int) { self.key = key }
        }
        let catalog = Catalog<Int, Item>(bytes: 100, eviction: LRU(), shards: 4)
        atOnce(8) { thread in
            var dice = Dice(seed: UInt64(thread))
            for _ in 0..<5_000 {
                let key = dice.roll(200)
                switch dice.roll(20) {
                case 0..<14:
                    if let item = catalog.find(key, hash: key.hashValue), item.key != key {
                        Issue.record("another key's item")
                    }
                case 14..<18:
                    _ = catalog.insert(Item(key), as: key, hash: key.hashValue, weight: 1 + dice.roll(3))
                case 18: catalog.remove(key, hash: key.hashValue)
                default: if dice.roll(20) == 0 { _ = catalog.removeAll { key, _ in key % 7 == 0 } }
                }
            }
        }
        #expect(catalog.statistics.bytes <= 100)
    }

    /// Called at every change, with the store's lock held, so what it sees is what is kept at each instant.
    @Test func theCapacityIsNeverExceededByMoreThanOneEntry() {
        final class Most: Sendable {
            let entries = Atomic(0)
            let bytes = Atomic(0)
        }
        struct Watching: Eviction {
            let most: Most
            var lru = LRU()
            var weights: [Int: Int] = [:]
            private mutating func note() {
                most.entries.store(max(most.entries.load(ordering: .relaxed), weights.count), ordering: .relaxed)
                let bytes = weights.values.reduce(0, +)
                most.bytes.store(max(most.bytes.load(ordering: .relaxed), bytes), ordering: .relaxed)
            }
            mutating func inserted(_ place: Int, hash: Int, weight: Int) {
                lru.inserted(place, hash: hash, weight: weight)
                weights[place] = weight
                note()
            }
            mutating func used(_ place: Int) { lru.used(place) }
            mutating func changed(_ place: Int, weight: Int) {
                weights[place] = weight
                note()
            }
            mutating func removed(_ place: Int) {
                lru.removed(place)
                weights[place] = nil
            }
            mutating func evict() -> Int? {
                let place = lru.evict()
                if let place { weights[place] = nil }
                return place
            }
        }
        let most = Most()
        let catalog = Catalog<Int, Int>(bytes: 200, entries: 50, eviction: Watching(most: most), shards: 4)
        atOnce(8) { thread in
            var dice = Dice(seed: UInt64(thread))
            for _ in 0..<1_000 {
                let key = dice.roll(300)
                _ = catalog.insert(key, as: key, hash: key.hashValue, weight: 1 + dice.roll(10))
            }
        }
        #expect(most.entries.load(ordering: .relaxed) <= 51)
        #expect(most.bytes.load(ordering: .relaxed) <= 210)
        #expect(most.bytes.load(ordering: .relaxed) > 200)
    }

    /// What several threads did to each key, begun and ended on one count of moments.
    private static func record(
        threads: Int, keys: Int, steps: Int, seed: UInt64,
        _ perform: @escaping @Sendable (Interleaving.Act, Int) -> Interleaving.Act
    ) -> [[Interleaving.Operation]] {
        final class Moments: Sendable {
            let last = Atomic(0)
            func next() -> Int { last.add(1, ordering: .sequentiallyConsistent).newValue }
        }
        let moments = Moments()
        let recorded = Locked([[Interleaving.Operation]](repeating: [], count: keys))
        atOnce(threads) { thread in
            var dice = Dice(seed: seed &* 31 &+ UInt64(thread))
            var own: [(key: Int, operation: Interleaving.Operation)] = []
            for step in 0..<steps {
                let key = dice.roll(keys)
                let value = thread * 1_000 + step
                let wanted: Interleaving.Act = [.write(value), .write(value), .read(nil), .read(nil), .remove][
                    dice.roll(5)]
                let began = moments.next()
                let act = perform(wanted, key)
                let ended = moments.next()
                own.append((key, Interleaving.Operation(act: act, began: began, ended: ended)))
            }
            recorded.withLock { recorded in
                for (key, operation) in own { recorded[key].append(operation) }
            }
        }
        return recorded.withLock { $0 }
    }
}

/// Runs `body` on so many threads, none of which begins before all are there.
private func atOnce(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    final class Gate: Sendable {
        let arrived = Atomic(0)
    }
    let gate = Gate()
    let over = DispatchGroup()
    for number in 0..<count {
        over.enter()
        Thread {
            gate.arrived.add(1, ordering: .relaxed)
            while gate.arrived.load(ordering: .relaxed) < count { sched_yield() }
            body(number)
            over.leave()
        }.start()
    }
    over.wait()
}
