import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// The wrapper `limit`: how many calls run at once, how many start each second, and who waits.
@Suite struct LimitTests {
    private func kitchen(_ world: SimulatedWorld, _ settings: String) async throws -> Kitchen {
        let kitchen = try await Kitchen(
            world, strategy: #""network-first""#, around: #"[{ "use": "limit", \#(settings) }]"#)
        kitchen.origin.play(then: .value("value", after: .milliseconds(100)))
        return kitchen
    }

    /// The ids of the calls so far, in the order in which they started.
    private func called(_ kitchen: Kitchen) -> [String] {
        kitchen.origin.calls.compactMap { $0.request.parameters["id"] }
    }

    // MARK: Caps

    @Test func noMoreRunAtOnceThanAllowedAndEachFreePlaceIsTakenAtOnce() throws {
        for seed in 1...10 as ClosedRange<UInt64> {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
                let kitchen = try await kitchen(world, #""concurrent": 3"#)
                let loads = kitchen.crowd(10)
                for running in [3, 3, 3, 1, 0] {
                    try await world.settle()
                    #expect(kitchen.origin.underWay == running)
                    try await world.sleep(for: .milliseconds(100))
                }
                for load in loads { #expect(try await load.value().text == "value") }
                #expect(kitchen.origin.calls.count == 10 && world.uptime == .milliseconds(500))
            }
        }
    }

    @Test func aCallThatFailsFreesItsPlace() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""concurrent": 1"#)
            kitchen.origin.play(.failure(.status(503)), .failure(.status(404)), .throwing(CancellationError()))
            for load in kitchen.crowd(4) { _ = await load.result() }
            #expect(kitchen.origin.calls.count == 4)
        }
    }

    @Test func noMoreStartWithinAnySecondThanAllowed() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""perSecond": 3"#)
            let early = kitchen.start(["id": "0"])
            try await world.sleep(for: .milliseconds(700))
            let loads = kitchen.crowd(7)
            for load in [early] + loads { _ = try await load.value() }
            #expect(
                kitchen.origin.starts == [0, 700, 700, 1_000, 1_700, 1_700, 2_000, 2_700].map { .milliseconds($0) })
        }
    }

    @Test func bothCapsHoldTogether() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""perSecond": 4, "concurrent": 2"#)
            for load in kitchen.crowd(6) { _ = try await load.value() }
            #expect(kitchen.origin.starts == [0, 0, 100, 100, 1_000, 1_000].map { .milliseconds($0) })
        }
    }

    // MARK: Queue

    @Test func whoFindsTheQueueFullIsRefusedAtOnceAndACopyStandsIn() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""concurrent": 1, "queue": 2"#)
            let loads = kitchen.crowd(3)
            try await world.settle()
            let refused = try await kitchen.start(["id": "4"]).failure()
            #expect(refused.code == .unavailable && refused.message == "too many calls wait already")
            kitchen.stock("old", age: .zero, kitchen.key(["id": "5"]))
            #expect(try await kitchen.feed.load(["id": "5"]).fellBack && world.uptime == .zero)
            for load in loads { _ = try await load.value() }
            #expect(called(kitchen) == ["1", "2", "3"])
            #expect(try await kitchen.feed.load(["id": "4"]).source == .origin)
        }
    }

    @Test func withoutAQueueNobodyWaits() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""concurrent": 1, "queue": 0"#)
            let first = kitchen.start(["id": "1"])
            try await world.settle()
            #expect(try await kitchen.start(["id": "2"]).failure().code == .unavailable)
            _ = try await first.value()
        }
    }

    @Test func theMostUrgentGoesFirstAndAmongEqualsTheOneThatCameFirst() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""concurrent": 1"#)
            var loads = [kitchen.start(["id": "running"], priority: .low)]
            for (id, priority) in [
                ("l1", Request.Priority.low), ("n1", .normal), ("h1", .high), ("l2", .low), ("h2", .high),
                ("n2", .normal),
            ] {
                try await world.settle()
                loads.append(kitchen.start(["id": id], priority: priority))
            }
            for load in loads { _ = try await load.value() }
            #expect(called(kitchen) == ["running", "h1", "h2", "n1", "n2", "l1", "l2"])
        }
    }

    // MARK: Cancellation

    @Test func whoIsCancelledLeavesTheQueueAndMakesRoomInIt() throws {
        for seed in 1...10 as ClosedRange<UInt64> {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
                let kitchen = try await kitchen(world, #""concurrent": 1, "queue": 2"#)
                let first = kitchen.start(["id": "first"])
                try await world.settle()
                let waiting = kitchen.crowd(2)
                try await world.settle()
                waiting[0].cancel()
                await #expect(throws: CancellationError.self) { try await waiting[0].value() }
                let late = kitchen.start(["id": "late"])
                for load in [first, waiting[1], late] { _ = try await load.value() }
                #expect(called(kitchen) == ["first", "2", "late"] && world.uptime == .milliseconds(300))
            }
        }
    }

    @Test func cancellingTheOneThatRunsLetsTheNextGo() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""concurrent": 1"#)
            kitchen.origin.play(.hang)
            let loads = kitchen.crowd(2)
            try await world.sleep(for: .seconds(5))
            loads[0].cancel()
            #expect(try await loads[1].value().text == "value" && world.uptime == .milliseconds(5_100))
        }
    }

    @Test func crowdsThatAreCancelledAtAnyMomentLeaveNothingBehindAndLoseNoPlace() throws {
        for seed in 1...40 as ClosedRange<UInt64> {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
                let kitchen = try await kitchen(world, #""concurrent": 2, "perSecond": 3, "queue": 5"#)
                for _ in 0..<4 {
                    let loads = kitchen.crowd(8)
                    for load in loads where world.chance() < 0.7 {
                        if world.chance() < 0.5 { try await world.sleep(for: .milliseconds(world.chance() * 300)) }
                        load.cancel()
                    }
                    for load in loads { _ = await load.result() }
                }
                // Longer than any origin is left alone after its call was refused.
                try await world.sleep(for: .seconds(60))
                let start = world.uptime
                for load in kitchen.crowd(3) { _ = try await load.value() }
                #expect(world.uptime - start == .milliseconds(200), "two places, three starts")
            }
        }
    }

    @Test func nobodyWaitsForTheNextSecondWhenNobodyIsInTheQueue() throws {
        // What is left behind when the run ends is a leak.
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""perSecond": 1"#)
            let loads = kitchen.crowd(2)
            try await world.sleep(for: .milliseconds(500))
            loads[1].cancel()
            _ = await loads[1].result()
            _ = try await loads[0].value()
            try await world.settle()
            #expect(world.unfinished == 1)
            let next = kitchen.start()
            #expect(try await next.value().text == "value" && kitchen.origin.starts == [.zero, .seconds(1)])
        }
    }

    @Test func aReloadThatLeavesItAloneLeavesItsQueueAlone() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""concurrent": 1, "queue": 1"#)
            let loads = kitchen.crowd(2)
            try await world.settle()
            let policy = try String(contentsOf: kitchen.folder.url.appending(path: "feed.json"), encoding: .utf8)
            try kitchen.folder.write(policy.with("network-first", "network-only"), to: "feed.json")
            #expect(try await kitchen.pantry.reload().count == 1)
            #expect(try await kitchen.start(["id": "3"]).failure().code == .unavailable)
            for load in loads { _ = try await load.value() }
            #expect(kitchen.origin.starts == [.zero, .milliseconds(100)])
        }
    }
}
