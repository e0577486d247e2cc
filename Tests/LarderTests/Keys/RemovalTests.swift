import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Copies that the origin calls gone stay gone, and a removal deletes nothing that was saved after it.
@Suite struct RemovalTests {
    private static let windows = #"[{ "use": "age", "fresh": "1h", "onError": "7d" }]"#

    private struct Cellar {
        let upper: FaultyStore
        let lower: FaultyStore
        let simulated: SimulatedPantry

        /// Two tiers that hold `old`, of which the lower one cannot remove it when the origin says that it is gone.
        init(_ world: SimulatedWorld, upperFails: Bool = false) async throws {
            upper = FaultyStore("upper", isForeign: false, world: world)
            lower = FaultyStore("lower", world: world)
            simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: RemovalTests.windows,
                store: #"{ "use": "tiered", "tiers": ["upper", "lower"] }"#, plugins: [upper.plugin, lower.plugin])
            simulated.origin.play(then: .failure(.status(503)))
            simulated.origin.play(.value("old"), .failure(.status(404)))
            _ = try await simulated.feed.load()
            (upperFails ? upper : lower).set(.fails, for: .remove)
            #expect(try await simulated.start(mode: .refresh).failure().status == 404)
        }
    }

    @Test func goneCopyIsNotServedAfterFailedRemoval() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world)
            let feed = cellar.simulated.feed
            #expect(cellar.lower.entries.count == 1)
            #expect(try await cellar.simulated.start().failure().status == 503)
            #expect(try await !feed.contains() && cellar.upper.entries.isEmpty)
            // Every read tries the removal again until it has worked.
            #expect(cellar.lower.count(of: .remove) == 3)
            cellar.lower.set(nil, for: .remove)
            #expect(try await cellar.simulated.start().failure().status == 503)
            try await world.settle()
            #expect(cellar.lower.entries.isEmpty)
            let count = cellar.lower.count(of: .remove)
            #expect(try await cellar.simulated.start().failure().status == 503)
            #expect(cellar.lower.count(of: .remove) == count)
        }
    }

    @Test func goneCopyInMemoryIsNotServed() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world, upperFails: true)
            let request = cellar.simulated.feed.request()
            #expect(cellar.upper.entries.count == 1)
            #expect(cellar.simulated.feed.answer(request) == nil)
            #expect(cellar.upper.count(of: .remove) == 1, "an answer of nil leaves no trace")
            let other = cellar.simulated.feed.request(["id": "2"])
            cellar.simulated.origin.play(.value("other"))
            _ = try await cellar.simulated.feed.load(other)
            #expect(cellar.simulated.feed.answer(other)?.text == "other")
        }
    }

    @Test func entrySavedAfterGoneIsServed() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world, upperFails: true)
            cellar.simulated.origin.play(.value("back"))
            #expect(try await cellar.simulated.feed.load().text == "back")
            try await world.settle()
            #expect(cellar.simulated.feed.answer(cellar.simulated.feed.request())?.text == "back")
            #expect(cellar.lower.entries.values.map(\.text) == ["back"])
        }
    }

    @Test func successfulClearingForgetsFailedRemovals() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world)
            cellar.lower.set(nil, for: .remove)
            try await cellar.simulated.feed.clear()
            let count = cellar.lower.count(of: .remove)
            _ = try await cellar.simulated.start().failure()
            #expect(cellar.lower.count(of: .remove) == count)
        }
    }

    @Test func abandonedClearingDoesNotRemoveLaterCopy() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-first""#, validators: Self.windows,
                store: #"{ "use": "faulty", "limit": "1s" }"#)
            _ = try await simulated.feed.load()
            simulated.store.play(.takes(.seconds(40)), for: .remove)
            await #expect(throws: StoreError.self) { try await simulated.feed.clear() }
            #expect(world.uptime == .seconds(30))
            // The removal goes on, so nothing is saved that it would remove.
            let early = try await simulated.feed.load()
            #expect(early.text == "value" && !early.isStored)
            try await world.sleep(for: .seconds(10))
            #expect(simulated.store.entries.isEmpty)
            #expect(try await simulated.feed.load().isStored)
            try await world.sleep(for: .seconds(60))
            #expect(simulated.held() == "value")
        }
    }

    @Test func abandonedClearingDoesNotAffectOtherAccounts() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-first""#, store: #"{ "use": "faulty", "limit": "1s" }"#)
            simulated.store.play(.takes(.seconds(40)), for: .remove)
            await #expect(throws: StoreError.self) { try await simulated.feed.clear(.scope("a")) }
            #expect(try await simulated.feed.load(scope: "b").isStored)
            #expect(try await !simulated.feed.load(scope: "a").isStored)
            try await world.sleep(for: .seconds(60))
        }
    }

    @Test(arguments: [true, false]) func copiesOfFailedClearingAreNotServed(_ isStoreForeign: Bool)
        throws
    {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.windows, isStoreForeign: isStoreForeign)
            for scope in ["alice", "bob"] {
                simulated.stock("old", age: .seconds(60), for: simulated.key(scope: scope))
                #expect(try await simulated.feed.load(scope: scope).text == "old")
            }
            simulated.store.set(.fails, for: .remove)
            await #expect(throws: LoadError.self) { try await simulated.pantry.clear(.scope("alice")) }
            simulated.origin.play(then: .failure(.status(503)))
            #expect(try await simulated.start(scope: "alice").failure().status == 503)
            #expect(try await simulated.feed.load(scope: "bob").text == "old")
            simulated.store.set(nil, for: .remove)
            try await world.sleep(for: .seconds(2))
            _ = try await simulated.start(scope: "alice").failure()
            try await world.sleep(for: .seconds(2))
            #expect(simulated.held(simulated.key(scope: "alice")) == nil, "it was tried again")
            simulated.origin.play(then: .value("new"))
            #expect(try await simulated.feed.load(scope: "alice").text == "new")
            #expect(try await simulated.feed.load(scope: "alice").source == .store("faulty"))
        }
    }

    @Test func clearingReachesReplacedStoreThatLoadStillUses() throws {
        try SimulatedWorld().run { world in
            let next = FaultyStore("next", world: world)
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.windows, plugins: [next.plugin])
            simulated.stock("old", age: .seconds(60))
            simulated.origin.play(.value("slow", after: .seconds(60)))
            // Holds the former graph, and with it the store.
            let busy = simulated.start(["id": "busy"])
            try await world.settle()
            try await simulated.edit(#""store": "faulty""#, #""store": "next""#)
            try await simulated.pantry.clear()
            #expect(simulated.held() == nil)
            #expect(try await busy.value().isStored == false)
            #expect(simulated.held(simulated.key(["id": "busy"])) == nil)
        }
    }

    @Test func clearedFormerStoreDoesNotHideFailureOfPresentStore() throws {
        try SimulatedWorld().run { world in
            let next = FaultyStore("next", world: world)
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.windows, plugins: [next.plugin])
            simulated.origin.play(.value("slow", after: .seconds(60)))
            // Holds the former graph, and with it the store.
            let busy = simulated.start(["id": "busy"])
            try await world.settle()
            try await simulated.edit(#""store": "faulty""#, #""store": "next""#)
            simulated.origin.play(then: .value("old"))
            _ = try await simulated.feed.load()
            next.set(.fails, for: .remove)
            await #expect(throws: LoadError.self) { try await simulated.pantry.clear() }
            simulated.origin.play(then: .failure(.status(503)))
            #expect(try await simulated.start().failure().status == 503)
            _ = await busy.result()
        }
    }
}
