import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// Copies that the origin calls gone stay gone, and a removal deletes nothing that was saved after it.
@Suite struct RemovalTests {
    private static let windows = #"[{ "use": "age", "fresh": "1h", "onError": "7d" }]"#

    private struct Cellar {
        let upper: FaultyStore
        let lower: FaultyStore
        let kitchen: Kitchen

        /// Two tiers that hold `old`, of which the lower one cannot remove it when the origin says that it is gone.
        init(_ world: SimulatedWorld, upperFails: Bool = false) async throws {
            upper = FaultyStore("upper", isForeign: false, world: world)
            lower = FaultyStore("lower", world: world)
            kitchen = try await Kitchen(
                world, strategy: #""cache-first""#, validators: RemovalTests.windows,
                store: #"{ "use": "tiered", "tiers": ["upper", "lower"] }"#, plugins: [upper.plugin, lower.plugin])
            kitchen.origin.play(then: .failure(.status(503)))
            kitchen.origin.play(.value("old"), .failure(.status(404)))
            _ = try await kitchen.feed.load()
            (upperFails ? upper : lower).set(.fails, for: .remove)
            #expect(try await kitchen.start(mode: .refresh).failure().status == 404)
        }
    }

    @Test func goneCopyIsNotShownInTheNextOutageThoughOneTierCouldNotRemoveIt() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world)
            let feed = cellar.kitchen.feed
            #expect(cellar.lower.entries.count == 1)
            #expect(try await cellar.kitchen.start().failure().status == 503)
            #expect(try await !feed.contains() && cellar.upper.entries.isEmpty)
            // The removal is tried again at every look, and holds once it has worked.
            #expect(cellar.lower.count(of: .remove) == 3)
            cellar.lower.set(nil, for: .remove)
            #expect(try await cellar.kitchen.start().failure().status == 503)
            try await world.settle()
            #expect(cellar.lower.entries.isEmpty)
            let count = cellar.lower.count(of: .remove)
            #expect(try await cellar.kitchen.start().failure().status == 503)
            #expect(cellar.lower.count(of: .remove) == count)
        }
    }

    @Test func goneCopyInMemoryIsNotAnsweredAtOnce() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world, upperFails: true)
            let request = cellar.kitchen.feed.request()
            #expect(cellar.upper.entries.count == 1)
            #expect(cellar.kitchen.feed.answer(request) == nil)
            #expect(cellar.upper.count(of: .remove) == 1, "an answer of nil leaves no trace")
            let other = cellar.kitchen.feed.request(["id": "2"])
            cellar.kitchen.origin.play(.value("other"))
            _ = try await cellar.kitchen.feed.load(other)
            #expect(cellar.kitchen.feed.answer(other)?.text == "other")
        }
    }

    @Test func whatIsSavedAfterItWasGoneIsShown() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world, upperFails: true)
            cellar.kitchen.origin.play(.value("back"))
            #expect(try await cellar.kitchen.feed.load().text == "back")
            try await world.settle()
            #expect(cellar.kitchen.feed.answer(cellar.kitchen.feed.request())?.text == "back")
            #expect(cellar.lower.entries.values.map(\.text) == ["back"])
        }
    }

    @Test func clearingThatWorksEndsWhatIsRemembered() throws {
        try SimulatedWorld().run { world in
            let cellar = try await Cellar(world)
            cellar.lower.set(nil, for: .remove)
            try await cellar.kitchen.feed.clear()
            let count = cellar.lower.count(of: .remove)
            _ = try await cellar.kitchen.start().failure()
            #expect(cellar.lower.count(of: .remove) == count)
        }
    }

    @Test func copySavedAfterAClearingThatWasGivenUpIsNotRemovedByIt() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #""network-first""#, validators: Self.windows,
                store: #"{ "use": "faulty", "limit": "1s" }"#)
            _ = try await kitchen.feed.load()
            kitchen.store.play(.takes(.seconds(10)), for: .remove)
            await #expect(throws: StoreError.self) { try await kitchen.feed.clear() }
            #expect(world.uptime == .seconds(1))
            // The removal goes on, so nothing is saved that it would remove.
            let early = try await kitchen.feed.load()
            #expect(early.text == "value" && !early.isStored)
            try await world.sleep(for: .seconds(10))
            #expect(kitchen.store.entries.isEmpty)
            #expect(try await kitchen.feed.load().isStored)
            try await world.sleep(for: .seconds(60))
            #expect(kitchen.held() == "value")
        }
    }

    @Test func clearingOfOneAccountThatWasGivenUpHindersNoOther() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #""network-first""#, store: #"{ "use": "faulty", "limit": "1s" }"#)
            kitchen.store.play(.takes(.seconds(10)), for: .remove)
            await #expect(throws: StoreError.self) { try await kitchen.feed.clear(scope: "a") }
            #expect(try await kitchen.feed.load(scope: "b").isStored)
            #expect(try await !kitchen.feed.load(scope: "a").isStored)
            try await world.sleep(for: .seconds(60))
        }
    }

    @Test(arguments: [true, false]) func whatAFailedClearingSelectsIsNotShownUntilItIsCleared(_ foreignStore: Bool)
        throws
    {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #""cache-first""#, validators: Self.windows, foreignStore: foreignStore)
            for scope in ["alice", "bob"] {
                kitchen.stock("old", age: .seconds(60), kitchen.key(scope: scope))
                #expect(try await kitchen.feed.load(scope: scope).text == "old")
            }
            kitchen.store.set(.fails, for: .remove)
            await #expect(throws: LoadError.self) { try await kitchen.pantry.clear(scope: "alice") }
            kitchen.origin.play(then: .failure(.status(503)))
            #expect(try await kitchen.start(scope: "alice").failure().status == 503)
            #expect(try await kitchen.feed.load(scope: "bob").text == "old")
            kitchen.store.set(nil, for: .remove)
            try await world.sleep(for: .seconds(2))
            _ = try await kitchen.start(scope: "alice").failure()
            try await world.sleep(for: .seconds(2))
            #expect(kitchen.held(kitchen.key(scope: "alice")) == nil, "it was tried again")
            kitchen.origin.play(then: .value("new"))
            #expect(try await kitchen.feed.load(scope: "alice").text == "new")
            #expect(try await kitchen.feed.load(scope: "alice").source == .store("faulty"))
        }
    }

    @Test func aFormerStoreThatIsClearedDoesNotExcuseThePresentOne() throws {
        try SimulatedWorld().run { world in
            let next = FaultyStore("next", world: world)
            let kitchen = try await Kitchen(
                world, strategy: #""cache-first""#, validators: Self.windows, plugins: [next.plugin])
            kitchen.origin.play(.value("slow", after: .seconds(60)))
            // Holds the former graph, and with it the store.
            let busy = kitchen.start(["id": "busy"])
            try await world.settle()
            try kitchen.folder.edit("feed.json", #""store": "faulty""#, #""store": "next""#)
            try await kitchen.pantry.reload()
            kitchen.origin.play(then: .value("old"))
            _ = try await kitchen.feed.load()
            next.set(.fails, for: .remove)
            await #expect(throws: LoadError.self) { try await kitchen.pantry.clear() }
            kitchen.origin.play(then: .failure(.status(503)))
            #expect(try await kitchen.start().failure().status == 503)
            _ = await busy.result()
        }
    }
}
