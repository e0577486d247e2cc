import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// What stands in when the origin and the copy fail.
@Suite struct FallbackTests {
    private func kitchen(
        _ world: SimulatedWorld, _ acts: ScriptedOrigin.Act..., strategy: String = #""network-first""#,
        validators: String = "[]"
    ) async throws -> (Kitchen, ScriptedOrigin) {
        let seed = ScriptedOrigin(world: world)
        for act in acts { seed.play(act) }
        let kitchen = try await Kitchen(
            world, strategy: strategy, validators: validators,
            fallbacks: #"["seed", { "use": "constant", "value": "last" }]"#, plugins: [seed.plugin("seed")])
        kitchen.origin.play(then: .failure(.status(503)))
        return (kitchen, seed)
    }

    @Test func whenThePrimaryFailsTheFileStandsInStaleOfUnknownAgeAndUnsaved() throws {
        try SimulatedWorld().run { world in
            let folder = try Folder()
            try folder.write(
                """
                { "resource": "feed", "origin": "scripted", "strategy": "network-first", "store": "faulty",
                  "fallbacks": [{ "use": "file", "path": "seed.txt" }] }
                """, to: "feed.json")
            try folder.write("seed", to: "seed.txt")
            let store = FaultyStore(world: world)
            var registry = Registry.standard
            let origin = ScriptedOrigin(then: .failure(.status(503)), world: world)
            try registry.register(origin.plugin("scripted"))
            try registry.register(store.plugin)
            let pantry = try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
            let loaded = try await pantry.resource("feed").load()
            #expect(loaded.text == "seed" && loaded.source == .fallback("file"))
            #expect(loaded.freshness == .stale && loaded.age == nil && loaded.fellBack && !loaded.isStored)
            #expect(store.entries.isEmpty && store.count(of: .write) == 0)
            #expect(loaded.trail.lines.contains { $0.hasPrefix("fallback file") })
        }
    }

    @Test func aFallbackIsNotAskedWhileTheOriginOrACopyAnswers() throws {
        try SimulatedWorld().run { world in
            let (kitchen, seed) = try await kitchen(world)
            kitchen.origin.play(then: .value("live"))
            #expect(try await kitchen.feed.load().text == "live")
            kitchen.origin.play(then: .failure(.status(503)))
            #expect(try await kitchen.feed.load().text == "live")
            #expect(seed.calls.isEmpty)
        }
    }

    @Test func fallbacksAreTriedInOrderUntilOneAnswers() throws {
        try SimulatedWorld().run { world in
            let (kitchen, seed) = try await kitchen(world, .value("one"), .failure(.status(500)))
            #expect(try await kitchen.feed.load().source == .fallback("seed"))
            let second = try await kitchen.feed.load()
            #expect(second.source == .fallback("constant") && second.text == #""last""#)
            #expect(seed.calls.count == 2)
        }
    }

    @Test func whatAFallbackGivesIsAdmittedAndDecoded() throws {
        try SimulatedWorld().run { world in
            let picky = Plugin.validator("picky", "Refuses what is bad.") { _ in Picky() }
            let seed = ScriptedOrigin([.value("bad"), .value("7")], world: world)
            let kitchen = try await Kitchen(
                world, strategy: #""network-first""#, validators: #"["picky"]"#, fallbacks: #"["seed"]"#,
                plugins: [picky, seed.plugin("seed")])
            kitchen.origin.play(then: .failure(.status(503)))
            #expect(try await kitchen.start().failure().status == 503, "refused: the origin's own error")
            let strings = kitchen.pantry.resource("feed", as: String.self)
            let undecodable = try await world.start { try await strings.load() }.failure()
            #expect(undecodable.status == 503, "undecodable: the origin's own error")
            #expect(seed.calls.count == 2)
        }
    }

    @Test func cachedOnlyAsksNoFallback() throws {
        try SimulatedWorld().run { world in
            let (kitchen, seed) = try await kitchen(world)
            #expect(try await kitchen.start(mode: .cachedOnly).failure().code == .notCached)
            #expect(seed.calls.isEmpty && kitchen.origin.calls.isEmpty)
        }
    }

    @Test func cancellingTheLoadAsksNoFallback() throws {
        try SimulatedWorld().run { world in
            let (kitchen, seed) = try await kitchen(world)
            kitchen.origin.play(then: .hang)
            let load = kitchen.start()
            try await world.settle()
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value() }
            #expect(seed.calls.isEmpty)
        }
    }

    @Test func whereNoCallWasToBeMadeAFallbackIsNoFailureOfTheOrigin() throws {
        try SimulatedWorld().run { world in
            let (kitchen, _) = try await kitchen(world, .value("seed"), strategy: #""cache-only""#)
            let loaded = try await kitchen.feed.load()
            #expect(loaded.source == .fallback("seed") && !loaded.fellBack)
            #expect(kitchen.origin.calls.isEmpty)
            #expect(kitchen.feed.metrics.loads == 1 && kitchen.feed.metrics.fallbackRate == 0)
        }
    }

    @Test func aFallbackThatCancelsItselfHasFailedAndTheNextIsAsked() throws {
        try SimulatedWorld().run { world in
            let (kitchen, _) = try await kitchen(world, .throwing(CancellationError()))
            #expect(try await kitchen.feed.load().source == .fallback("constant"))
            #expect(kitchen.feed.metrics.cancelled == 0)
        }
    }
}
