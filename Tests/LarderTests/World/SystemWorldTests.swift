import Dispatch
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct SystemWorldTests {
    private let world = SystemWorld(blockingThreads: 3)

    @Test func sleepEndsWhenItsTaskIsCancelled() async {
        let sleeper = Task { [world] in try await world.sleep(for: .forever) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        let late = Task { [world] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await world.sleep(for: .seconds(3_600))
        }
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test func sleepOfZeroOrLessReturns() async throws {
        try await world.sleep(for: .zero)
        try await world.sleep(for: .seconds(-1))
    }

    @Test func uptimeNeverDecreases() {
        var last = world.uptime
        for _ in 0..<1_000 {
            let next = world.uptime
            #expect(next >= last)
            last = next
        }
        #expect(world.now > Timestamp(seconds: 1_600_000_000))
    }

    @Test func chancesAreBetweenZeroAndOneAndDiffer() {
        let chances = (0..<1_000).map { _ in world.chance() }
        #expect(chances.allSatisfy { (0..<1).contains($0) })
        #expect(Set(chances).count > 990)
    }

    @Test func spawnedWorkOutlivesCancelledCaller() async {
        let isCancelled = Locked<Bool?>(nil)
        let caller = Task { [world] in
            withUnsafeCurrentTask { $0?.cancel() }
            return world.spawn { isCancelled.withLock { $0 = Task.isCancelled } }
        }
        await caller.value.value
        #expect(isCancelled.withLock { $0 } == false)
    }

    /// More jobs than processors wait for a task that can run only if they do not block Swift's pool.
    @Test func blockingWorkDoesNotBlockTasks() async throws {
        let world = SystemWorld(blockingThreads: 64)
        let gate = DispatchSemaphore(value: 0)
        let deadline = DispatchTime.now() + .seconds(600)
        let outcomes = try await withThrowingTaskGroup(of: DispatchTimeoutResult.self) { group in
            for _ in 0..<64 {
                group.addTask { try await world.blocking { gate.wait(timeout: deadline) } }
            }
            await withTaskGroup { tasks in
                for _ in 0..<256 { tasks.addTask { await Task.yield() } }
            }
            for _ in 0..<64 { gate.signal() }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 64 && outcomes.allSatisfy { $0 == .success })
    }

    @Test func thousandBlockingJobsUseAllowedThreadsOnly() async throws {
        let running = Locked((now: 0, most: 0))
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<1_000 {
                group.addTask { [world] in
                    try await world.blocking {
                        running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                        defer { running.withLock { $0.now -= 1 } }
                        return (0..<200).reduce(number) { $0 ^ $1 ^ $1 }
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 499_500)
        #expect((1...3).contains(running.withLock { $0.most }))
    }

    @Test func allAllowedThreadsRunAtOnce() async throws {
        // Each job waits for the other two. With fewer threads none would end.
        let arrived = DispatchGroup()
        let deadline = DispatchTime.now() + .seconds(600)
        for _ in 0..<3 { arrived.enter() }
        let outcomes = try await withThrowingTaskGroup(of: DispatchTimeoutResult.self) { group in
            for _ in 0..<3 {
                group.addTask { [world] in
                    try await world.blocking {
                        arrived.leave()
                        return arrived.wait(timeout: deadline)
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == [.success, .success, .success])
    }

    @Test func workThatBeginsRunsOnItsCallersThreadUntilItWaits() async {
        let steps = Locked<[String]>([])
        let mayEnd = AsyncStream<Void>.makeStream()
        let task = world.begin {
            steps.withLock { $0.append("begun") }
            for await _ in mayEnd.stream {}
            steps.withLock { $0.append("ended") }
        }
        steps.withLock { $0.append("called") }
        mayEnd.continuation.finish()
        await task.value
        #expect(steps.withLock { $0 } == ["begun", "called", "ended"])
    }

    @Test func errorOfBlockingWorkIsThrown() async {
        struct Failure: Error {}
        await #expect(throws: Failure.self) { try await world.blocking { throw Failure() } }
    }
}
