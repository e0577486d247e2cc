import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The effect of a breaker on copies, metrics and reloads.
@Suite struct BreakerSurroundingsTests {
    private static func policy(
        failures: Int = 3, strategy: String = "network-first", about: String = "one", origin: String = "scripted"
    ) -> String {
        """
        { "resource": "feed", "about": "\(about)", "origin": "\(origin)", "strategy": { "use": "\(strategy)", "rest": "0s" }, "store": "faulty",
          "around": [{ "use": "breaker", "failures": \(failures), "rest": "30s" }],
          "validators": [{ "use": "age", "fresh": "5m", "onError": "1d" }] }
        """
    }

    private func simulated(_ world: SimulatedWorld) async throws -> SimulatedPantry {
        let other = ScriptedOrigin(then: .failure(.status(500)), world: world)
        let simulated = try await SimulatedPantry(
            world, strategy: #""network-first""#, plugins: [other.plugin("other")])
        simulated.origin.play(then: .failure(.status(503)))
        try await reload(simulated, Self.policy())
        return simulated
    }

    private func reload(_ simulated: SimulatedPantry, _ policy: String) async throws {
        #expect(try await simulated.pantry.replace(policies: ["feed": policy]).count == 1)
    }

    @Test func refusedLoadFallsBackAndCountsAsFallback() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.stock("old", age: .seconds(600))
            for _ in 0..<5 {
                let loaded = try await simulated.feed.load()
                #expect(loaded.text == "old" && loaded.freshness == .stale && loaded.fellBack)
            }
            let refused = try await simulated.feed.load()
            #expect(refused.trail.lines.contains { $0.contains("breaker open after 3 failures in a row") })
            let metrics = simulated.feed.metrics
            #expect(metrics.fallbackRate == 1 && metrics.hitRate == 0 && metrics.loads == 6)
            #expect(metrics.originCalls == 3 && metrics.originErrors == 3, "a call that was not made did not fail")
            #expect(try await simulated.start(["id": "1"]).failure().code == .unavailable)
        }
    }

    @Test func stateSurvivesReloadThatKeepsBreakerAndOrigin() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            for _ in 0..<3 { _ = await simulated.start().result() }
            try await reload(simulated, Self.policy(strategy: "network-only", about: "another"))
            #expect(try await simulated.start().failure().code == .unavailable && simulated.origin.calls.count == 3)
            try await world.sleep(for: .seconds(30))
            try await reload(simulated, Self.policy(strategy: "cache-first"))
            simulated.origin.play(.value("new", after: .seconds(1)))
            let probe = simulated.start()
            try await world.settle()
            try await reload(simulated, Self.policy(strategy: "network-first"))
            #expect(try await simulated.start(["id": "1"]).failure().code == .unavailable, "the one try is under way")
            #expect(try await probe.value().text == "new")
            #expect(try await simulated.start(["id": "1"]).failure().status == 503, "closed for the new policy too")
        }
    }

    private func level(_ simulated: SimulatedPantry) async -> String? {
        await simulated.pantry.metrics.dump().resources.first?.levels[.breaker]
    }

    @Test func levelIsThatOfBreakerWhoseProbeEndsAfterReload() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            for _ in 0..<3 { _ = await simulated.start().result() }
            #expect(await level(simulated) == "open")
            try await world.sleep(for: .seconds(30))
            simulated.origin.play(.value("new", after: .seconds(1)))
            let probe = simulated.start()
            try await world.settle()
            try await reload(simulated, Self.policy(strategy: "cache-first"))
            #expect(await level(simulated) == "half-open")
            _ = try await probe.value()
            #expect(await level(simulated) == "closed")
        }
    }

    @Test func levelIsNotThatOfBreakerThatReloadReplaced() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            for _ in 0..<3 { _ = await simulated.start().result() }
            try await world.sleep(for: .seconds(30))
            simulated.origin.play(.failure(.status(503), after: .seconds(1)))
            let probe = simulated.start()
            try await world.settle()
            try await reload(simulated, Self.policy(failures: 4))
            _ = await probe.result()
            #expect(await level(simulated) == "closed")
            let refused = ["feed": Self.policy(failures: 5), "_larder": "{"]
            await #expect(throws: PolicyError.self) { try await simulated.pantry.replace(policies: refused) }
            #expect(await level(simulated) == "closed")
        }
    }

    @Test(arguments: [policy(failures: 4), policy(origin: "other")])
    func reloadThatChangesBreakerOrOriginResetsState(_ policy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            for _ in 0..<3 { _ = await simulated.start().result() }
            #expect(try await simulated.start().failure().code == .unavailable)
            try await reload(simulated, policy)
            #expect(try await simulated.start().failure().code == .failed)
            // Back to what was: what it had learned went with the graph that knew it.
            try await reload(simulated, Self.policy())
            #expect(try await simulated.start().failure().status == 503)
        }
    }
}
