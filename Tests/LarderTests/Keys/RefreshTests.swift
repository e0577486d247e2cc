import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Background refreshes of a copy that was served.
@Suite struct RefreshTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1d", "onError": "7d" }]"#

    private func simulated(
        _ world: SimulatedWorld, background: String = "60s", isStoreForeign: Bool = true
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: #"{ "use": "stale-while-revalidate", "background": "\#(background)" }"#,
            validators: Self.windows, isStoreForeign: isStoreForeign)
        simulated.stock("old", age: .seconds(600), etag: "e1")
        return simulated
    }

    @Test(arguments: [true, false]) func manyLoadsOfStaleCopyStartOneRefresh(_ isStoreForeign: Bool) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, isStoreForeign: isStoreForeign)
            simulated.origin.play(then: .value("new", after: .seconds(1)))
            let loads = (0..<50).map { _ in simulated.start() }
            for load in loads {
                let shown = try await load.value()
                #expect(shown.text == "old" && shown.freshness == .stale && !shown.fellBack)
            }
            #expect(world.uptime == .zero)
            try await world.sleep(for: .milliseconds(500))
            #expect(try await simulated.feed.load().text == "old")
            try await world.sleep(for: .seconds(1))
            let after = try await simulated.feed.load()
            #expect(after.text == "new" && after.freshness == .fresh)
            #expect(simulated.origin.calls.count == 1 && simulated.origin.calls[0].known?.metadata.etag == "e1")
            let metrics = simulated.feed.metrics
            #expect(metrics.refreshes == 1 && metrics.refreshErrors == 0 && metrics.hits == 52 && metrics.stale == 51)
        }
    }

    @Test func refreshOutlivesItsCaller() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(.value("new", after: .seconds(1)))
            let feed = simulated.feed
            let caller = world.start {
                _ = try await feed.load()
                try await world.sleep(for: .seconds(60))
            }
            try await world.sleep(for: .milliseconds(10))
            caller.cancel()
            try await world.sleep(for: .seconds(2))
            #expect(caller.isOver && simulated.held() == "new")
        }
    }

    @Test func foregroundLoadJoinsRunningRefresh() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(.value("new", after: .seconds(1)))
            #expect(try await simulated.feed.load().text == "old")
            let live = try await simulated.feed.load(mode: .refresh)
            #expect(live.text == "new" && live.source == .origin && world.uptime == .seconds(1))
            #expect(simulated.origin.calls.count == 1)
        }
    }

    @Test func backOffDoublesUpToThirtySeconds() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(then: .failure(.status(503)))
            var moments: [Duration] = []
            while world.uptime < .seconds(200) {
                let calls = simulated.origin.calls.count
                #expect(try await simulated.feed.load().text == "old")
                try await world.settle()
                if simulated.origin.calls.count > calls { moments.append(world.uptime) }
                try await world.sleep(for: .milliseconds(500))
            }
            let rests = zip(moments, moments.dropFirst()).map { ($1 - $0).inSeconds }
            for (rest, planned) in zip(rests, [5, 10, 20, 30, 30, 30, 30.0]) {
                // The jitter is a tenth either way, and the next load is at most half a second later.
                #expect((planned * 0.9...planned * 1.1 + 0.5).contains(rest), "\(rests)")
            }
            #expect(rests.count >= 7)
            #expect(simulated.feed.metrics.revalidationErrorRate == 1 && simulated.held() == "old")
        }
    }

    @Test func successfulRefreshEndsBackOff() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(.failure(.status(503)), .failure(.status(503)), .value("new"), .failure(.status(503)))
            for wait in [6, 12, 400] {
                _ = try await simulated.feed.load()
                try await world.sleep(for: .seconds(wait))
            }
            #expect(simulated.held() == "new" && simulated.origin.calls.count == 3)
            for _ in 1...2 {
                _ = try await simulated.feed.load()
                try await world.sleep(for: .seconds(6))
            }
            #expect(simulated.origin.calls.count == 5, "after the first failure in a row it rests 5 s again")
        }
    }

    @Test func backOffAffectsOnlyItsKey() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.stock("other", age: .seconds(600), for: simulated.key(["id": "1"]))
            simulated.origin.play(.failure(.status(503)), .value("new"))
            _ = try await simulated.feed.load()
            try await world.settle()
            _ = try await simulated.feed.load(["id": "1"])
            try await world.settle()
            #expect(simulated.held(simulated.key(["id": "1"])) == "new")
        }
    }

    @Test(arguments: [ScriptedOrigin.Act.hang, .deaf])
    func refreshIsCancelledAfterBackgroundLimitAndFreesFlight(_ act: ScriptedOrigin.Act) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, background: "10s")
            simulated.origin.play(act)
            simulated.origin.play(.value("new"))
            _ = try await simulated.feed.load()
            try await world.sleep(for: .milliseconds(9_999))
            #expect(simulated.feed.metrics.refreshes == 0)
            try await world.sleep(for: .milliseconds(2))
            #expect(simulated.feed.metrics.refreshErrors == 1)
            #expect(try await simulated.feed.load(mode: .refresh).text == "new", "not the call that was given up")
            #expect(simulated.origin.calls.count == 2)
            // As long as a deaf origin takes.
            try await world.sleep(for: .seconds(3_600))
        }
    }

    @Test func copyIsRefreshedAgainAfterRefreshThatExceededItsLimit() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, background: "10s")
            simulated.origin.play(.hang, .value("new"))
            #expect(try await simulated.feed.load().text == "old")
            // The limit and the origin's rest, which is 5 s and a tenth at most.
            try await world.sleep(for: .seconds(16))
            #expect(try await simulated.feed.load().text == "old")
            try await world.settle()
            #expect(simulated.held() == "new" && simulated.origin.calls.count == 2)
            let metrics = simulated.feed.metrics
            #expect(metrics.refreshes == 2 && metrics.refreshErrors == 1)
        }
    }

    @Test func refreshThatIsAnsweredWithErrorHasNotFailed() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(.failure(.status(403)), .failure(.status(503)))
            for refreshErrors in [0, 1] {
                #expect(try await simulated.feed.load().text == "old")
                try await world.settle()
                #expect(simulated.feed.metrics.refreshErrors == UInt64(refreshErrors))
            }
            #expect(simulated.feed.metrics.refreshes == 2)
        }
    }

    @Test func joinedCallContinuesAfterItsRefreshEnds() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, background: "10s")
            simulated.origin.play(.value("new", after: .seconds(20)))
            _ = try await simulated.feed.load()
            let live = try await simulated.feed.load(mode: .refresh)
            #expect(live.text == "new" && world.uptime == .seconds(20) && simulated.feed.metrics.refreshErrors == 1)
        }
    }

    @Test func refreshFromBeforeClearingSavesNothing() throws {
        for isStoreForeign in [true, false] {
            try SimulatedWorld().run { world in
                let simulated = try await simulated(world, isStoreForeign: isStoreForeign)
                simulated.origin.play(then: .value("new", after: .seconds(1)))
                _ = try await simulated.feed.load()
                try await simulated.feed.clear()
                try await world.sleep(for: .seconds(2))
                #expect(simulated.held() == nil && simulated.origin.calls.count == 1)
            }
        }
    }
}
