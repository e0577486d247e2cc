import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Prefetches, and calls that more urgent requests join.
@Suite struct PriorityTests {
    private static let age = #"[{ "use": "age", "fresh": "1m", "whileRevalidating": "1h", "onError": "7d" }]"#

    /// A pantry whose calls queue one after another.
    private func simulated(_ world: SimulatedWorld, strategy: String = #""cache-first""#) async throws
        -> SimulatedPantry
    {
        let simulated = try await SimulatedPantry(
            world, strategy: strategy, validators: Self.age, around: #"[{ "use": "limit", "concurrent": 1 }]"#)
        simulated.origin.play(then: .value("value", after: .milliseconds(100)))
        return simulated
    }

    private func prefetch(_ id: String, _ simulated: SimulatedPantry) -> Started<Loaded<Data>> {
        simulated.start(simulated.feed.request(["id": id], priority: .low, purpose: .prefetch))
    }

    private func called(_ simulated: SimulatedPantry) -> [String] {
        simulated.origin.calls.compactMap { $0.request.parameters["id"] }
    }

    // MARK: Raising

    @Test(arguments: [Request.Priority.normal, .high])
    func joinedPrefetchIsRaisedAndFinishesFirst(_ priority: Request.Priority) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            var loads: [Started<Loaded<Data>>] = []
            for id in ["running", "one", "two", "three"] {
                loads.append(prefetch(id, simulated))
                try await world.settle()
            }
            let user = simulated.start(["id": "three"], priority: priority)
            for load in loads { _ = try await load.value() }
            #expect(called(simulated) == ["running", "three", "one", "two"])
            #expect(user.endedAt == .milliseconds(200) && simulated.feed.metrics.coalesced == 1)
            #expect(simulated.origin.calls.map(\.priority) == [.low, priority, .low, .low])
            #expect(simulated.origin.calls[1].request.priority == .low, "the request is that of the first caller")
        }
    }

    @Test func raisedCallQueuesBehindCallsOfItsPriority() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            var loads = [prefetch("running", simulated), prefetch("raised", simulated)]
            try await world.settle()
            for (id, priority) in [("normal", Request.Priority.normal), ("high", .high)] {
                loads.append(simulated.start(["id": id], priority: priority))
                try await world.settle()
            }
            loads.append(prefetch("low", simulated))
            // Only the first of these raises the call. No request lowers it.
            for priority in [Request.Priority.normal, .normal, .low] {
                loads.append(simulated.start(["id": "raised"], priority: priority))
            }
            for load in loads { _ = try await load.value() }
            #expect(called(simulated) == ["running", "high", "normal", "raised", "low"])
        }
    }

    @Test func joinedRefreshIsRaised() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy: #""stale-while-revalidate""#)
            for id in ["one", "two"] {
                simulated.stock("old", age: .seconds(100), for: simulated.key(["id": id]))
            }
            let running = simulated.start(["id": "running"])
            try await world.settle()
            for id in ["one", "two"] { #expect(try await simulated.feed.load(["id": id]).text == "old") }
            let user = simulated.start(["id": "two"], mode: .refresh)
            _ = try await (running.value(), user.value())
            try await world.sleep(for: .seconds(1))
            #expect(called(simulated) == ["running", "two", "one"])
        }
    }

    @Test func callIsToldOfRaiseBeforeItListened() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, around: #"["breaker"]"#)
            simulated.origin.play(then: .value("value", after: .milliseconds(100)))
            let loads = [prefetch("1", simulated), simulated.start(["id": "1"], priority: .high)]
            try await world.settle()
            let call = try #require(simulated.origin.calls.first)
            let heard = Heard()
            let raising = call.onRaise { heard.add($0) }
            #expect(heard.all == [.high])
            raising.stop()
            for load in loads { _ = try await load.value() }
        }
    }

    // MARK: Prefetches

    @Test func prefetchesAreInNoRate() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.age, isStoreForeign: false)
            _ = try await simulated.feed.load()
            let before = simulated.feed.metrics
            _ = try await simulated.feed.load(purpose: .prefetch)
            _ = try await simulated.feed.load(["id": "2"], purpose: .prefetch)
            simulated.origin.play(.failure(.status(503)))
            _ = try await simulated.start(simulated.feed.request(["id": "3"], purpose: .prefetch)).failure()
            _ = try await simulated.feed.load(mode: .cachedOnly, purpose: .prefetch)
            let metrics = simulated.feed.metrics
            #expect(metrics.prefetches == 3 && metrics.cachedOnly == 1)
            #expect(metrics.loads == 1 && metrics.hits == 0 && metrics.failures == 0 && metrics[.bytesOut] == 5)
            #expect(metrics.latency == before.latency && metrics.ages == before.ages)
            #expect(metrics.originCalls == 3 && metrics.originErrors == 1)
            _ = try await simulated.feed.load(purpose: .sync)
            #expect(simulated.feed.metrics.hits == 1)
        }
    }
}
