import Testing

@testable import Larder

@Suite struct ExclusiveTests {
    @Test func workersTakeTurns() async throws {
        let count = Exclusive(0)
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

    /// It would wait for itself for ever.
    @Test func askingForTheSameValueDuringWorkTraps() async {
        await #expect(processExitsWith: .failure) {
            let value = Exclusive(0)
            value.withLock { _ in value.withLock { _ in } }
        }
    }
}
