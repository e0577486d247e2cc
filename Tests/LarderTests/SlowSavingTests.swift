import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// An answer that has arrived is delivered, however long it takes to save it.
@Suite struct SlowSavingTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#

    /// A store that takes ten seconds to write, and an origin that answers after 100 ms.
    private func kitchen(
        _ world: SimulatedWorld, _ strategy: String = #"{ "use": "network-first", "patience": "800ms" }"#
    ) async throws -> Kitchen {
        let kitchen = try await Kitchen(world, strategy: strategy, validators: Self.windows)
        kitchen.stock("old", age: .seconds(600))
        kitchen.store.set(.takes(.seconds(10)), for: .write)
        kitchen.origin.play(then: .value("new", after: .milliseconds(100)))
        return kitchen
    }

    @Test func anAnswerIsDeliveredWhenPatienceEndsThoughSavingGoesOn() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            let loaded = try await kitchen.feed.load()
            #expect(loaded.text == "new" && loaded.source == .origin && !loaded.fellBack && !loaded.isStored)
            #expect(world.uptime == .milliseconds(800))
            #expect(loaded.trail.lines.last == "store: saving goes on")
            try await world.sleep(for: .seconds(10))
            #expect(kitchen.held() == "new" && kitchen.feed.metrics.fallbackRate == 0)
        }
    }

    @Test(arguments: ["network-first", "race", "cache-first"])
    func anAnswerIsDeliveredAtTheDeadlineThoughSavingGoesOn(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, "\"\(strategy)\"")
            try await kitchen.feed.clear()
            let load = kitchen.start(deadline: .milliseconds(500))
            #expect(try await load.value().text == "new" && load.endedAt == .milliseconds(500))
            try await world.sleep(for: .seconds(10))
            #expect(kitchen.held() == "new")
        }
    }

    @Test func theFlightIsJoinedUntilItsAnswerIsSaved() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            _ = try await kitchen.feed.load()
            let later = try await kitchen.feed.load()
            #expect(later.text == "new" && later.source == .origin && world.uptime == .milliseconds(1_600))
            let patient = try await kitchen.feed.load(mode: .refresh)
            #expect(patient.isStored && world.uptime == .milliseconds(10_100) && kitchen.origin.calls.count == 1)
        }
    }

    @Test func savingGoesOnThoughEverybodyHasLeft() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            let load = kitchen.start()
            try await world.sleep(for: .milliseconds(200))
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value() }
            try await world.sleep(for: .seconds(10))
            #expect(kitchen.held() == "new")
        }
    }

    @Test func closingWaitsForWhatIsBeingSaved() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            _ = try await kitchen.feed.load()
            #expect(kitchen.held() == "old")
            await kitchen.pantry.close()
            #expect(kitchen.held() == "new" && world.uptime == .milliseconds(10_100))
        }
    }

    @Test func anAnswerThatWasClearedMeanwhileIsNotSavedAfterwards() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            _ = try await kitchen.feed.load()
            let clearing = world.start { try await kitchen.feed.clear() }
            try await world.sleep(for: .seconds(20))
            try await clearing.value()
            #expect(kitchen.held() == nil)
        }
    }

    @Test func anAnswerThatComesWhileACopyIsReadIsNotExchangedForIt() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #"{ "use": "network-first", "patience": "800ms" }"#, validators: Self.windows)
            kitchen.origin.play(then: .value("new", after: .seconds(1)))
            kitchen.stock("old", age: .seconds(600))
            // The call's own look for a copy is quick.
            kitchen.store.play(nil, for: .read)
            kitchen.store.set(.takes(.seconds(10)), for: .read)
            let loaded = try await kitchen.feed.load()
            #expect(loaded.text == "new" && world.uptime == .seconds(1))
            try await world.sleep(for: .seconds(20))
        }
    }

    @Test func aDeadlineWhileACopyIsReadLetsTheCallGoOn() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #"{ "use": "network-first", "patience": "100ms" }"#, validators: Self.windows)
            kitchen.origin.play(then: .value("new", after: .seconds(1)))
            kitchen.stock("old", age: .seconds(600))
            kitchen.store.play(nil, for: .read)
            kitchen.store.set(.takes(.seconds(10)), for: .read)
            let load = kitchen.start(deadline: .milliseconds(200))
            #expect(try await load.failure().code == .deadline && load.endedAt == .milliseconds(200))
            try await world.sleep(for: .seconds(20))
            #expect(kitchen.held() == "new")
        }
    }
}
