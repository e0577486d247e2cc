import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// An answer that has arrived is delivered, however long it takes to save it.
@Suite struct SlowSavingTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#

    /// A store that takes ten seconds to write, and an origin that answers after 100 ms.
    private func simulated(
        _ world: SimulatedWorld, _ strategy: String = #"{ "use": "network-first", "patience": "800ms" }"#
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(world, strategy: strategy, validators: Self.windows)
        simulated.stock("old", age: .seconds(600))
        simulated.store.set(.takes(.seconds(10)), for: .write)
        simulated.origin.play(then: .value("new", after: .milliseconds(100)))
        return simulated
    }

    @Test func answerIsDeliveredAfterPatienceWhileSavingContinues() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let loaded = try await simulated.feed.load()
            #expect(loaded.text == "new" && loaded.source == .origin && !loaded.fellBack && !loaded.isStored)
            #expect(world.uptime == .milliseconds(800))
            #expect(loaded.trail.lines.last == "store: saving goes on")
            try await world.sleep(for: .seconds(10))
            #expect(simulated.held() == "new" && simulated.feed.metrics.fallbackRate == 0)
        }
    }

    @Test(arguments: ["network-first", "race", "cache-first"])
    func answerIsDeliveredAtDeadlineWhileSavingContinues(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, "\"\(strategy)\"")
            try await simulated.feed.clear()
            let load = simulated.start(deadline: .milliseconds(500))
            #expect(try await load.value().text == "new" && load.endedAt == .milliseconds(500))
            try await world.sleep(for: .seconds(10))
            #expect(simulated.held() == "new")
        }
    }

    @Test func flightIsJoinedUntilAnswerIsSaved() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            _ = try await simulated.feed.load()
            let later = try await simulated.feed.load()
            #expect(later.text == "new" && later.source == .origin && world.uptime == .milliseconds(1_600))
            let patient = try await simulated.feed.load(mode: .refresh)
            #expect(patient.isStored && world.uptime == .milliseconds(10_100) && simulated.origin.calls.count == 1)
        }
    }

    @Test func savingContinuesWithoutWaiters() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let load = simulated.start()
            try await world.sleep(for: .milliseconds(200))
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value() }
            try await world.sleep(for: .seconds(10))
            #expect(simulated.held() == "new")
        }
    }

    @Test func closingPantryWaitsForSaves() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            _ = try await simulated.feed.load()
            #expect(simulated.held() == "old")
            await simulated.pantry.close(within: .seconds(60))
            #expect(simulated.held() == "new" && world.uptime == .milliseconds(10_100))
        }
    }

    @Test func answerFromBeforeClearingIsNotSaved() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            _ = try await simulated.feed.load()
            let clearing = world.start { try await simulated.feed.clear() }
            try await world.sleep(for: .seconds(20))
            try await clearing.value()
            #expect(simulated.held() == nil)
        }
    }

    @Test func answerThatArrivesDuringReadIsDelivered() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "network-first", "patience": "800ms" }"#, validators: Self.windows)
            simulated.origin.play(then: .value("new", after: .seconds(1)))
            simulated.stock("old", age: .seconds(600))
            // The call's own look for a copy is quick.
            simulated.store.play(nil, for: .read)
            simulated.store.set(.takes(.seconds(10)), for: .read)
            let loaded = try await simulated.feed.load()
            #expect(loaded.text == "new" && world.uptime == .seconds(1))
            try await world.sleep(for: .seconds(20))
        }
    }

    @Test func callContinuesIfDeadlineEndsReadOfCopy() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "network-first", "patience": "100ms" }"#, validators: Self.windows)
            simulated.origin.play(then: .value("new", after: .seconds(1)))
            simulated.stock("old", age: .seconds(600))
            simulated.store.play(nil, for: .read)
            simulated.store.set(.takes(.seconds(10)), for: .read)
            let load = simulated.start(deadline: .milliseconds(200))
            #expect(try await load.failure().code == .deadline && load.endedAt == .milliseconds(200))
            try await world.sleep(for: .seconds(20))
            #expect(simulated.held() == "new")
        }
    }
}
