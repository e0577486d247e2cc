import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// The strategy `race`. Copies here are fresh for 5 min, then shown for 1 h while revalidating beside 1 d on error.
@Suite struct RaceTests {
    private func kitchen(
        _ world: SimulatedWorld, age: Duration? = .seconds(60), readTakes: Duration? = nil, foreignStore: Bool = true
    ) async throws -> Kitchen {
        let kitchen = try await Kitchen(
            world, strategy: #"{ "use": "race", "background": "10s" }"#,
            validators: #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "1d" }]"#,
            foreignStore: foreignStore)
        if let age { kitchen.stock("old", age: age, etag: "e1") }
        if let readTakes { kitchen.store.play(.takes(readTakes), .takes(readTakes), for: .read) }
        kitchen.origin.play(then: .value("new", after: .milliseconds(20)))
        return kitchen
    }

    // MARK: Winners

    @Test(arguments: [true, false]) func aCopyThatMayBeShownWinsAndTheCallIsSavedBehindIt(_ foreignStore: Bool) throws {
        for (age, freshness) in [(60, Freshness.fresh), (600, .stale)] {
            try SimulatedWorld().run { world in
                let kitchen = try await kitchen(world, age: .seconds(age), foreignStore: foreignStore)
                let shown = try await kitchen.feed.load()
                #expect(shown.text == "old" && shown.freshness == freshness && !shown.fellBack)
                #expect(world.uptime == .zero)
                try await world.sleep(for: .seconds(1))
                #expect(kitchen.origin.calls.count == 1 && kitchen.held() == "new")
                #expect(kitchen.feed.metrics.hitRate == 1 && kitchen.feed.metrics.fallbackRate == 0)
            }
        }
    }

    @Test func anOriginThatIsFasterThanTheStoreWinsAndNobodyGoesOnLooking() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.store.play(.hangs, for: .read)
            let loaded = try await kitchen.feed.load()
            #expect(loaded.text == "new" && loaded.source == .origin && loaded.isStored)
            #expect(world.uptime == .milliseconds(40) && loaded.trail.lines.contains { $0.contains("answered after") })
        }
    }

    @Test func theCallNamesTheCopyThatIsFoundInTime() throws {
        for (readTakes, names) in [(nil, true), (.milliseconds(10), true), (Duration.milliseconds(30), false)] {
            try SimulatedWorld().run { world in
                let kitchen = try await kitchen(world, age: .seconds(600), readTakes: readTakes)
                #expect(try await kitchen.feed.load().text == "old")
                try await world.sleep(for: .seconds(1))
                #expect(kitchen.origin.calls.count == 1 && (kitchen.origin.calls[0].known != nil) == names)
                #expect(kitchen.store.count(of: .read) == 1, "it is looked for once")
            }
        }
    }

    @Test func aCopyThatMayOnlyStandInWaitsForTheOrigin() throws {
        for (act, text, fellBack) in [
            (ScriptedOrigin.Act.value("new", after: .seconds(1)), "new", false),
            (.failure(.status(503), after: .seconds(1)), "old", true),
        ] {
            try SimulatedWorld().run { world in
                let kitchen = try await kitchen(world, age: .seconds(7_200))
                kitchen.origin.play(act)
                let loaded = try await kitchen.feed.load()
                #expect(loaded.text == text && loaded.fellBack == fellBack && world.uptime == .seconds(1))
            }
        }
    }

    @Test func manyWhoRaceShareOneCall() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, age: nil)
            let loads = (0..<20).map { _ in kitchen.start() }
            for load in loads { #expect(try await load.value().text == "new") }
            #expect(kitchen.origin.calls.count == 1)
        }
    }

    // MARK: Losers

    @Test func afterTheOriginFailedTheCopyIsWaitedForAndStandsIn() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, readTakes: .milliseconds(100))
            kitchen.origin.play(.failure(.status(503), after: .milliseconds(20)))
            let copy = try await kitchen.feed.load()
            #expect(copy.text == "old" && copy.freshness == .fresh && world.uptime == .milliseconds(100))
            #expect(copy.fellBack && kitchen.feed.metrics.fallbackRate == 1, "without it the origin would have won")
        }
    }

    @Test func whenBothLoseTheOriginsErrorIsThrownWithTheStoresBesideIt() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.origin.play(then: .failure(.status(503), after: .milliseconds(20)))
            kitchen.store.set(.fails, for: .read)
            let failure = try await kitchen.start().failure()
            #expect(failure.status == 503 && failure.store is StoreError && !failure.copyRefused)
            kitchen.store.set(nil, for: .read)
            kitchen.stock("ancient", age: .seconds(30 * 86_400))
            let refused = try await kitchen.start().failure()
            #expect(refused.status == 503 && refused.copyRefused && refused.store == nil)
            #expect(kitchen.feed.metrics.staleErrorRate == 0.5)
        }
    }

    @Test(arguments: [403, 404]) func anAnswerThatIsAnErrorIsNotMaskedByACopyThatIsFoundLater(_ status: Int) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, readTakes: .milliseconds(100))
            kitchen.origin.play(.failure(.status(status), after: .milliseconds(20)))
            let load = kitchen.start()
            let failure = try await load.failure()
            #expect(failure.status == status && failure.trail.lines.contains("origin: the origin answered \(status)"))
            // The call waits a moment for the copy it may name, and no longer.
            #expect(load.endedAt == .milliseconds(40))
            try await world.sleep(for: .seconds(1))
            #expect(kitchen.held() == (status == 404 ? nil : "old"))
        }
    }

    @Test func aCallThatLostIsGivenUpAfterBackground() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.origin.play(.hang)
            #expect(try await kitchen.feed.load().text == "old")
            try await world.sleep(for: .seconds(9))
            #expect(kitchen.origin.underWay == 1)
            try await world.sleep(for: .seconds(1))
            #expect(kitchen.origin.underWay == 0)
        }
    }

    @Test func cancellingTheCallerEndsBothSidesAtOnce() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.store.set(.hangs, for: .read)
            kitchen.origin.play(.hang)
            let load = kitchen.start()
            try await world.sleep(for: .seconds(1))
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value() }
            #expect(load.endedAt == .seconds(1) && kitchen.feed.metrics.cancelled == 1)
        }
    }

    // MARK: Deadlines

    @Test func atTheDeadlineACopyThatMayBeShownAtAllIs() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, age: .seconds(7_200))
            kitchen.origin.play(.value("late", after: .seconds(5)))
            let copy = try await kitchen.feed.load(deadline: .milliseconds(500))
            #expect(copy.text == "old" && copy.freshness == .stale)
            try await world.sleep(for: .seconds(10))
            #expect(kitchen.held() == "late", "the call goes on")
        }
    }

    @Test func aCopyThatIsNotReadByTheDeadlineIsNotWaitedFor() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, age: .seconds(600), readTakes: .milliseconds(800))
            kitchen.origin.play(.value("late", after: .seconds(5)))
            let load = kitchen.start(deadline: .milliseconds(500))
            #expect(try await load.failure().code == .deadline && load.endedAt == .milliseconds(500))
            try await world.sleep(for: .seconds(10))
            #expect(kitchen.held() == "late", "the call goes on")
        }
    }

    @Test func atTheDeadlineWithoutACopyTheErrorIsTheDeadlinesAndTheCopyIsNotBlamed() throws {
        for age in [nil, Duration.seconds(30 * 86_400)] {
            try SimulatedWorld().run { world in
                let kitchen = try await kitchen(world, age: age)
                kitchen.origin.play(.hang)
                let load = kitchen.start(deadline: .milliseconds(500))
                let failure = try await load.failure()
                #expect(failure.code == .deadline && load.endedAt == .milliseconds(500))
                #expect(!failure.copyRefused && kitchen.feed.metrics.staleErrorRate == 0)
                try await world.sleep(for: .seconds(10))
            }
        }
    }
}
