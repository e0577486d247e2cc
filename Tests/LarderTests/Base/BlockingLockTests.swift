import LarderFoundation
import Larder
import Testing

@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct ExclusiveTests {
    @Test func lockLosesNoUpdate() async throws {
        let count = BlockingLock(0)
        let world = SystemWorld(blockingThreads: 4)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await world.blocking { for _ in 0..<1_000 { count.withLock { $0 += 1 } } }
                }
            }
            try await group.waitForAll()
        }
        #expect(count.withLock { $0 } == 8_000)
    }

    @Test func heldLockIsNotWaitedFor() async throws {
        let lock = BlockingLock(1)
        let world = SystemWorld(blockingThreads: 1)
        let (isHeld, mayEnd) = (Gate(), Gate())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await world.blocking {
                    lock.withLock { _ in
                        isHeld.open()
                        var byte: UInt8 = 0
                        _ = read(mayEnd.descriptor, &byte, 1)
                    }
                }
            }
            try await isHeld.opened()
            #expect(lock.tryLock { $0 } == nil)
            mayEnd.open()
            try await group.waitForAll()
        }
        #expect(lock.tryLock { $0 } == 1)
    }

    /// Without the trap, the thread would wait for itself for ever.
    @Test func lockingTwiceOnOneThreadTraps() async {
        await #expect(processExitsWith: .failure) {
            let value = BlockingLock(0)
            value.withLock { _ in value.withLock { _ in } }
        }
    }
}
