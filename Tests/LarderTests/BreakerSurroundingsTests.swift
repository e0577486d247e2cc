import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// What a breaker means for those around it: copies that stand in, metrics, reloads.
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

    private func kitchen(_ world: SimulatedWorld) async throws -> Kitchen {
        let other = ScriptedOrigin(then: .failure(.status(500)), world: world)
        let kitchen = try await Kitchen(world, strategy: #""network-first""#, plugins: [other.plugin("other")])
        kitchen.origin.play(then: .failure(.status(503)))
        try await reload(kitchen, Self.policy())
        return kitchen
    }

    private func reload(_ kitchen: Kitchen, _ policy: String) async throws {
        try kitchen.folder.write(policy, to: "feed.json")
        #expect(try await kitchen.pantry.reload().count == 1)
    }

    @Test func aRefusedLoadFallsBackAndCountsAsOneThatDid() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.stock("old", age: .seconds(600))
            for _ in 0..<5 {
                let loaded = try await kitchen.feed.load()
                #expect(loaded.text == "old" && loaded.freshness == .stale && loaded.fellBack)
            }
            let refused = try await kitchen.feed.load()
            #expect(refused.trail.lines.contains { $0.contains("breaker open after 3 failures in a row") })
            let metrics = kitchen.feed.metrics
            #expect(metrics.fallbackRate == 1 && metrics.hitRate == 0 && metrics.loads == 6)
            #expect(metrics.originCalls == 3 && metrics.originErrors == 3, "a call that was not made did not fail")
            #expect(try await kitchen.start(["id": "1"]).failure().code == .unavailable)
        }
    }

    @Test func whatItLearnedSurvivesReloadsThatLeaveItAndItsOriginAlone() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            for _ in 0..<3 { _ = await kitchen.start().result() }
            try await reload(kitchen, Self.policy(strategy: "network-only", about: "another"))
            #expect(try await kitchen.start().failure().code == .unavailable && kitchen.origin.calls.count == 3)
            try await world.sleep(for: .seconds(30))
            try await reload(kitchen, Self.policy(strategy: "cache-first"))
            kitchen.origin.play(.value("new", after: .seconds(1)))
            let probe = kitchen.start()
            try await world.settle()
            try await reload(kitchen, Self.policy(strategy: "network-first"))
            #expect(try await kitchen.start(["id": "1"]).failure().code == .unavailable, "the one try is under way")
            #expect(try await probe.value().text == "new")
            #expect(try await kitchen.start(["id": "1"]).failure().status == 503, "closed for the new policy too")
        }
    }

    @Test(arguments: [policy(failures: 4), policy(origin: "other")])
    func aReloadThatChangesItOrItsOriginBeginsAnew(_ policy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            for _ in 0..<3 { _ = await kitchen.start().result() }
            #expect(try await kitchen.start().failure().code == .unavailable)
            try await reload(kitchen, policy)
            #expect(try await kitchen.start().failure().code == .failed)
            // Back to what was: what it had learned went with the graph that knew it.
            try await reload(kitchen, Self.policy())
            #expect(try await kitchen.start().failure().status == 503)
        }
    }
}
