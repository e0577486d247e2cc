import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// One shared call for concurrent loads of the same key.
@Suite struct FlightTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#
    static let strategies = [
        #""network-first""#, #"{ "use": "network-first", "patience": "10ms" }"#, #""cache-first""#,
        #"{ "use": "cache-first", "patience": "10ms" }"#, #""stale-while-revalidate""#, #""network-only""#,
    ]

    // MARK: Sharing

    @Test(arguments: strategies, [SimulatedWorld.Interleaving.inOrder, .shuffled])
    func hundredLoadsOfOneKeyMakeOneCall(
        _ strategy: String, _ interleaving: SimulatedWorld.Interleaving
    ) throws {
        try SimulatedWorld(seed: 3, interleaving: interleaving).run { world in
            let simulated = try await SimulatedPantry(world, strategy: strategy, validators: Self.windows)
            simulated.origin.play(then: .value("one", after: .milliseconds(50)))
            let loads = (0..<100).map { number in
                let handle = simulated.pantry.resource("feed")
                let mode: Request.Mode = number % 3 == 0 ? .refresh : .normal
                let deadline: Duration? = number % 4 == 0 ? .seconds(number + 1) : nil
                return world.start {
                    try await world.sleep(for: .milliseconds(number % 40))
                    return try await handle.load(["id": "7"], mode: mode, deadline: deadline)
                }
            }
            for load in loads { #expect(try await load.value().text == "one") }
            #expect(simulated.origin.calls.count == 1)
            #expect(simulated.feed.metrics.coalesced == 99 && simulated.feed.metrics.loads == 100)
            #expect(world.uptime == .milliseconds(50), "all end with the call")
        }
    }

    @Test func hundredLoadsOfFailingKeyMakeOneCallAndFailAlike() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            simulated.origin.play(then: .failure(.status(503), after: .milliseconds(50)))
            let loads = (0..<100).map { _ in simulated.start() }
            for load in loads { #expect(try await load.failure().status == 503) }
            #expect(simulated.origin.calls.count == 1)
        }
    }

    @Test func differentKeysDoNotShareCall() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            simulated.origin.play(then: .value("x", after: .milliseconds(50)))
            let loads = [
                simulated.start(), simulated.start(["id": "1"]), simulated.start(["id": "2"]),
                simulated.start(["id": "1"], scope: "alice"), simulated.start(["id": "1"], scope: "bob"),
            ]
            for load in loads { _ = try await load.value() }
            #expect(simulated.origin.calls.count == 5 && simulated.feed.metrics.coalesced == 0)
        }
    }

    @Test func loadAfterEndOfCallStartsNewCall() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            for _ in 1...3 { _ = try await simulated.feed.load() }
            #expect(simulated.origin.calls.count == 3)
        }
    }

    // MARK: Cancelling

    @Test(arguments: strategies) func cancelledWaiterDoesNotAffectOthers(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: strategy)
            simulated.origin.play(then: .value("one", after: .milliseconds(50)))
            let loads = (0..<5).map { _ in simulated.start() }
            for (number, moment) in [(0, 5), (3, 20)] {
                try await world.sleep(for: .milliseconds(moment) - world.uptime)
                loads[number].cancel()
                await #expect(throws: CancellationError.self) { try await loads[number].value() }
                #expect(loads[number].endedAt == .milliseconds(moment), "at once")
            }
            for number in [1, 2, 4] { #expect(try await loads[number].value().text == "one") }
            #expect(simulated.origin.calls.count == 1)
            #expect(simulated.feed.metrics.cancelled == 2 && simulated.feed.metrics.loads == 3)
        }
    }

    @Test(arguments: strategies) func callIsCancelledWithItsLastWaiter(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: strategy)
            simulated.origin.play(.hang)
            let loads = (0..<5).map { _ in simulated.start() }
            try await world.sleep(for: .milliseconds(5))
            for load in loads.dropLast() { load.cancel() }
            try await world.sleep(for: .seconds(5))
            #expect(world.unfinished > 1, "the last waiter keeps the call alive")
            loads[4].cancel()
            try await world.settle()
            #expect(world.unfinished == 1 && loads.allSatisfy(\.isOver))
            simulated.origin.play(then: .value("two"))
            #expect(try await simulated.feed.load().text == "two", "a later load starts a call of its own")
            #expect(simulated.origin.calls.count == 2)
        }
    }

    @Test func callThatIgnoresCancellationIsNotJoinedOrSaved() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            simulated.origin.play(.deaf)
            let load = simulated.start()
            try await world.settle()
            load.cancel()
            try await world.settle()
            #expect(load.isOver)
            simulated.origin.play(then: .value("two"))
            #expect(try await simulated.feed.load().text == "two")
            try await world.sleep(for: .seconds(7_200))
            #expect(simulated.held() == "two" && world.unfinished == 1)
        }
    }

    @Test func loadInCancelledTaskEndsAtOnce() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            simulated.origin.play(then: .hang)
            let load = simulated.start()
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value() }
            try await world.settle()
            #expect(world.unfinished == 1 && world.uptime == .zero)
        }
    }

    // MARK: Patience

    @Test func callContinuesAfterPatienceAndIsJoinedAndSaved() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "network-first", "patience": "100ms", "rest": "0s" }"#,
                validators: Self.windows)
            simulated.stock("old", age: .seconds(60))
            simulated.origin.play(.value("new", after: .milliseconds(150)))
            #expect(try await simulated.feed.load().text == "old")
            #expect(world.uptime == .milliseconds(100))
            let next = try await simulated.feed.load()
            #expect(next.text == "new" && next.source == .origin && world.uptime == .milliseconds(150))
            #expect(simulated.origin.calls.count == 1 && simulated.held() == "new")
        }
    }

    @Test func cancellationAfterPatienceDoesNotEndCall() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "network-first", "patience": "100ms" }"#, validators: Self.windows)
            simulated.stock("old", age: .seconds(60))
            simulated.origin.play(.value("new", after: .seconds(1)))
            let feed = simulated.feed
            let caller = world.start {
                _ = try await feed.load()
                try await world.sleep(for: .seconds(60))
            }
            try await world.sleep(for: .milliseconds(200))
            caller.cancel()
            try await world.sleep(for: .seconds(2))
            #expect(simulated.held() == "new")
        }
    }

    @Test func callWithoutWaitersIsCancelledAfterBackgroundLimit() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "network-first", "patience": "1s", "background": "10s" }"#,
                validators: Self.windows)
            simulated.stock("old", age: .seconds(60))
            simulated.origin.play(.hang)
            #expect(try await simulated.feed.load().text == "old")
            try await world.sleep(for: .milliseconds(9_999))
            #expect(world.unfinished > 1)
            try await world.sleep(for: .milliseconds(2))
            #expect(world.unfinished == 1)
            simulated.origin.play(then: .value("new"))
            #expect(try await simulated.feed.load().text == "new")
        }
    }

    @Test func eachCallerHasItsOwnPatience() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "network-first", "patience": "100ms" }"#, validators: Self.windows)
            simulated.stock("old", age: .seconds(60))
            simulated.origin.play(.value("new", after: .milliseconds(250)))
            let impatient = simulated.start()
            let insisting = simulated.start(mode: .refresh)
            try await world.sleep(for: .milliseconds(60))
            let late = simulated.start()
            #expect(try await impatient.value().text == "old" && impatient.endedAt == .milliseconds(100))
            #expect(try await late.value().text == "old" && late.endedAt == .milliseconds(160))
            #expect(try await insisting.value().text == "new" && insisting.endedAt == .milliseconds(250))
            #expect(simulated.origin.calls.count == 1)
        }
    }
}
