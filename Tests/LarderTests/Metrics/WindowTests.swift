import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The metrics of the last minute, five minutes and hour, whatever the clocks do.
@Suite struct WindowTests {
    private static let fresh = #"[{ "use": "age", "fresh": "7d" }]"#

    private static func simulated(_ world: SimulatedWorld) async throws -> SimulatedPantry {
        try await SimulatedPantry(world, strategy: #""cache-first""#, validators: fresh, store: #""memory""#)
    }

    private static func loads(_ simulated: SimulatedPantry, _ seconds: Int) -> UInt64 {
        simulated.feed.metrics(last: .seconds(seconds)).loads
    }

    @Test func windowCountsLoadsOfItsTime() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            // One load a second for ten minutes, hits but for the first.
            for _ in 0..<600 {
                _ = try await simulated.feed.load()
                try await world.sleep(for: .seconds(1))
            }
            #expect((60...70).contains(Self.loads(simulated, 60)))
            #expect((300...310).contains(Self.loads(simulated, 300)))
            #expect(Self.loads(simulated, 3_600) == 600 && simulated.feed.metrics.loads == 600)
            #expect(simulated.feed.metrics(last: .seconds(60)).hitRate == 1)
            #expect(simulated.feed.metrics(last: .seconds(60)).ages[.fresh]?.count == Self.loads(simulated, 60))
        }
    }

    @Test func windowIsEmptyAfterIdleHour() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            for _ in 0..<5 { _ = try await simulated.feed.load() }
            // Nobody looked meanwhile: the loads still belong to the time at which they were made.
            try await world.sleep(for: .seconds(2 * 3_600))
            _ = try await simulated.feed.load()
            #expect(Self.loads(simulated, 60) == 1 && Self.loads(simulated, 3_600) == 1)
            try await world.sleep(for: .seconds(2 * 3_600))
            #expect(Self.loads(simulated, 60) == 0 && Self.loads(simulated, 3_600) == 0)
            #expect(simulated.feed.metrics.loads == 6)
        }
    }

    @Test(arguments: [-86_400, -3_600, -5, 5, 3_600, 86_400])
    func wallClockStepDoesNotMoveWindow(_ step: Int) throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            for turn in 0..<120 {
                if turn == 60 { world.stepClock(by: .seconds(step)) }
                _ = try? await simulated.feed.load()
                try await world.sleep(for: .seconds(1))
            }
            #expect((60...70).contains(Self.loads(simulated, 60)))
            #expect(Self.loads(simulated, 300) == 120)
        }
    }

    @Test func memoryStaysBounded() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            // Three days, a load every ten minutes.
            for _ in 0..<432 {
                _ = try await simulated.feed.load()
                try await world.sleep(for: .seconds(600))
            }
            let dump = await simulated.pantry.metrics.dump()
            let periods = try #require(dump.resources.first?.revisions.first).periods
            // The periods of one day are kept, and no more.
            #expect(periods.count == 144)
            #expect(periods.allSatisfy { $0[.loads] == 1 && $0.start.nanoseconds % 300_000_000_000 == 0 })
            #expect(zip(periods, periods.dropFirst()).allSatisfy { $0.start < $1.start })
        }
    }
}
