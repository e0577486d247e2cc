import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The strategy `race`. Copies here are fresh for 5 min, then served for 1 h while revalidating and for 1 d on error.
@Suite struct RaceTests {
    private func simulated(
        _ world: SimulatedWorld, age: Duration? = .seconds(60), readTakes: Duration? = nil, isStoreForeign: Bool = true
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: #"{ "use": "race", "background": "10s" }"#,
            validators: #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "1d" }]"#,
            isStoreForeign: isStoreForeign)
        if let age { simulated.stock("old", age: age, etag: "e1") }
        if let readTakes { simulated.store.play(.takes(readTakes), .takes(readTakes), for: .read) }
        simulated.origin.play(then: .value("new", after: .milliseconds(20)))
        return simulated
    }

    // MARK: Winners

    @Test(arguments: [true, false]) func permittedCopyWinsAndCallIsSaved(_ isStoreForeign: Bool) throws {
        for (age, freshness) in [(60, Freshness.fresh), (600, .stale)] {
            try SimulatedWorld().run { world in
                let simulated = try await simulated(world, age: .seconds(age), isStoreForeign: isStoreForeign)
                let shown = try await simulated.feed.load()
                #expect(shown.text == "old" && shown.freshness == freshness && !shown.fellBack)
                #expect(world.uptime == .zero)
                try await world.sleep(for: .seconds(1))
                #expect(simulated.origin.calls.count == 1 && simulated.held() == "new")
                #expect(simulated.feed.metrics.hitRate == 1 && simulated.feed.metrics.fallbackRate == 0)
            }
        }
    }

    @Test func fasterOriginWinsAndReadEnds() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.store.play(.hangs, for: .read)
            let loaded = try await simulated.feed.load()
            #expect(loaded.text == "new" && loaded.source == .origin && loaded.isStored)
            #expect(world.uptime == .milliseconds(40) && loaded.trail.lines.contains { $0.contains("answered after") })
        }
    }

    @Test func callIncludesCopyFoundInTime() throws {
        for (readTakes, names) in [(nil, true), (.milliseconds(10), true), (Duration.milliseconds(30), false)] {
            try SimulatedWorld().run { world in
                let simulated = try await simulated(world, age: .seconds(600), readTakes: readTakes)
                #expect(try await simulated.feed.load().text == "old")
                try await world.sleep(for: .seconds(1))
                #expect(simulated.origin.calls.count == 1 && (simulated.origin.calls[0].known != nil) == names)
                #expect(simulated.store.count(of: .read) == 1, "it is looked for once")
            }
        }
    }

    @Test func copyPermittedOnErrorOnlyWaitsForOrigin() throws {
        for (act, text, fellBack) in [
            (ScriptedOrigin.Act.value("new", after: .seconds(1)), "new", false),
            (.failure(.status(503), after: .seconds(1)), "old", true),
        ] {
            try SimulatedWorld().run { world in
                let simulated = try await simulated(world, age: .seconds(7_200))
                simulated.origin.play(act)
                let loaded = try await simulated.feed.load()
                #expect(loaded.text == text && loaded.fellBack == fellBack && world.uptime == .seconds(1))
            }
        }
    }

    @Test func concurrentRacesShareOneCall() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, age: nil)
            let loads = (0..<20).map { _ in simulated.start() }
            for load in loads { #expect(try await load.value().text == "new") }
            #expect(simulated.origin.calls.count == 1)
        }
    }

    // MARK: Losers

    @Test func copyIsAwaitedAndServedAfterOriginFailed() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, readTakes: .milliseconds(100))
            simulated.origin.play(.failure(.status(503), after: .milliseconds(20)))
            let copy = try await simulated.feed.load()
            #expect(copy.text == "old" && copy.freshness == .fresh && world.uptime == .milliseconds(100))
            #expect(copy.fellBack && simulated.feed.metrics.fallbackRate == 1, "without it the origin would have won")
        }
    }

    @Test func originErrorWithStoreErrorIsThrownIfBothFail() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(then: .failure(.status(503), after: .milliseconds(20)))
            simulated.store.set(.fails, for: .read)
            let failure = try await simulated.start().failure()
            #expect(failure.status == 503 && failure.store is StoreError && !failure.copyRefused)
            simulated.store.set(nil, for: .read)
            simulated.stock("ancient", age: .seconds(30 * 86_400))
            let refused = try await simulated.start().failure()
            #expect(refused.status == 503 && refused.copyRefused && refused.store == nil)
            #expect(simulated.feed.metrics.staleErrorRate == 0.5)
        }
    }

    @Test(arguments: [403, 404]) func answerThatIsAnErrorIsNotMaskedByLaterCopy(_ status: Int) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, readTakes: .milliseconds(100))
            simulated.origin.play(.failure(.status(status), after: .milliseconds(20)))
            let load = simulated.start()
            let failure = try await load.failure()
            #expect(failure.status == status && failure.trail.lines.contains("origin: the origin answered \(status)"))
            // The call waits a moment for the copy that it includes, and no longer.
            #expect(load.endedAt == .milliseconds(40))
            try await world.sleep(for: .seconds(1))
            #expect(simulated.held() == (status == 404 ? nil : "old"))
        }
    }

    @Test func losingCallIsCancelledAfterBackgroundLimit() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(.hang)
            #expect(try await simulated.feed.load().text == "old")
            try await world.sleep(for: .seconds(9))
            #expect(simulated.origin.underWay == 1)
            try await world.sleep(for: .seconds(1))
            #expect(simulated.origin.underWay == 0)
        }
    }

    @Test func cancelledCallerEndsBothSides() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.store.set(.hangs, for: .read)
            simulated.origin.play(.hang)
            let load = simulated.start()
            try await world.sleep(for: .seconds(1))
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value() }
            #expect(load.endedAt == .seconds(1) && simulated.feed.metrics.cancelled == 1)
        }
    }

    // MARK: Deadlines

    @Test func copyPermittedForAnyUseIsServedAtDeadline() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, age: .seconds(7_200))
            simulated.origin.play(.value("late", after: .seconds(5)))
            let copy = try await simulated.feed.load(deadline: .milliseconds(500))
            #expect(copy.text == "old" && copy.freshness == .stale)
            try await world.sleep(for: .seconds(10))
            #expect(simulated.held() == "late", "the call goes on")
        }
    }

    @Test func deadlineEndsReadOfCopy() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, age: .seconds(600), readTakes: .milliseconds(800))
            simulated.origin.play(.value("late", after: .seconds(5)))
            let load = simulated.start(deadline: .milliseconds(500))
            #expect(try await load.failure().code == .deadline && load.endedAt == .milliseconds(500))
            try await world.sleep(for: .seconds(10))
            #expect(simulated.held() == "late", "the call goes on")
        }
    }

    @Test func deadlineWithoutCopyThrowsDeadlineErrorOnly() throws {
        for age in [nil, Duration.seconds(30 * 86_400)] {
            try SimulatedWorld().run { world in
                let simulated = try await simulated(world, age: age)
                simulated.origin.play(.hang)
                let load = simulated.start(deadline: .milliseconds(500))
                let failure = try await load.failure()
                #expect(failure.code == .deadline && load.endedAt == .milliseconds(500))
                #expect(!failure.copyRefused && simulated.feed.metrics.staleErrorRate == 0)
                try await world.sleep(for: .seconds(10))
            }
        }
    }
}
