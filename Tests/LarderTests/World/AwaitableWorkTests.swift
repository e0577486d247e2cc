import Larder
import LarderSystem
import LarderSimulation
import Testing

@Suite struct AwaitableWorkTests {
    @Test func everyWaiterGetsTheValue() throws {
        try SimulatedWorld().run { world in
            let wait = AwaitableWork(in: world) {
                try await world.sleep(for: .seconds(5))
                return "value"
            }
            let waiting = (0..<3).map { _ in world.start { try await wait.value() } }
            let impatient = world.start { try await wait.value(within: .seconds(2)) }
            let patient = world.start { try await wait.value(within: .seconds(20)) }
            try await world.sleep(for: .seconds(3))
            #expect(impatient.endedAt == .seconds(2) && !patient.isOver)
            try await world.sleep(for: .seconds(3))
            for waiter in waiting + [patient] {
                try #require(waiter.isOver)
                #expect(try await waiter.value() == "value" && waiter.endedAt == .seconds(5))
            }
            #expect(try await impatient.value() == nil && world.unfinished == 1)
        }
    }

    @Test func cancelledWaiterLeavesTheWorkToTheOthers() throws {
        try SimulatedWorld().run { world in
            let wait = AwaitableWork(in: world) {
                try await world.sleep(for: .seconds(5))
                return "value"
            }
            let (first, second) = (world.start { try await wait.value() }, world.start { try await wait.value() })
            try await world.sleep(for: .seconds(1))
            first.cancel()
            try await world.sleep(for: .seconds(1))
            try #require(first.isOver)
            await #expect(throws: CancellationError.self) { try await first.value() }
            #expect(first.endedAt == .seconds(1) && !second.isOver)
            try await world.sleep(for: .seconds(5))
            try #require(second.isOver)
            #expect(try await second.value() == "value")
        }
    }

    @Test func workIsCancelledWithItsLastWaiter() throws {
        try SimulatedWorld().run { world in
            let cancelledAt = Locked<Duration?>(nil)
            let wait = AwaitableWork(in: world) {
                do { try await world.sleep(for: .seconds(50)) } catch {
                    cancelledAt.withLock { $0 = world.uptime }
                    throw error
                }
            }
            let waiting = (0..<2).map { _ in world.start { try await wait.value() } }
            for waiter in waiting {
                try await world.sleep(for: .seconds(1))
                #expect(cancelledAt.withLock { $0 } == nil)
                waiter.cancel()
            }
            try await world.settle()
            #expect(cancelledAt.withLock { $0 } == .seconds(2) && waiting.allSatisfy(\.isOver) && world.unfinished == 1)
        }
    }

    @Test func workThatBeginsLaterEndsTheWaitsBeforeIt() throws {
        try SimulatedWorld().run { world in
            let wait = AwaitableWork<String>(in: world)
            let waiting = world.start { try await wait.value() }
            try await world.sleep(for: .seconds(1))
            wait.begin {
                try await world.sleep(for: .seconds(1))
                return "value"
            }
            #expect(try await waiting.value() == "value" && waiting.endedAt == .seconds(2))
        }
    }

    @Test func workThatBeginsAfterAllWaitersWereCancelledIsCancelled() throws {
        try SimulatedWorld().run { world in
            let wait = AwaitableWork<Void>(in: world)
            let waiting = world.start { try await wait.value() }
            try await world.settle()
            waiting.cancel()
            let isCancelled = Locked(false)
            wait.begin {
                do { try await world.sleep(for: .seconds(50)) } catch { isCancelled.withLock { $0 = true } }
            }
            try await world.settle()
            #expect(isCancelled.withLock { $0 } && waiting.isOver)
        }
    }

    @Test func waitersOnManyThreadsAllEnd() async {
        let world = SystemWorld()
        var answered = 0
        for round in 0..<300 {
            let wait = AwaitableWork(in: world) {
                await Task.yield()
                return round
            }
            let waiting = (0..<8).map { number in
                let task = Task { try await wait.value(within: number % 2 == 0 ? nil : .microseconds(1)) }
                if number == 2 { task.cancel() }
                return task
            }
            for (number, task) in waiting.enumerated() where number != 2 {
                do {
                    let value = try await task.value
                    #expect(value == round || value == nil && number % 2 == 1)
                    if value == round { answered += 1 }
                } catch {
                    // If nobody else waited when the second waiter was cancelled, the work was cancelled, too.
                    #expect(error is CancellationError)
                }
            }
        }
        #expect(answered > 300)
    }
}
