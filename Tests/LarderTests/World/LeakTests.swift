import Larder
import LarderSystem
import LarderSimulation
import Testing

/// The tasks and timers that a run leaves behind.
@Suite struct LeakTests {
    private func leak(
        leaving: SimulatedWorld.Leaving = .nothing,
        _ body: @escaping @Sendable (SimulatedWorld) async throws -> Void
    ) throws -> SimulatedWorld.Leak? {
        do {
            try SimulatedWorld().run(leaving: leaving, body)
            return nil
        } catch let leak as SimulatedWorld.Leak {
            return leak
        }
    }

    @Test func uncancelledTimerIsReported() throws {
        let leak = try #require(
            try leak { world in
                try await world.sleep(for: .seconds(2))
                world.spawn { try? await world.sleep(for: .seconds(8)) }
            })
        #expect(leak.tasks == [.seconds(2)] && leak.deaf == 0 && leak.sleepers == [.seconds(10)])
        #expect(leak.description == "1 task left behind (spawned at 2 s); 1 asleep (until 10 s)")
    }

    @Test func unresumedContinuationIsReportedAsDeaf() throws {
        let kept = Locked<[CheckedContinuation<Void, Never>]>([])
        let leak = try #require(
            try leak { world in
                world.spawn { await withCheckedContinuation { waiter in kept.withLock { $0.append(waiter) } } }
                world.spawn { try? await world.sleep(for: .forever) }
            })
        #expect(leak.tasks == [.zero, .zero] && leak.deaf == 1)
        #expect(
            leak.description == "2 tasks left behind (spawned at 0 s, 0 s), 1 of them even when cancelled; "
                + "1 asleep (until cancelled)")
        for waiter in kept.withLock({ $0 }) { waiter.resume() }
    }

    @Test func endlessTaskDoesNotPreventEndOfRun() throws {
        let isOver = Locked(false)
        let leak = try #require(
            try leak { world in
                world.spawn { while !isOver.withLock({ $0 }) { try? await world.sleep(for: .seconds(1)) } }
            })
        #expect(leak.tasks == [.zero] && leak.deaf == 1)
        isOver.withLock { $0 = true }
    }

    @Test func foreignTaskThatSleepsInWorldIsReportedAndWoken() throws {
        let woken = Locked(false)
        let leak = try leak { world in
            Task(executorPreference: world) {
                do { try await world.sleep(for: .seconds(5)) } catch { woken.withLock { $0 = true } }
            }
            try await world.sleep(for: .seconds(1))
        }
        #expect(leak?.tasks == [] && leak?.sleepers == [.seconds(5)])
        #expect(leak?.description == "1 asleep (until 5 s)" && woken.withLock { $0 })
    }

    @Test func taskThatEndsWithoutDelayIsNoLeak() throws {
        let log = Locked<[String]>([])
        let leak = try leak { world in
            world.spawn {
                for step in ["one", "two"] {
                    await Task.yield()
                    log.withLock { $0.append(step) }
                }
            }
            let cancelled = world.spawn { try? await world.sleep(for: .forever) }
            cancelled.cancel()
        }
        #expect(leak == nil && log.withLock { $0 } == ["one", "two"])
    }

    @Test func leaksAreNotReportedIfAllowed() throws {
        let leak = try leak(leaving: .anything) { world in
            world.spawn { try? await world.sleep(for: .seconds(8)) }
        }
        #expect(leak == nil)
    }

    @Test func errorOfBodyIsThrownInsteadOfLeaks() {
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try SimulatedWorld().run { world in
                world.spawn { try? await world.sleep(for: .seconds(8)) }
                throw Failure()
            }
        }
    }

    @Test func unfinishedLoadIsLeak() throws {
        let leak = try leak { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            simulated.origin.play(.value("late", after: .seconds(5)))
            _ = simulated.start()
            try await world.sleep(for: .seconds(1))
        }
        #expect(leak?.sleepers == [.seconds(5)] && leak?.deaf == 0)
    }
}
