import LarderSimulation
import Synchronization
import Testing

import Larder
@testable import LarderSystem
@testable import LarderPlugins

@Suite struct SQLiteHistoryTests {
    @Test(arguments: SQLiteOptions.Durability.allCases)
    func concurrentAccessToOneKeyIsLinearizable(_ durability: SQLiteOptions.Durability) async throws {
        for round in 0..<8 {
            let store = try SQLiteFixture().open {
                $0.durability = durability
                $0.smallestFile = 500
            }
            for operations in try await Self.record(in: store, seed: UInt64(round)) {
                let isLinearizable = Interleaving(operations: operations, forgets: false).isLinearizable
                #expect(isLinearizable, "round \(round)")
            }
            await store.close()
        }
    }

    /// Returns the operations of several tasks on each of three keys, with their beginnings and ends on one logical clock.
    private static func record(in store: SQLiteStore, seed: UInt64) async throws -> [[Interleaving.Operation]] {
        let clock = LogicalClock()
        return try await withThrowingTaskGroup(of: [(key: Int, operation: Interleaving.Operation)].self) { group in
            for task in 0..<6 {
                group.addTask {
                    var dice = SeededGenerator(seed: seed &* 31 &+ UInt64(task))
                    var own: [(key: Int, operation: Interleaving.Operation)] = []
                    for step in 0..<40 {
                        let (number, choice) = (dice.roll(3), dice.roll(6))
                        let key = Key.id("\(number)", scope: "alice")
                        let value = task * 1_000 + step
                        let began = clock.next()
                        let act: Interleaving.Act
                        switch choice {
                        case 0...2:
                            let size = step % 5 == 0 ? 200 : 1
                            let text = Array(repeating: "\(value)", count: size).joined(separator: " ")
                            // A removal that overtakes a write makes it return false. The entry may have been read before.
                            _ = try await store.write(Entry(text: text), for: key)
                            act = .write(value)
                        case 3, 4:
                            let text = try await store.text(key)
                            act = .read(text.flatMap { Int($0.split(separator: " ").first ?? "") })
                        default:
                            try await store.remove(.key(key))
                            act = .remove
                        }
                        own.append((number, Interleaving.Operation(act: act, began: began, ended: clock.next())))
                    }
                    return own
                }
            }
            var histories = [[Interleaving.Operation]](repeating: [], count: 3)
            for try await own in group { for (key, operation) in own { histories[key].append(operation) } }
            return histories
        }
    }
}

/// A clock that counts.
private final class LogicalClock: Sendable {
    private let last = Atomic(0)

    func next() -> Int { last.add(1, ordering: .sequentiallyConsistent).newValue }
}
