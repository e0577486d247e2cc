import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The text of `Cache-Status` for each way in which a load can be answered.
@Suite struct CacheStatusTests {
    private static let validators = #"[{ "use": "age", "fresh": "60s", "onError": "1h" }]"#

    @Test func statusSaysHowTheValueWasFound() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "cache-first", "rest": "10s" }"#, validators: Self.validators,
                store: #""memory""#)
            simulated.origin.play(
                .answering { _ in Entry(Data("a".utf8), Metadata(etag: "e", status: 200)) }, .unchanged(),
                .failure(.status(503)))
            let feed = simulated.feed
            #expect(try await feed.load().cacheStatus == "Larder; fwd=miss; fwd-status=200; ttl=60; stored")
            try await world.sleep(for: .milliseconds(59_500))
            #expect(try await feed.load().cacheStatus == "Larder; hit; ttl=0")
            #expect(feed.answer(feed.request())?.cacheStatus == "Larder; hit; ttl=0")
            try await world.sleep(for: .seconds(1))
            #expect(try await feed.load().cacheStatus == "Larder; fwd=stale; fwd-status=304; ttl=60; stored")
            try await world.sleep(for: .seconds(61))
            #expect(try await feed.load().cacheStatus == "Larder; fwd=stale; ttl=-1; detail=fallback")
            #expect(try await feed.load().cacheStatus == "Larder; hit; ttl=-1; detail=fallback")
        }
    }

    @Test func callInSpiteOfAFreshCopyIsNamed() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.validators, store: #""memory""#)
            let answer = ScriptedOrigin.Act.value("a", etag: "e")
            simulated.origin.play(answer, .unchanged(), .unchanged(), answer, answer)
            let feed = simulated.feed
            _ = try await feed.load()
            #expect(try await feed.load(mode: .refresh).cacheStatus == "Larder; fwd=request; ttl=60; stored")
            let impatient = feed.request(mode: .refresh, noOlderThan: .zero)
            #expect(try await feed.load(impatient).cacheStatus == "Larder; fwd=request; ttl=60; stored")
            #expect(try await feed.load(mode: .refresh).cacheStatus == "Larder; fwd=request; ttl=60; stored")
            try await world.sleep(for: .seconds(60))
            #expect(try await feed.load(mode: .refresh).cacheStatus == "Larder; fwd=stale; ttl=60; stored")
        }
    }

    @Test func answerThatIsNotKeptOrHasNoLifetimeSaysSo() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-only""#, validators: "[]")
            #expect(try await simulated.feed.load().cacheStatus == "Larder; fwd=miss")
        }
    }

    @Test func sharedCallIsNamed() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.validators)
            simulated.origin.play(.value("a", after: .seconds(1)))
            let feed = simulated.feed
            let first = Started(world) { try await feed.load().cacheStatus }
            try await world.sleep(for: .milliseconds(1))
            #expect(try await feed.load().cacheStatus == "Larder; fwd=miss; ttl=60; stored; collapsed")
            #expect(try await first.value() == "Larder; fwd=miss; ttl=60; stored")
        }
    }

    @Test func fallbackIsNamed() throws {
        let policy = """
            { "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "faulty",
              "fallbacks": [{ "use": "constant", "value": 1 }] }
            """
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(["feed": policy], in: world)
            simulated.origin.play(then: .failure(.status(503)))
            let status = try await simulated.pantry.resource("feed").load().cacheStatus
            #expect(status == "Larder; fwd=miss; detail=fallback")
        }
    }
}
