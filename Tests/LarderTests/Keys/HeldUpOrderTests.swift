import LarderSystem
import Testing

@testable import LarderCore

/// The order of writes of a key while an operation that was given up goes on.
@Suite struct HeldUpOrderTests {
    private let order = KeyTable()
    private let key = Key(resource: "feed")

    /// Writes, and gives up.
    private func giveUp(_ operation: UnfinishedOperation) async {
        var failure = StoreError("no answer within 2s")
        failure.unfinished = [operation]
        let ticket = order.begin(key)
        await #expect(throws: StoreError.self) { try await order.perform(ticket, if: .notOvertaken) { throw failure } }
    }

    @Test func operationsAreHeldUpUntilThatWhichWasGivenUpEnds() async {
        let operation = UnfinishedOperation()
        await giveUp(operation)
        #expect(await order.perform(order.begin(key), if: .notOvertaken) {} == .heldUp)
        #expect(await order.perform(order.begin(key), if: .untouched) {} == .overtaken)
        #expect(await !order.waitForFreeTurn(order.begin(key)))
        operation.end()
        #expect(await order.perform(order.begin(key), if: .notOvertaken) {} == .done)
        #expect(await order.waitForFreeTurn(order.begin(key)))
    }

    @Test func onlyTheNewestPostponedOperationBegins() async {
        let begun = Locked<[String]>([])
        let operation = UnfinishedOperation()
        await giveUp(operation)
        let (older, newer, newest) = (order.begin(key), order.begin(key), order.begin(key))
        order.postpone(newer) { begun.withLock { $0.append("newer") } }
        order.postpone(newest) { begun.withLock { $0.append("newest") } }
        order.postpone(older) { begun.withLock { $0.append("older") } }
        #expect(begun.withLock { $0 }.isEmpty)
        operation.end()
        #expect(begun.withLock { $0 } == ["newest"])
        order.postpone(older) { begun.withLock { $0.append("at once") } }
        #expect(begun.withLock { $0 } == ["newest", "at once"])
    }

    @Test func manyPostponedOperationsTakeTheRoomOfOne() async {
        final class Held: Sendable {
            let count: Locked<Int>
            init(_ count: Locked<Int>) {
                self.count = count
                count.withLock { $0 += 1 }
            }
            deinit { count.withLock { $0 -= 1 } }
        }
        let living = Locked(0)
        let operation = UnfinishedOperation()
        await giveUp(operation)
        for _ in 0..<10_000 {
            let (ticket, held) = (order.begin(key), Held(living))
            #expect(await order.perform(ticket, if: .notOvertaken) {} == .heldUp)
            order.postpone(ticket) { withExtendedLifetime(held) {} }
        }
        #expect(living.withLock { $0 } == 1)
        operation.end()
        #expect(living.withLock { $0 } == 0)
    }
}
