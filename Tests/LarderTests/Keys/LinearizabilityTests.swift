import Foundation
import LarderSimulation
import Synchronization
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@_spi(Bench) @testable import LarderPlugins

/// The operations of several threads on one key, with a check that they are linearizable.
///
/// They are if each operation can be placed at one moment between its beginning and its end so that a plain variable
/// would have returned the same values in that order.
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
    /// Whether a value may be evicted at any moment.
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
                // An operation that began after another had ended cannot come before it.
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
    func concurrentAccessToOneKeyIsLinearizable(threads: Int, room: Int?) {
        for round in 0..<20 {
            let table = ShardedTable<Int, Int>(bytes: .max, entries: room, eviction: LRU(), shards: 2)
            let seed = UInt64(round * 100 + threads)
            let histories = Self.record(threads: threads, keys: 4, steps: 400 / threads, seed: seed) { act, key in
                switch act {
                case .write(let value):
                    // One after the other, a heavier or lighter one than before: with and without the books.
                    let isKept = table.insert(value, as: key, hash: key.hashValue, weight: value % 3).isKept
                    return isKept ? act : .remove
                case .read: return .read(table.find(key, hash: key.hashValue))
                case .remove:
                    table.remove(key, hash: key.hashValue)
                    return .remove
                }
            }
            for operations in histories {
                #expect(Interleaving(operations: operations, forgets: room != nil).isLinearizable)
            }
            #expect(table.statistics.entries <= room ?? .max)
        }
    }

    /// The check finds a defective cache whose readers use a copy that is updated from time to time.
    @Test func checkFindsHistoryThatIsNotLinearizable() {
        func history(_ operations: (Interleaving.Act, Int, Int)...) -> Interleaving {
            Interleaving(operations: operations.map { .init(act: $0.0, began: $0.1, ended: $0.2) }, forgets: true)
        }
        #expect(history((.write(1), 0, 3), (.read(1), 1, 2), (.read(nil), 4, 5)).isLinearizable)
        // An older value after a newer one, a removed value, an evicted value, and one that was never written.
        #expect(!history((.write(1), 0, 1), (.write(2), 2, 3), (.read(1), 4, 5)).isLinearizable)
        #expect(!history((.write(1), 0, 1), (.remove, 2, 3), (.read(1), 4, 5)).isLinearizable)
        #expect(!history((.write(1), 0, 1), (.read(nil), 2, 3), (.read(1), 4, 5)).isLinearizable)
        #expect(!history((.read(1), 0, 1), (.write(1), 2, 3)).isLinearizable)
        // All threads must see two concurrent writes in the same order.
        #expect(
            !history((.write(1), 0, 9), (.write(2), 0, 9), (.read(1), 1, 2), (.read(2), 3, 4), (.read(1), 5, 6))
                .isLinearizable)
        var strict = history((.write(1), 0, 1), (.read(nil), 2, 3))
        #expect(strict.isLinearizable)
        strict.forgets = false
        #expect(!strict.isLinearizable)
    }

    /// Only the table synchronizes the threads here, so the thread sanitizer finds its data races.
    @Test func concurrentReadsReturnOnlyItemsOfTheirKey() {
        final class Item: Sendable {
            let key: Int
            init(_ key: Int) { self.key = key }
        }
        let table = ShardedTable<Int, Item>(bytes: 100, eviction: LRU(), shards: 4)
        atOnce(8) { thread in
            var dice = SeededGenerator(seed: UInt64(thread))
            for _ in 0..<5_000 {
                let key = dice.roll(200)
                switch dice.roll(20) {
                case 0..<14:
                    if let item = table.find(key, hash: key.hashValue), item.key != key {
                        Issue.record("another key's item")
                    }
                case 14..<18:
                    _ = table.insert(Item(key), as: key, hash: key.hashValue, weight: 1 + dice.roll(3))
                case 18: table.remove(key, hash: key.hashValue)
                default: if dice.roll(20) == 0 { _ = table.removeAll { key, _ in key % 7 == 0 } }
                }
            }
        }
        #expect(table.statistics.bytes <= 100)
    }

    /// Checks the contents in an eviction, which is called at every change while the table's lock is held.
    @Test func capacityIsNeverExceededByMoreThanOneEntry() {
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
        let table = ShardedTable<Int, Int>(bytes: 200, entries: 50, eviction: Watching(most: most), shards: 4)
        atOnce(8) { thread in
            var dice = SeededGenerator(seed: UInt64(thread))
            for _ in 0..<1_000 {
                let key = dice.roll(300)
                _ = table.insert(key, as: key, hash: key.hashValue, weight: 1 + dice.roll(10))
            }
        }
        #expect(most.entries.load(ordering: .relaxed) <= 51)
        #expect(most.bytes.load(ordering: .relaxed) <= 210)
        #expect(most.bytes.load(ordering: .relaxed) > 200)
    }

    /// The operations of several threads on each key, with their beginnings and ends on one logical clock.
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
            var dice = SeededGenerator(seed: seed &* 31 &+ UInt64(thread))
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

/// Runs `body` on several threads, which all begin at the same time.
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
