import Foundation
import Synchronization
import Testing

@testable import Larder

@Suite struct SwappedTests {
    /// Counts those of its kind that live, and knows when it is used after its end.
    private final class Object: Sendable {
        let number: Int
        let living: Living

        init(_ number: Int, _ living: Living) {
            self.number = number
            self.living = living
            living.count.add(1, ordering: .relaxed)
        }

        deinit { living.count.subtract(1, ordering: .relaxed) }
    }

    private final class Living: Sendable {
        let count = Atomic(0)
        let isOver = Atomic(false)
        let seen = Atomic(0)
    }

    @Test func whoUsesTheObjectFindsTheLastOneAlive() {
        let living = Living()
        let swapped = Swapped<Object>()
        #expect(swapped.use { $0.number } == nil)
        withExtendedLifetime(swapped.replace(with: Object(1, living))) {}
        #expect(swapped.use { $0.number } == 1)
        let one = swapped.replace(with: Object(2, living))
        #expect(one?.number == 1 && swapped.use { $0.number } == 2)
        withExtendedLifetime(one) {}
        #expect(swapped.replace(with: nil)?.number == 2 && swapped.use { $0.number } == nil)
    }

    /// Users who never stop do not keep anybody from replacing, and nobody sees a number go back.
    @Test func itIsReplacedUnderThreadsThatUseItAllTheTime() {
        let living = Living()
        let swapped = Swapped<Object>()
        _ = swapped.replace(with: Object(0, living))
        let over = DispatchGroup()
        for _ in 0..<12 {
            over.enter()
            Thread {
                var last = 0
                while !living.isOver.load(ordering: .relaxed) {
                    let number = swapped.use { $0.number } ?? -1
                    if number < last { Issue.record("an older one than before") }
                    last = max(last, number)
                    living.seen.add(1, ordering: .relaxed)
                }
                over.leave()
            }.start()
        }
        for number in 1...200 {
            withExtendedLifetime(swapped.replace(with: Object(number, living))) {}
            #expect(living.count.load(ordering: .relaxed) <= 2)
        }
        living.isOver.store(true, ordering: .relaxed)
        over.wait()
        #expect(swapped.use { $0.number } == 200)
        _ = swapped.replace(with: nil)
        #expect(living.count.load(ordering: .relaxed) == 0)
    }
}
