import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// Refreshes behind a copy that was shown.
@Suite struct RefreshTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1d", "onError": "7d" }]"#

    private func kitchen(
        _ world: SimulatedWorld, background: String = "60s", foreignStore: Bool = true
    ) async throws -> Kitchen {
        let kitchen = try await Kitchen(
            world, strategy: #"{ "use": "stale-while-revalidate", "background": "\#(background)" }"#,
            validators: Self.windows, foreignStore: foreignStore)
        kitchen.stock("old", age: .seconds(600), etag: "e1")
        return kitchen
    }

    @Test(arguments: [true, false]) func manyLoadsOfAStaleCopyStartExactlyOneRefresh(_ foreignStore: Bool) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, foreignStore: foreignStore)
            kitchen.origin.play(then: .value("new", after: .seconds(1)))
            let loads = (0..<50).map { _ in kitchen.start() }
            for load in loads {
                let shown = try await load.value()
                #expect(shown.text == "old" && shown.freshness == .stale && !shown.fellBack)
            }
            #expect(world.uptime == .zero)
            try await world.sleep(for: .milliseconds(500))
            #expect(try await kitchen.feed.load().text == "old")
            try await world.sleep(for: .seconds(1))
            let after = try await kitchen.feed.load()
            #expect(after.text == "new" && after.freshness == .fresh)
            #expect(kitchen.origin.calls.count == 1 && kitchen.origin.calls[0].known?.metadata.etag == "e1")
            let metrics = kitchen.feed.metrics
            #expect(metrics.refreshes == 1 && metrics.refreshErrors == 0 && metrics.hits == 52 && metrics.stale == 51)
        }
    }

    @Test func aRefreshOutlivesTheCallerThatStartedIt() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.origin.play(.value("new", after: .seconds(1)))
            let feed = kitchen.feed
            let caller = world.start {
                _ = try await feed.load()
                try await world.sleep(for: .seconds(60))
            }
            try await world.sleep(for: .milliseconds(10))
            caller.cancel()
            try await world.sleep(for: .seconds(2))
            #expect(caller.isOver && kitchen.held() == "new")
        }
    }

    @Test func aForegroundLoadJoinsTheRefreshUnderWay() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.origin.play(.value("new", after: .seconds(1)))
            #expect(try await kitchen.feed.load().text == "old")
            let live = try await kitchen.feed.load(mode: .refresh)
            #expect(live.text == "new" && live.source == .origin && world.uptime == .seconds(1))
            #expect(kitchen.origin.calls.count == 1)
        }
    }

    @Test func afterFailuresRefreshesBackOffTwiceAsLongEachTimeUpToHalfAMinute() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.origin.play(then: .failure(.status(503)))
            var moments: [Duration] = []
            while world.uptime < .seconds(200) {
                let calls = kitchen.origin.calls.count
                #expect(try await kitchen.feed.load().text == "old")
                try await world.settle()
                if kitchen.origin.calls.count > calls { moments.append(world.uptime) }
                try await world.sleep(for: .milliseconds(500))
            }
            let rests = zip(moments, moments.dropFirst()).map { ($1 - $0).inSeconds }
            for (rest, planned) in zip(rests, [5, 10, 20, 30, 30, 30, 30.0]) {
                // A tenth either way, and the next look is half a second later at most.
                #expect((planned * 0.9...planned * 1.1 + 0.5).contains(rest), "\(rests)")
            }
            #expect(rests.count >= 7)
            #expect(kitchen.feed.metrics.revalidationErrorRate == 1 && kitchen.held() == "old")
        }
    }

    @Test func aRefreshThatSucceedsEndsTheBackingOff() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.origin.play(.failure(.status(503)), .failure(.status(503)), .value("new"), .failure(.status(503)))
            for wait in [6, 12, 400] {
                _ = try await kitchen.feed.load()
                try await world.sleep(for: .seconds(wait))
            }
            #expect(kitchen.held() == "new" && kitchen.origin.calls.count == 3)
            for _ in 1...2 {
                _ = try await kitchen.feed.load()
                try await world.sleep(for: .seconds(6))
            }
            #expect(kitchen.origin.calls.count == 5, "after the first failure in a row it rests 5 s again")
        }
    }

    @Test func oneKeysBackingOffIsNoOtherKeys() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.stock("other", age: .seconds(600), kitchen.key(["id": "1"]))
            kitchen.origin.play(.failure(.status(503)), .value("new"))
            _ = try await kitchen.feed.load()
            try await world.settle()
            _ = try await kitchen.feed.load(["id": "1"])
            try await world.settle()
            #expect(kitchen.held(kitchen.key(["id": "1"])) == "new")
        }
    }

    @Test(arguments: [ScriptedOrigin.Act.hang, .deaf])
    func aRefreshIsGivenUpAfterBackgroundAndItsFlightIsFree(_ act: ScriptedOrigin.Act) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, background: "10s")
            kitchen.origin.play(act)
            kitchen.origin.play(.value("new"))
            _ = try await kitchen.feed.load()
            try await world.sleep(for: .milliseconds(9_999))
            #expect(kitchen.feed.metrics.refreshes == 0)
            try await world.sleep(for: .milliseconds(2))
            #expect(kitchen.feed.metrics.refreshErrors == 1)
            #expect(try await kitchen.feed.load(mode: .refresh).text == "new", "not the call that was given up")
            #expect(kitchen.origin.calls.count == 2)
            // As long as a deaf origin takes.
            try await world.sleep(for: .seconds(3_600))
        }
    }

    @Test func aJoinerKeepsACallAliveThatItsRefreshGaveUp() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, background: "10s")
            kitchen.origin.play(.value("new", after: .seconds(20)))
            _ = try await kitchen.feed.load()
            let live = try await kitchen.feed.load(mode: .refresh)
            #expect(live.text == "new" && world.uptime == .seconds(20) && kitchen.feed.metrics.refreshErrors == 1)
        }
    }

    @Test func aRefreshDecidedOnBeforeAClearingSavesNothing() throws {
        for foreignStore in [true, false] {
            try SimulatedWorld().run { world in
                let kitchen = try await kitchen(world, foreignStore: foreignStore)
                kitchen.origin.play(then: .value("new", after: .seconds(1)))
                _ = try await kitchen.feed.load()
                try await kitchen.feed.clear()
                try await world.sleep(for: .seconds(2))
                #expect(kitchen.held() == nil && kitchen.origin.calls.count == 1)
            }
        }
    }
}
