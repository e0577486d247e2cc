import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderPlugins

/// The log of decisions.
@Suite struct DecisionTests {
    private static let canary = "canary-5d1e"
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#

    /// The decisions of a story so far.
    private static func decisions(_ simulated: SimulatedPantry, _ story: () async throws -> Void) async throws
        -> [Decision]
    {
        var decisions: [Decision] = []
        var stream = simulated.pantry.decisions.makeAsyncIterator()
        try await story()
        // Something that is surely told ends it.
        try await simulated.edit("\"resource\": \"feed\"", "\"resource\": \"feed\", \"about\": \"the end\"")
        while let decision = await stream.next(), decision.kind != .policy { decisions.append(decision) }
        return decisions
    }

    @Test func plainLoadsAreNotReported() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.windows)
            let decisions = try await Self.decisions(simulated) {
                for _ in 0..<3 { _ = try await simulated.feed.load() }
            }
            #expect(decisions.isEmpty)
        }
    }

    @Test func everyKindOfDecisionIsReported() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""stale-while-revalidate""#, validators: Self.windows,
                around: #"[{ "use": "breaker", "failures": 2, "rest": "30s" }]"#)
            let id: Parameters = ["id": Self.canary]
            let decisions = try await Self.decisions(simulated) {
                simulated.origin.play(.value(Self.canary, etag: Self.canary))
                _ = try await simulated.feed.load(id)
                try await world.sleep(for: .seconds(600))
                simulated.origin.play(.failure(.status(503)), .failure(.status(500)))
                // Stale, and the refresh fails.
                _ = try await simulated.feed.load(id)
                try await world.sleep(for: .seconds(4_000))
                // Beyond the window: the call fails, which opens the breaker, and the copy stands in.
                _ = try await simulated.feed.load(id)
                _ = try? await simulated.feed.load(["id": "other"])
                try await world.sleep(for: .seconds(31))
                simulated.store.set(.fails, for: .write)
                _ = try await simulated.feed.load(["id": "other"])
            }
            #expect(
                decisions.map(\.kind)
                    == [.stale, .breaker, .fallback, .failed, .breaker, .breaker, .storeFault])
            #expect(decisions.allSatisfy { $0.resource == "feed" && $0.revision?.isEmpty == false })
            #expect(decisions[1].note == "closed → open" && decisions[4].note == "open → half-open")
            let text = decisions.map { $0.json.text(indented: false) }.joined(separator: "\n")
            #expect(!text.contains(Self.canary) && text.contains("\"error\":\"unavailable\""))
            #expect(text.split(separator: "\n").count == decisions.count)
        }
    }

    @Test func breakerOpeningsAndOpenTimeAreCounted() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-first""#, around: #"[{ "use": "breaker", "failures": 1, "rest": "30s" }]"#)
            simulated.origin.play(.failure(.status(503)))
            for _ in 0..<3 { _ = try? await simulated.feed.load() }
            let dump = await simulated.pantry.metrics.dump()
            #expect(dump.resources[0].levels[.breaker] == "open")
            #expect(dump.prometheus.contains(#"larder_breaker_open{resource="feed"} 1"#))
            try await world.sleep(for: .seconds(40))
            _ = try await simulated.feed.load()
            let metrics = simulated.feed.metrics
            #expect(metrics[.breakerOpenings] == 1 && metrics[.breakerRefusals] == 2)
            #expect(metrics[.breakerOpenMilliseconds] == 40_000)
            #expect(await simulated.pantry.metrics.dump().resources[0].levels[.breaker] == "closed")
        }
    }

    @Test func retriesAndHedgesAreCounted() throws {
        try SimulatedWorld().run { world in
            let retrying = try await SimulatedPantry(
                world, strategy: #""network-only""#, around: #"[{ "use": "retry", "retries": 3, "backoff": "1s" }]"#)
            retrying.origin.play(.failure(.status(503)), .failure(.status(503)))
            _ = try await retrying.feed.load()
            #expect(retrying.feed.metrics[.retries] == 2)
            let hedging = try await SimulatedPantry(
                world, strategy: #""network-only""#, around: #"[{ "use": "hedge", "after": "100ms" }]"#)
            let slow = ScriptedOrigin.Act.value("slow", after: .seconds(1))
            // The second call wins, then the first one, then no second call is made.
            hedging.origin.play(slow, .value("quick"), .value("first", after: .milliseconds(200)), slow)
            for _ in 0..<3 { _ = try await hedging.feed.load() }
            #expect(hedging.feed.metrics[.hedges] == 2 && hedging.feed.metrics[.hedgesWon] == 1)
        }
    }

    @Test(arguments: [(#""off""#, 0...0), (#""all""#, 200...200), (#""10%""#, 5...50), ("0.5", 70...130)])
    func policySetsWhichLoadsAreReported(_ share: String, _ expected: ClosedRange<Int>) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-only""#)
            try await simulated.edit("\"resource\"", "\"log\": \(share), \"resource\"")
            let decisions = try await Self.decisions(simulated) {
                for _ in 0..<200 { _ = try? await simulated.feed.load(mode: .normal) }
            }
            #expect(expected.contains(decisions.count), "\(decisions.count)")
        }
    }

    @Test func refusedPoliciesAreReported() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            var stream = simulated.pantry.decisions.makeAsyncIterator()
            await #expect(throws: PolicyError.self) { try await simulated.edit("cache-first", "cash-first") }
            let decision = await stream.next()
            #expect(decision?.kind == .refused && decision?.resource == nil)
            #expect(decision?.note.contains("unknown strategy 'cash-first'") == true)
        }
    }

    @Test func sinkReceivesLoadsUntilDetached() throws {
        final class Ear: MetricsSink {
            let heard = Locked<[LoadReport]>([])
            func ended(_ load: LoadReport) { heard.withLock { $0.append(load) } }
        }
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, store: #""memory""#)
            let ear = Ear()
            let attachment = simulated.pantry.attach(ear)
            _ = try await simulated.feed.load()
            _ = try await simulated.feed.load()
            attachment.stop()
            _ = try await simulated.feed.load()
            #expect(ear.heard.withLock { $0.map(\.outcome) } == [.live, .fresh])
        }
    }
}
