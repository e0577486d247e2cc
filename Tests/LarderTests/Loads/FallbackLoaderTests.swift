import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The fallbacks that answer when the origin fails and there is no copy.
@Suite struct FallbackTests {
    private func simulated(
        _ world: SimulatedWorld, _ acts: ScriptedOrigin.Act..., strategy: String = #""network-first""#,
        validators: String = "[]"
    ) async throws -> (SimulatedPantry, ScriptedOrigin) {
        let seed = ScriptedOrigin(world: world)
        for act in acts { seed.play(act) }
        let simulated = try await SimulatedPantry(
            world, strategy: strategy, validators: validators,
            fallbacks: #"["seed", { "use": "constant", "value": "last" }]"#, plugins: [seed.plugin("seed")])
        simulated.origin.play(then: .failure(.status(503)))
        return (simulated, seed)
    }

    @Test func fallbackAnswersStaleAndUnsavedIfOriginFails() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-first""#, fallbacks: #"[{ "use": "file", "path": "seed.txt" }]"#,
                files: ["seed.txt": "seed"])
            let store = simulated.store
            simulated.origin.play(then: .failure(.status(503)))
            let loaded = try await simulated.feed.load()
            #expect(loaded.text == "seed" && loaded.source == .fallback("file"))
            #expect(loaded.freshness == .stale && loaded.age == nil && loaded.fellBack && !loaded.isStored)
            #expect(store.entries.isEmpty && store.count(of: .write) == 0)
            #expect(loaded.trail.lines.contains { $0.hasPrefix("fallback file") })
        }
    }

    @Test func fallbackIsNotCalledIfOriginOrCopyAnswers() throws {
        try SimulatedWorld().run { world in
            let (simulated, seed) = try await simulated(world)
            simulated.origin.play(then: .value("live"))
            #expect(try await simulated.feed.load().text == "live")
            simulated.origin.play(then: .failure(.status(503)))
            #expect(try await simulated.feed.load().text == "live")
            #expect(seed.calls.isEmpty)
        }
    }

    @Test func fallbacksAreTriedInOrderUntilOneAnswers() throws {
        try SimulatedWorld().run { world in
            let (simulated, seed) = try await simulated(world, .value("one"), .failure(.status(500)))
            #expect(try await simulated.feed.load().source == .fallback("seed"))
            let second = try await simulated.feed.load()
            #expect(second.source == .fallback("constant") && second.text == #""last""#)
            #expect(seed.calls.count == 2)
        }
    }

    @Test func fallbackPayloadIsAdmittedAndDecoded() throws {
        try SimulatedWorld().run { world in
            let picky = Plugin.validator("picky", "Refuses what is bad.") { _ in Picky() }
            let seed = ScriptedOrigin([.value("bad"), .value("7")], world: world)
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-first""#, validators: #"["picky"]"#, fallbacks: #"["seed"]"#,
                plugins: [picky, seed.plugin("seed")])
            simulated.origin.play(then: .failure(.status(503)))
            #expect(try await simulated.start().failure().status == 503, "refused: the origin's own error")
            let strings = simulated.pantry.resource("feed", as: String.self)
            let undecodable = try await world.start { try await strings.load() }.failure()
            #expect(undecodable.status == 503, "undecodable: the origin's own error")
            #expect(seed.calls.count == 2)
        }
    }

    @Test func cachedOnlyCallsNoFallback() throws {
        try SimulatedWorld().run { world in
            let (simulated, seed) = try await simulated(world)
            #expect(try await simulated.start(mode: .cachedOnly).failure().code == .notCached)
            #expect(seed.calls.isEmpty && simulated.origin.calls.isEmpty)
        }
    }

    @Test func cancelledLoadCallsNoFallback() throws {
        try SimulatedWorld().run { world in
            let (simulated, seed) = try await simulated(world)
            simulated.origin.play(then: .hang)
            let load = simulated.start()
            try await world.settle()
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value() }
            #expect(seed.calls.isEmpty)
        }
    }

    @Test func fallbackOfCacheOnlyIsNotCountedAsOriginFailure() throws {
        try SimulatedWorld().run { world in
            let (simulated, _) = try await simulated(world, .value("seed"), strategy: #""cache-only""#)
            let loaded = try await simulated.feed.load()
            #expect(loaded.source == .fallback("seed") && !loaded.fellBack)
            #expect(simulated.origin.calls.isEmpty)
            #expect(simulated.feed.metrics.loads == 1 && simulated.feed.metrics.fallbackRate == 0)
        }
    }

    @Test func fallbackThatThrowsCancellationFailsAndNextIsTried() throws {
        try SimulatedWorld().run { world in
            let (simulated, _) = try await simulated(world, .throwing(CancellationError()))
            #expect(try await simulated.feed.load().source == .fallback("constant"))
            #expect(simulated.feed.metrics.cancelled == 0)
        }
    }
}
