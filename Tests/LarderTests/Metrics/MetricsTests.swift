import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The rates, compared with results computed by hand.
@Suite struct MetricsTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#

    private func simulated(_ world: SimulatedWorld, _ strategy: String, fallbacks: String = "[]") async throws
        -> SimulatedPantry
    {
        try await SimulatedPantry(
            world, strategy: #"{ "use": "\#(strategy)", "patience": "100ms", "rest": "0s" }"#, validators: Self.windows,
            fallbacks: fallbacks)
    }

    @Test func ratesOfScriptedRunMatchManualResults() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, "cache-first")
            let feed = simulated.feed
            let failing = ScriptedOrigin.Act.failure(.status(503), after: .milliseconds(30))
            // 1 live, 2 hits.
            simulated.origin.play(.value("one", after: .milliseconds(50)))
            for _ in 1...3 { _ = try await feed.load() }
            // 2 stale copies replace failed calls, 1 replaces a slow call.
            world.stepClock(by: .seconds(600))
            simulated.origin.play(failing, failing, .hang)
            for _ in 1...3 { #expect(try await feed.load().fellBack) }
            // 2 failures: one beside a copy that is too old, one with nothing cached.
            world.stepClock(by: .seconds(8 * 86_400))
            try await world.sleep(for: .seconds(61))
            simulated.origin.play(failing, failing)
            _ = try await simulated.start().failure()
            _ = try await simulated.start(["id": "2"]).failure()

            let metrics = feed.metrics
            #expect(metrics.loads == 8 && metrics.hits == 2 && metrics.fallbacks == 3 && metrics.stale == 3)
            #expect(metrics.failures == 2 && metrics.staleErrors == 1)
            #expect(metrics.hitRate == 2.0 / 8 && metrics.fallbackRate == 3.0 / 8 && metrics.staleRate == 3.0 / 8)
            #expect(metrics.staleErrorRate == 1.0 / 8 && metrics.revalidationErrorRate == 0)
            #expect(metrics.originCalls == 6 && metrics.originErrors == 4)
            #expect(metrics.latency.mapValues(\.count) == [.live: 1, .fresh: 2, .fallback: 3, .failed: 2])
            #expect(metrics.load(percentile: 1)?.isAbout(.milliseconds(100)) == true)
            #expect(metrics.latency[.live]?.percentile(0.5)?.isAbout(.milliseconds(50)) == true)
            #expect(metrics.latency[.failed]?.percentile(1)?.isAbout(.milliseconds(30)) == true)
            #expect(simulated.pantry.metrics["feed"] == metrics)
        }
    }

    @Test func backgroundRefreshesAreCountedSeparately() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, "stale-while-revalidate")
            simulated.stock("old", age: .seconds(600), etag: "e1")
            simulated.origin.play(.failure(.status(503)), .failure(.status(503)), .failure(.status(503)), .unchanged())
            for wait in [1, 2, 4, 8] {
                #expect(try await simulated.feed.load().freshness == .stale)
                try await world.sleep(for: .seconds(wait))
            }
            _ = try await simulated.feed.load()
            let metrics = simulated.feed.metrics
            #expect(metrics.refreshes == 4 && metrics.refreshErrors == 3 && metrics.revalidationErrorRate == 0.75)
            #expect(metrics.loads == 5 && metrics.hitRate == 1 && metrics.staleRate == 0.8)
            #expect(metrics.fallbackRate == 0 && metrics.unchanged == 1)
        }
    }

    @Test func cancelledAndCachedOnlyLoadsAreInNoRate() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, "cache-first")
            simulated.stock("old", age: .zero)
            _ = try await simulated.feed.load()
            let before = simulated.feed.metrics
            _ = try await simulated.feed.load(mode: .cachedOnly)
            _ = try await simulated.start(["id": "2"], mode: .cachedOnly).failure()
            simulated.origin.play(.hang)
            let load = simulated.start(["id": "3"])
            try await world.settle()
            load.cancel()
            _ = await load.result()
            let metrics = simulated.feed.metrics
            #expect(metrics.cachedOnly == 2 && metrics.cancelled == 1)
            #expect(metrics.loads == 1 && metrics.failures == 0 && metrics.hitRate == 1)
            #expect(metrics.latency == before.latency)
        }
    }

    @Test(arguments: [true, false]) func latencyIsSplitByOutcome(_ isStoreForeign: Bool) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "stale-while-revalidate", "rest": "0s" }"#, validators: Self.windows,
                fallbacks: #"[{ "use": "constant", "value": 1 }]"#, isStoreForeign: isStoreForeign)
            simulated.origin.play(then: .failure(.status(503)))
            // Live, fresh, stale, a copy in the place of a failed call, a fallback, and failed.
            simulated.origin.play(.value("new"))
            _ = try await simulated.feed.load()
            _ = try await simulated.feed.load()
            world.stepClock(by: .seconds(600))
            for _ in 1...2 { #expect(try await simulated.feed.load().freshness == .stale) }
            world.stepClock(by: .seconds(86_400))
            #expect(try await simulated.feed.load().source == .store("faulty"))
            world.stepClock(by: .seconds(30 * 86_400))
            #expect(try await simulated.feed.load().source == .fallback("constant"))
            simulated.origin.play(.failure(.status(403)))
            _ = try await simulated.start().failure()
            #expect(
                simulated.feed.metrics.latency.mapValues(\.count)
                    == [.live: 1, .fresh: 1, .stale: 2, .fallback: 2, .failed: 1])
        }
    }

    @Test func percentilesOfLoadsIncludeEveryOutcome() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, "cache-first")
            for (number, act) in [
                ScriptedOrigin.Act.value("new", after: .milliseconds(10)),
                .failure(.status(503), after: .milliseconds(90)),
            ].enumerated() {
                simulated.origin.play(act)
                _ = await simulated.start(["id": "\(number)"]).result()
            }
            let metrics = simulated.feed.metrics
            #expect(metrics.load(percentile: 0.5)?.isAbout(.milliseconds(10)) == true)
            #expect(metrics.load(percentile: 0.95)?.isAbout(.milliseconds(90)) == true)
        }
    }

    @Test func immediateHitCountsInFirstBucket() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, isStoreForeign: false)
            simulated.stock("old", age: .zero)
            for _ in 1...5 { _ = try await simulated.feed.load() }
            let metrics = simulated.feed.metrics
            #expect(metrics.loads == 5 && metrics.hits == 5 && metrics.hitRate == 1)
            #expect(metrics.latency[.fresh]?.percentile(1) == .microseconds(1))
            #expect(simulated.store.count(of: .read) == 0)
        }
    }

    @Test func fallbackIsCountedAndErrorAnswerIsNoStaleError() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(
                world, "network-first", fallbacks: #"[{ "use": "constant", "value": 1 }]"#)
            simulated.origin.play(.failure(.status(500)), .failure(.status(403)))
            _ = try await simulated.feed.load()
            _ = try await simulated.start().failure()
            let metrics = simulated.feed.metrics
            #expect(metrics.fallbackRate == 0.5 && metrics.hitRate == 0 && metrics.failures == 1)
            #expect(metrics.staleErrors == 0 && metrics.originErrors == 1 && metrics.originCalls == 2)
        }
    }

    @Test func storeFaultsAreCountedByTier() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, "cache-first")
            simulated.store.set(.fails, for: .read)
            simulated.store.set(.fails, for: .write)
            _ = try await simulated.feed.load()
            #expect(simulated.feed.metrics.storeFaults == ["faulty": 2])
            #expect(simulated.feed.metrics.failures == 0)
        }
    }

    @Test func timeoutCountsOnlyRunningCalls() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            // The first call takes the only place; the second waits for it until its timeout.
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-only""#,
                around: #"[{ "use": "timeout", "after": "1s" }, { "use": "limit", "concurrent": 1 }]"#)
            simulated.origin.play(.deaf)
            let loads = [simulated.start(["id": "1"]), simulated.start(["id": "2"])]
            for load in loads { _ = try await load.failure() }
            let metrics = simulated.feed.metrics
            #expect(metrics.failures == 2 && metrics.originErrors == 1)
            try await world.sleep(for: .seconds(2 * 3_600))
            #expect(simulated.feed.metrics.originCalls == 1 && simulated.feed.metrics.originErrors == 1)
            // How long the origin took counts, or an outage would look quick.
            #expect(simulated.feed.metrics.originLatency.percentile(1)?.isAbout(.seconds(3_600)) == true)
        }
    }

    @Test func eachRetriedCallIsCounted() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-only""#, around: #"["retry"]"#)
            simulated.origin.play(
                .failure(.status(500), after: .milliseconds(10)), .value("x", after: .milliseconds(10)))
            _ = try await simulated.feed.load()
            let metrics = simulated.feed.metrics
            #expect(metrics.loads == 1 && metrics.originCalls == 2 && metrics.originErrors == 1)
            #expect(metrics.originLatency.count == 2)
            #expect(metrics.originLatency.percentile(1)?.isAbout(.milliseconds(10)) == true)
            #expect(metrics.load(percentile: 0.95)?.isAbout(.milliseconds(1_020)) == true)
        }
    }

    @Test func sinceReturnsLaterCountsOnly() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, "cache-first")
            simulated.store.set(.fails, for: .read)
            _ = try await simulated.feed.load()
            simulated.store.set(nil, for: .read)
            let earlier = simulated.feed.metrics
            #expect(earlier.since(earlier).loads == 0 && earlier.since(earlier).hitRate == 0)
            for _ in 1...3 { _ = try await simulated.feed.load() }
            simulated.origin.play(.failure(.status(404)))
            _ = try await simulated.start(["id": "2"]).failure()
            let recent = simulated.feed.metrics.since(earlier)
            #expect(recent.loads == 4 && recent.hits == 3 && recent.failures == 1 && recent.hitRate == 0.75)
            #expect(recent.originCalls == 1 && recent.storeFaults["faulty", default: 0] == 0)
            #expect(recent.latency[.fresh]?.count == 3 && recent.latency[.live]?.count == 0)
            #expect(recent.originLatency.count == 1)
        }
    }
}

extension Duration {
    /// Returns whether a value is within the sketch's error of `exact`.
    fileprivate func isAbout(_ exact: Duration) -> Bool {
        abs(inSeconds - exact.inSeconds) <= exact.inSeconds * 0.010_001
    }
}
