import Foundation
import Synchronization
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct SwappedTests {
    /// An object that counts the living ones of its kind, and notices a use after its end.
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

    @Test func readersSeeLastStoredObject() {
        let living = Living()
        let swapped = AtomicReference<Object>()
        #expect(swapped.use { $0.number } == nil)
        withExtendedLifetime(swapped.replace(with: Object(1, living))) {}
        #expect(swapped.use { $0.number } == 1)
        let one = swapped.replace(with: Object(2, living))
        #expect(one?.number == 1 && swapped.use { $0.number } == 2)
        withExtendedLifetime(one) {}
        #expect(swapped.replace(with: nil)?.number == 2 && swapped.use { $0.number } == nil)
    }

    /// Constant use does not prevent a replacement, and no thread sees an older object after a newer one.
    @Test func objectIsReplacedWhileThreadsUseIt() {
        let living = Living()
        let swapped = AtomicReference<Object>()
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
