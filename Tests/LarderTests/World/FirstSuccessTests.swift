import Larder
import LarderSystem
import LarderSimulation
import Testing

@Suite struct FirstSuccessTests {
    /// Works that sleep and then succeed or fail, and what became of them.
    private final class Works: Sendable {
        let world: SimulatedWorld
        private let noted = Locked<[String]>([])
        var notes: [String] { noted.withLock { $0 } }

        init(_ world: SimulatedWorld) { self.world = world }

        func work(_ name: String, _ seconds: Int, _ error: (any Error)? = nil) async throws -> String {
            note("\(name) begins")
            do { try await world.sleep(for: .seconds(seconds)) } catch {
                note("\(name) cancelled")
                throw error
            }
            if let error {
                note("\(name) fails")
                throw error
            }
            note("\(name) ends")
            return name
        }

        private func note(_ event: String) {
            noted.withLock { $0.append("\(world.uptime / .seconds(1)) \(event)") }
        }
    }

    /// Something that a work holds.
    private final class Payload: Sendable {
        let name = "payload"
    }

    private static func run(
        _ enter: @escaping @Sendable (FirstSuccess<String>, Works) -> Void, cancelAt: Int? = nil
    ) throws -> (result: Result<String, any Error>, at: Duration?, notes: [String], leftBehind: Int) {
        try SimulatedWorld().run { world in
            let works = Works(world)
            let contest = FirstSuccess<String>(in: world)
            enter(contest, works)
            let waiting = world.start { try await contest.result() }
            if let cancelAt {
                try await world.sleep(for: .seconds(cancelAt))
                waiting.cancel()
            }
            let result = await waiting.result()
            try await world.sleep(for: .seconds(100))
            return (result, waiting.endedAt, works.notes, world.unfinished - 1)
        }
    }

    @Test func firstSuccessWinsAndOthersAreCancelled() throws {
        let course = try Self.run { contest, works in
            contest.enter { try await works.work("slow", 3) }
            contest.enter { try await works.work("quick", 1) }
        }
        #expect(try course.result.get() == "quick" && course.at == .seconds(1) && course.leftBehind == 0)
        #expect(course.notes == ["0.0 slow begins", "0.0 quick begins", "1.0 quick ends", "1.0 slow cancelled"])
    }

    @Test func lingeringWorkGoesOnAfterAnotherHasSucceeded() throws {
        for (linger, end) in [(5, "3.0 slow ends"), (1, "2.0 slow cancelled")] {
            let course = try Self.run { contest, works in
                contest.enter(lingering: .seconds(linger)) { try await works.work("slow", 3) }
                contest.enter { try await works.work("quick", 1) }
            }
            #expect(try course.result.get() == "quick" && course.at == .seconds(1) && course.leftBehind == 0)
            #expect(course.notes.last == end)
        }
    }

    @Test func lingeringWorkIsCancelledWithItsWaiter() throws {
        let course = try Self.run(
            { contest, works in contest.enter(lingering: .seconds(5)) { try await works.work("slow", 3) } }, cancelAt: 2
        )
        #expect(throws: CancellationError.self) { try course.result.get() }
        #expect(course.at == .seconds(2) && course.notes.last == "2.0 slow cancelled" && course.leftBehind == 0)
    }

    @Test func delayedWorkBeginsOnlyWhileThereIsNoResult() throws {
        let late = try Self.run { contest, works in
            contest.enter { try await works.work("slow", 3) }
            contest.enter(after: .seconds(2)) { try await works.work("second", 5) }
        }
        #expect(late.notes == ["0.0 slow begins", "2.0 second begins", "3.0 slow ends", "3.0 second cancelled"])
        let failed = try Self.run { contest, works in
            contest.enter { try await works.work("failing", 1, LoadError(.failed, "one")) }
            contest.enter(after: .seconds(2)) { try await works.work("second", 5) }
        }
        #expect(failed.at == .seconds(1) && failed.notes.count == 2 && failed.leftBehind == 0)
        let early = try Self.run { contest, works in
            contest.enter { try await works.work("quick", 1) }
            contest.enter(after: .seconds(2)) { try await works.work("second", 5) }
        }
        #expect(try early.result.get() == "quick" && early.notes.count == 2 && early.leftBehind == 0)
    }

    @Test func firstFailureIsThrownWhenAllFailAndAMissingCopyGivesWay() throws {
        for (errors, message) in [
            ([LoadError(.failed, "one"), LoadError(.failed, "two")], "one"),
            ([.notCached, LoadError(.failed, "two")], "two"),
            ([LoadError(.failed, "one"), .notCached], "one"),
            ([.notCached, .notCached], "not cached"),
        ] {
            let course = try Self.run { contest, works in
                for (number, error) in errors.enumerated() {
                    contest.enter { try await works.work("\(number)", number + 1, error) }
                }
            }
            let error = #expect(throws: LoadError.self) { try course.result.get() }
            #expect(error?.message == message && course.at == .seconds(2))
        }
    }

    @Test func answerAndDeadlineEndWaitAtOnce() throws {
        for ending in [LoadError.status(404), .overdue] {
            let course = try Self.run { contest, works in
                contest.enter(lingering: .seconds(50)) { try await works.work("slow", 3) }
                contest.enter { try await works.work("failing", 1, ending) }
            }
            let error = #expect(throws: LoadError.self) { try course.result.get() }
            #expect(error?.code == ending.code && course.at == .seconds(1))
            #expect(course.notes.last == "1.0 slow cancelled" && course.leftBehind == 0)
        }
    }

    @Test func workEnteredAfterAllOthersFailedStillWins() throws {
        try SimulatedWorld().run { world in
            let contest = FirstSuccess<String>(in: world)
            contest.enter { throw LoadError.notCached }
            try await world.settle()
            contest.enter { "origin" }
            #expect(try await contest.result() == "origin")
        }
    }

    @Test func failuresBeforeTheResultIsAwaitedEndItWhenItIs() throws {
        try SimulatedWorld().run { world in
            let contest = FirstSuccess<String>(in: world)
            contest.enter { throw LoadError(.failed, "one") }
            try await world.settle()
            contest.enter(after: .forever) { "never" }
            let error = await #expect(throws: LoadError.self) { try await contest.result() }
            #expect(error?.message == "one")
            try await world.settle()
            #expect(world.unfinished == 1)
        }
    }

    @Test func workEnteredAfterTheEndLeavesNothingBehind() throws {
        for ending in [nil, LoadError.status(404)] {
            try SimulatedWorld().run { world in
                let contest = FirstSuccess<String>(in: world)
                contest.enter {
                    if let ending { throw ending }
                    return "quick"
                }
                try await world.settle()
                let works = Works(world)
                weak var payload: Payload?
                do {
                    let kept = Payload()
                    payload = kept
                    contest.enter(after: .forever) { kept.name }
                }
                contest.enter(after: .seconds(1), lingering: .seconds(9)) { try await works.work("late", 1) }
                _ = try? await contest.result()
                try await world.settle()
                #expect(world.unfinished == 1 && payload == nil)
                try await world.sleep(for: .seconds(5))
                #expect(works.notes == [])
            }
        }
    }

    @Test func workThatFailsAtOnceNeverKeepsTheNextFromBeginning() async throws {
        let world = SystemWorld()
        for round in 0..<5_000 {
            let contest = FirstSuccess<String>(in: world)
            contest.enter { throw LoadError.notCached }
            if round.isMultiple(of: 2) { await Task.yield() }
            contest.enter { "origin" }
            #expect(try await contest.result() == "origin")
        }
    }

    @Test func failureOfTheOriginIsThrownAlthoughTheCopyIsMissingAtTheSameTime() async throws {
        let world = SystemWorld()
        for _ in 0..<5_000 {
            let contest = FirstSuccess<String>(in: world)
            contest.enter { throw LoadError.notCached }
            contest.enter { throw LoadError(.failed, "origin") }
            let error = await #expect(throws: LoadError.self) { try await contest.result() }
            #expect(error?.message == "origin")
        }
    }

    @Test func worksAreCancelledWhenNobodyWaitsForTheResult() throws {
        try SimulatedWorld().run { world in
            let works = Works(world)
            do {
                let contest = FirstSuccess<String>(in: world)
                contest.enter(lingering: .seconds(50)) { try await works.work("slow", 3) }
                contest.enter(after: .forever) { "never" }
                try await world.sleep(for: .seconds(1))
                withExtendedLifetime(contest) {}
            }
            try await world.settle()
            #expect(works.notes == ["0.0 slow begins", "1.0 slow cancelled"] && world.unfinished == 1)
        }
    }
}
