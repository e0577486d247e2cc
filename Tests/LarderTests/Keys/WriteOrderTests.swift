import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// An older answer never replaces a newer one, and no answer from before a clearing is saved.
@Suite struct OrderTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#

    // MARK: Newer is whose call began later

    @Test func lateAnswerDoesNotOverwriteAnswerOfLaterCall() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            let strings = simulated.pantry.resource("feed", as: String.self)
            simulated.origin.play(
                .value(#""first""#, after: .milliseconds(100)), .value(#""second""#, after: .milliseconds(20)))
            let first = simulated.start()
            try await world.sleep(for: .milliseconds(10))
            let second = try await strings.load()
            #expect(second.value == "second" && second.isStored && simulated.held() == #""second""#)
            let late = try await first.value()
            #expect(late.text == #""first""# && late.source == .origin && !late.isStored)
            #expect(simulated.held() == #""second""# && simulated.store.bodyWrites == 1)
            #expect(simulated.origin.calls.count == 2, "two codecs, two flights of one key")
        }
    }

    @Test func newerAnswerReplacesOlderOne() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            let strings = simulated.pantry.resource("feed", as: String.self)
            simulated.origin.play(
                .value(#""first""#, after: .milliseconds(50)), .value(#""second""#, after: .milliseconds(100)))
            let first = simulated.start()
            let second = world.start { try await strings.load() }
            #expect(try await first.value().isStored)
            #expect(try await second.value().isStored && simulated.held() == #""second""#)
        }
    }

    @Test func lateGoneAnswerDoesNotDropNewerEntry() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            let strings = simulated.pantry.resource("feed", as: String.self)
            simulated.origin.play(
                .failure(.status(404), after: .milliseconds(100)), .value(#""second""#, after: .milliseconds(20)))
            let first = simulated.start()
            try await world.settle()
            _ = try await strings.load()
            #expect(try await first.failure().status == 404)
            #expect(simulated.held() == #""second""#)
        }
    }

    @Test func lateAnswerDoesNotRestoreGoneEntry() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            let strings = simulated.pantry.resource("feed", as: String.self)
            simulated.origin.play(
                .value(#""first""#, after: .milliseconds(100)), .failure(.status(410), after: .milliseconds(20)))
            let first = simulated.start()
            try await world.settle()
            #expect(try await world.start { try await strings.load() }.failure().status == 410)
            #expect(try await !first.value().isStored)
            #expect(simulated.held() == nil)
        }
    }

    @Test func newerAnswerInOneTierIsNotOverwritten() throws {
        try SimulatedWorld().run { world in
            let broken = FaultyStore("broken", world: world)
            broken.set(.fails, for: .write)
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-first""#, store: #"{ "use": "tiered", "tiers": ["faulty", "broken"] }"#,
                plugins: [broken.plugin])
            simulated.origin.play(
                .value(#""first""#, after: .milliseconds(100)), .value(#""second""#, after: .milliseconds(20)))
            let first = simulated.start()
            try await world.settle()
            #expect(try await simulated.pantry.resource("feed", as: String.self).load().isStored)
            #expect(try await !first.value().isStored)
            #expect(simulated.held() == #""second""# && simulated.store.entries.count == 1)
        }
    }

    // MARK: Clearing

    @Test func answerOfCallBeforeClearingIsDeliveredAndNotSaved() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            simulated.origin.play(
                .value("before", after: .milliseconds(100)), .value("after", after: .milliseconds(20)))
            let before = simulated.start()
            try await world.sleep(for: .milliseconds(10))
            try await simulated.feed.clear()
            let after = try await simulated.feed.load()
            #expect(after.text == "after" && after.isStored, "a load begun after the clearing starts a call of its own")
            let late = try await before.value()
            #expect(late.text == "before" && !late.isStored)
            #expect(simulated.held() == "after" && simulated.origin.calls.count == 2)
        }
    }

    @Test(arguments: FlightTests.strategies)
    func loadBegunBeforeClearingSavesNothing(_ strategy: String) throws {
        for etag in [nil, "e1"] {
            try SimulatedWorld().run { world in
                let simulated = try await SimulatedPantry(world, strategy: strategy, validators: Self.windows)
                simulated.stock("old", age: .seconds(7_200), etag: etag)
                simulated.store.set(.takes(.milliseconds(20)), for: .read)
                simulated.origin.play(then: etag == nil ? .value("new") : .unchanged())
                let load = simulated.start()
                try await world.sleep(for: .milliseconds(10))
                try await simulated.feed.clear()
                _ = await load.result()
                #expect(simulated.held() == nil)
            }
        }
    }

    @Test func loadsFromBeforeClearingShareCallThatLaterLoadsDoNotJoin() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            simulated.store.set(.takes(.milliseconds(20)), for: .read)
            simulated.origin.play(.value("before", after: .seconds(1)), .value("after", after: .milliseconds(10)))
            let before = (0..<100).map { _ in simulated.start() }
            try await world.sleep(for: .milliseconds(10))
            try await simulated.feed.clear()
            try await world.sleep(for: .milliseconds(20))
            let after = try await simulated.feed.load()
            #expect(after.text == "after" && after.isStored)
            for load in before { #expect(try await load.value().text == "before") }
            #expect(simulated.origin.calls.count == 2 && simulated.held() == "after")
        }
    }

    @Test func loadFollowedByClearingSavesNothing() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            let feed = simulated.feed
            // Both on one actor: the load is called first, so it began first.
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await feed.load() }
                group.addTask { try await feed.clear() }
                try await group.waitForAll()
            }
            #expect(simulated.held() == nil && simulated.origin.calls.count == 1)
        }
    }

    @Test func clearingWaitsForRunningWriteAndRemovesIt() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            simulated.store.set(.takes(.milliseconds(50)), for: .write)
            let load = simulated.start()
            try await world.sleep(for: .milliseconds(10))
            try await simulated.feed.clear()
            #expect(world.uptime == .milliseconds(50))
            _ = try await load.value()
            #expect(simulated.held() == nil)
        }
    }
}
