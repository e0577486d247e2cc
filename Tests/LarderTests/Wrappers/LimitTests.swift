import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The wrapper `limit`: the calls that run at once, the calls that start each second, and the queue.
@Suite struct LimitTests {
    private func simulated(_ world: SimulatedWorld, _ settings: String) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: #""network-first""#, around: #"[{ "use": "limit", \#(settings) }]"#)
        simulated.origin.play(then: .value("value", after: .milliseconds(100)))
        return simulated
    }

    /// The ids of the calls so far, in the order in which they started.
    private func called(_ simulated: SimulatedPantry) -> [String] {
        simulated.origin.calls.compactMap { $0.request.parameters["id"] }
    }

    // MARK: Caps

    @Test func concurrencyLimitHoldsAndFreePlaceIsTakenAtOnce() throws {
        for seed in 1...10 as ClosedRange<UInt64> {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
                let simulated = try await simulated(world, #""concurrent": 3"#)
                let loads = simulated.crowd(10)
                for running in [3, 3, 3, 1, 0] {
                    try await world.settle()
                    #expect(simulated.origin.underWay == running)
                    try await world.sleep(for: .milliseconds(100))
                }
                for load in loads { #expect(try await load.value().text == "value") }
                #expect(simulated.origin.calls.count == 10 && world.uptime == .milliseconds(500))
            }
        }
    }

    @Test func failedCallFreesItsPlace() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""concurrent": 1"#)
            simulated.origin.play(.failure(.status(503)), .failure(.status(404)), .throwing(CancellationError()))
            for load in simulated.crowd(4) { _ = await load.result() }
            #expect(simulated.origin.calls.count == 4)
        }
    }

    @Test func rateLimitHoldsInAnySecond() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""perSecond": 3"#)
            let early = simulated.start(["id": "0"])
            try await world.sleep(for: .milliseconds(700))
            let loads = simulated.crowd(7)
            for load in [early] + loads { _ = try await load.value() }
            #expect(
                simulated.origin.starts == [0, 700, 700, 1_000, 1_700, 1_700, 2_000, 2_700].map { .milliseconds($0) })
        }
    }

    @Test func concurrencyAndRateLimitsHoldTogether() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""perSecond": 4, "concurrent": 2"#)
            for load in simulated.crowd(6) { _ = try await load.value() }
            #expect(simulated.origin.starts == [0, 0, 100, 100, 1_000, 1_000].map { .milliseconds($0) })
        }
    }

    // MARK: Queue

    @Test func fullQueueRefusesCallAndCopyIsServed() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""concurrent": 1, "queue": 2"#)
            let loads = simulated.crowd(3)
            try await world.settle()
            let refused = try await simulated.start(["id": "4"]).failure()
            #expect(refused.code == .unavailable && refused.message == "the queue of waiting calls is full")
            simulated.stock("old", age: .zero, for: simulated.key(["id": "5"]))
            #expect(try await simulated.feed.load(["id": "5"]).fellBack && world.uptime == .zero)
            for load in loads { _ = try await load.value() }
            #expect(called(simulated) == ["1", "2", "3"])
            #expect(try await simulated.feed.load(["id": "4"]).source == .origin)
        }
    }

    @Test func callIsRefusedAtOnceWithoutQueue() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""concurrent": 1, "queue": 0"#)
            let first = simulated.start(["id": "1"])
            try await world.settle()
            #expect(try await simulated.start(["id": "2"]).failure().code == .unavailable)
            _ = try await first.value()
        }
    }

    @Test func queueIsOrderedByPriorityThenArrival() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""concurrent": 1"#)
            var loads = [simulated.start(["id": "running"], priority: .low)]
            for (id, priority) in [
                ("l1", Request.Priority.low), ("n1", .normal), ("h1", .high), ("l2", .low), ("h2", .high),
                ("n2", .normal),
            ] {
                try await world.settle()
                loads.append(simulated.start(["id": id], priority: priority))
            }
            for load in loads { _ = try await load.value() }
            #expect(called(simulated) == ["running", "h1", "h2", "n1", "n2", "l1", "l2"])
        }
    }

    // MARK: Background calls

    @Test func backgroundCallsLeaveAQuarterOfThePlacesFree() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""concurrent": 8"#)
            var loads = simulated.crowd(20, priority: .low)
            try await world.settle()
            #expect(simulated.origin.underWay == 6)
            for id in ["u1", "u2", "u3"] { loads.append(simulated.start(["id": id])) }
            try await world.settle()
            #expect(called(simulated).suffix(2) == ["u1", "u2"])
            // A user that joins a call which waits gets one of these places, too.
            try await world.sleep(for: .milliseconds(100))
            loads.append(simulated.start(["id": "20"]))
            try await world.settle()
            #expect(called(simulated).contains("20") && simulated.origin.underWay == 7)
            for load in loads { _ = try await load.value() }
        }
    }

    @Test func backgroundCallsLeaveAQuarterOfTheStartsFree() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""perSecond": 4"#)
            var loads = simulated.crowd(5, priority: .low)
            try await world.settle()
            #expect(simulated.origin.calls.count == 3)
            loads.append(simulated.start(["id": "user"]))
            for load in loads { _ = try await load.value() }
            #expect(called(simulated) == ["1", "2", "3", "user", "4", "5"])
            #expect(simulated.origin.starts == [0, 0, 0, 0, 1_000, 1_000].map { .milliseconds($0) })
        }
    }

    // MARK: Cancellation

    @Test func cancelledCallLeavesQueue() throws {
        for seed in 1...10 as ClosedRange<UInt64> {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
                let simulated = try await simulated(world, #""concurrent": 1, "queue": 2"#)
                let first = simulated.start(["id": "first"])
                try await world.settle()
                let waiting = simulated.crowd(2)
                try await world.settle()
                waiting[0].cancel()
                await #expect(throws: CancellationError.self) { try await waiting[0].value() }
                let late = simulated.start(["id": "late"])
                for load in [first, waiting[1], late] { _ = try await load.value() }
                #expect(called(simulated) == ["first", "2", "late"] && world.uptime == .milliseconds(300))
            }
        }
    }

    @Test func cancelledRunningCallStartsNext() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""concurrent": 1"#)
            simulated.origin.play(.hang)
            let loads = simulated.crowd(2)
            try await world.sleep(for: .seconds(5))
            loads[0].cancel()
            #expect(try await loads[1].value().text == "value" && world.uptime == .milliseconds(5_100))
        }
    }

    @Test func randomCancellationsLoseNoPlaces() throws {
        for seed in 1...40 as ClosedRange<UInt64> {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
                let simulated = try await simulated(world, #""concurrent": 2, "perSecond": 3, "queue": 5"#)
                for _ in 0..<4 {
                    let loads = simulated.crowd(8)
                    for load in loads where world.chance() < 0.7 {
                        if world.chance() < 0.5 { try await world.sleep(for: .milliseconds(world.chance() * 300)) }
                        load.cancel()
                    }
                    for load in loads { _ = await load.result() }
                }
                // This is longer than the rest of any origin after a refused call.
                try await world.sleep(for: .seconds(60))
                let start = world.uptime
                for load in simulated.crowd(3) { _ = try await load.value() }
                #expect(world.uptime - start == .milliseconds(200), "two places, three starts")
            }
        }
    }

    @Test func emptyQueueLeavesNoTimer() throws {
        // A task that is left when the run ends is a leak.
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""perSecond": 1"#)
            let loads = simulated.crowd(2)
            try await world.sleep(for: .milliseconds(500))
            loads[1].cancel()
            _ = await loads[1].result()
            _ = try await loads[0].value()
            try await world.settle()
            #expect(world.unfinished == 1)
            let next = simulated.start()
            #expect(try await next.value().text == "value" && simulated.origin.starts == [.zero, .seconds(1)])
        }
    }

    @Test func reloadWithoutChangeKeepsQueue() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""concurrent": 1, "queue": 1"#)
            let loads = simulated.crowd(2)
            try await world.settle()
            #expect(try await simulated.edit("network-first", "network-only").count == 1)
            #expect(try await simulated.start(["id": "3"]).failure().code == .unavailable)
            for load in loads { _ = try await load.value() }
            #expect(simulated.origin.starts == [.zero, .milliseconds(100)])
        }
    }
}
