import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// Which answers may be saved: never an older one over a newer, never one from before a clearing.
@Suite struct OrderTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#

    // MARK: Newer is whose call began later

    @Test func aLateAnswerNeverOverwritesOneWhoseCallBeganLater() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#)
            let strings = kitchen.pantry.resource("feed", as: String.self)
            kitchen.origin.play(
                .value(#""first""#, after: .milliseconds(100)), .value(#""second""#, after: .milliseconds(20)))
            let first = kitchen.start()
            try await world.sleep(for: .milliseconds(10))
            let second = try await strings.load()
            #expect(second.value == "second" && second.isStored && kitchen.held() == #""second""#)
            let late = try await first.value()
            #expect(late.text == #""first""# && late.source == .origin && !late.isStored)
            #expect(kitchen.held() == #""second""# && kitchen.store.bodyWrites == 1)
            #expect(kitchen.origin.calls.count == 2, "two codecs, two flights of one key")
        }
    }

    @Test func anAnswerInTimeIsReplacedByTheNewerOne() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#)
            let strings = kitchen.pantry.resource("feed", as: String.self)
            kitchen.origin.play(
                .value(#""first""#, after: .milliseconds(50)), .value(#""second""#, after: .milliseconds(100)))
            let first = kitchen.start()
            let second = world.start { try await strings.load() }
            #expect(try await first.value().isStored)
            #expect(try await second.value().isStored && kitchen.held() == #""second""#)
        }
    }

    @Test func aLateAnswerThatItIsGoneDoesNotDropANewerEntry() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#)
            let strings = kitchen.pantry.resource("feed", as: String.self)
            kitchen.origin.play(
                .failure(.status(404), after: .milliseconds(100)), .value(#""second""#, after: .milliseconds(20)))
            let first = kitchen.start()
            try await world.settle()
            _ = try await strings.load()
            #expect(try await first.failure().status == 404)
            #expect(kitchen.held() == #""second""#)
        }
    }

    @Test func aLateAnswerDoesNotBringBackWhatANewerOneSaysIsGone() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#)
            let strings = kitchen.pantry.resource("feed", as: String.self)
            kitchen.origin.play(
                .value(#""first""#, after: .milliseconds(100)), .failure(.status(410), after: .milliseconds(20)))
            let first = kitchen.start()
            try await world.settle()
            #expect(try await world.start { try await strings.load() }.failure().status == 410)
            #expect(try await !first.value().isStored)
            #expect(kitchen.held() == nil)
        }
    }

    @Test func aNewerAnswerThatReachedOnlyOneTierIsNotOverwrittenEither() throws {
        try SimulatedWorld().run { world in
            let broken = FaultyStore("broken", world: world)
            broken.set(.fails, for: .write)
            let folder = try Folder()
            try folder.write(
                """
                { "resource": "feed", "origin": "scripted", "strategy": "network-first",
                  "store": { "use": "tiered", "tiers": ["faulty", "broken"] } }
                """, to: "feed.json")
            let store = FaultyStore(world: world)
            let origin = ScriptedOrigin(
                [.value(#""first""#, after: .milliseconds(100)), .value(#""second""#, after: .milliseconds(20))],
                world: world)
            var registry = Registry.standard
            for plugin in [origin.plugin("scripted"), store.plugin, broken.plugin] { try registry.register(plugin) }
            let pantry = try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
            let first = world.start { try await pantry.resource("feed").load() }
            try await world.settle()
            #expect(try await pantry.resource("feed", as: String.self).load().isStored)
            #expect(try await !first.value().isStored)
            #expect(store.entries.values.map { String(decoding: $0.payload.bytes, as: UTF8.self) } == [#""second""#])
        }
    }

    // MARK: Clearing

    @Test func whatACallBegunBeforeAClearingBringsIsDeliveredAndNotSaved() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#)
            kitchen.origin.play(
                .value("before", after: .milliseconds(100)), .value("after", after: .milliseconds(20)))
            let before = kitchen.start()
            try await world.sleep(for: .milliseconds(10))
            try await kitchen.feed.clear()
            let after = try await kitchen.feed.load()
            #expect(after.text == "after" && after.isStored, "a load begun after the clearing starts a call of its own")
            let late = try await before.value()
            #expect(late.text == "before" && !late.isStored)
            #expect(kitchen.held() == "after" && kitchen.origin.calls.count == 2)
        }
    }

    @Test(arguments: FlightTests.strategies)
    func aLoadBegunBeforeAClearingSavesNothingEvenIfItsCallBeginsAfter(_ strategy: String) throws {
        for etag in [nil, "e1"] {
            try SimulatedWorld().run { world in
                let kitchen = try await Kitchen(world, strategy: strategy, validators: Self.windows)
                kitchen.stock("old", age: .seconds(7_200), etag: etag)
                kitchen.store.set(.takes(.milliseconds(20)), for: .read)
                kitchen.origin.play(then: etag == nil ? .value("new") : .unchanged())
                let load = kitchen.start()
                try await world.sleep(for: .milliseconds(10))
                try await kitchen.feed.clear()
                _ = await load.result()
                #expect(kitchen.held() == nil)
            }
        }
    }

    @Test func loadsThatAClearingOvertakesShareOneCallThatNoLaterLoadJoins() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#)
            kitchen.store.set(.takes(.milliseconds(20)), for: .read)
            kitchen.origin.play(.value("before", after: .seconds(1)), .value("after", after: .milliseconds(10)))
            let before = (0..<100).map { _ in kitchen.start() }
            try await world.sleep(for: .milliseconds(10))
            try await kitchen.feed.clear()
            try await world.sleep(for: .milliseconds(20))
            let after = try await kitchen.feed.load()
            #expect(after.text == "after" && after.isStored)
            for load in before { #expect(try await load.value().text == "before") }
            #expect(kitchen.origin.calls.count == 2 && kitchen.held() == "after")
        }
    }

    @Test func aLoadFollowedByAClearingAtOnceSavesNothing() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#)
            let feed = kitchen.feed
            // Both on one actor: the load is called first, so it began first.
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await feed.load() }
                group.addTask { try await feed.clear() }
                try await group.waitForAll()
            }
            #expect(kitchen.held() == nil && kitchen.origin.calls.count == 1)
        }
    }

    @Test func aClearingWaitsForAWriteUnderWayAndThenRemovesIt() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#)
            kitchen.store.set(.takes(.milliseconds(50)), for: .write)
            let load = kitchen.start()
            try await world.sleep(for: .milliseconds(10))
            try await kitchen.feed.clear()
            #expect(world.uptime == .milliseconds(50))
            _ = try await load.value()
            #expect(kitchen.held() == nil)
        }
    }
}
