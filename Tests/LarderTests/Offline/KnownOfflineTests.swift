import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Loads while the device is known to have no network.
@Suite struct KnownOfflineTests {
    private static let age = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#
    private static let networkFirst = #"{ "use": "network-first", "patience": "800ms" }"#

    /// A pantry with a copy of `feed` that is ten minutes old, on a device that has just lost its network.
    private static func offline(
        _ world: SimulatedWorld, _ strategy: String = networkFirst, validators: String = age, plugins: [Plugin] = [],
        origin: String = #""scripted""#
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: strategy, validators: validators, store: #""memory""#, plugins: plugins, origin: origin)
        world.network = .online
        _ = try await simulated.feed.load()
        try await world.sleep(for: .seconds(600))
        world.network = .offline
        try await world.sleep(for: .seconds(1))
        simulated.origin.play(then: .hang)
        return simulated
    }

    @Test(arguments: [
        networkFirst, #""cache-first""#, #"{ "use": "race" }"#, #""stale-while-revalidate""#,
    ])
    func copyIsShownAtOnceWithoutACall(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.offline(world, strategy)
            let start = world.uptime
            let loaded = try await simulated.feed.load()
            #expect(loaded.text == "value" && loaded.freshness == .stale && world.uptime == start)
            #expect(simulated.origin.calls.count == 1)
            await simulated.pantry.close()
        }
    }

    @Test func trailSaysOfflineAndLoadCountsAsFallback() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.offline(world)
            let loaded = try await simulated.feed.load()
            #expect(loaded.fellBack)
            #expect(loaded.trail.description.contains("origin: not called, because the device is offline"))
            #expect(loaded.trail.steps.first?.event.kind == .offline)
            #expect(simulated.feed.metrics.fallbacks == 1)
            await simulated.pantry.close()
        }
    }

    @Test(arguments: [networkFirst, #""network-first""#, #""cache-first""#])
    func loadThatWaitsWhenTheNetworkIsLostGetsTheCopyAtOnce(_ strategy: String) throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await SimulatedPantry(
                world, strategy: strategy, validators: Self.age, store: #""memory""#)
            world.network = .online
            _ = try await simulated.feed.load()
            try await world.sleep(for: .seconds(600))
            simulated.origin.play(then: .hang)
            let (waiting, another) = (simulated.start(), simulated.start(["id": "2"]))
            let patient = simulated.start(deadline: .seconds(60))
            try await world.sleep(for: .milliseconds(10))
            #expect(!waiting.isOver && !patient.isOver)
            world.network = .offline
            try await world.settle()
            for load in [waiting, patient] {
                let loaded = try await load.value()
                #expect(loaded.text == "value" && loaded.fellBack)
                #expect(loaded.trail.steps.contains { $0.event.kind == .offline })
            }
            #expect(!another.isOver)
            world.network = .online
            simulated.origin.play(then: .value("new"))
            // The call that hangs is not joined by new loads.
            #expect(try await simulated.feed.load(["id": "2"]).text == "new")
            another.cancel()
            await simulated.pantry.close()
        }
    }

    @Test func originIsAskedIfThereIsNoCopy() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.offline(world)
            simulated.origin.play(then: .value("live", after: .milliseconds(20)))
            let loaded = try await simulated.feed.load(["id": "another"])
            #expect(loaded.text == "live" && loaded.source == .origin && !loaded.fellBack)
            await simulated.pantry.close()
        }
    }

    @Test func originIsAskedIfTheCopyIsTooOld() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.offline(world, validators: #"[{ "use": "age", "fresh": "5m" }]"#)
            simulated.origin.play(then: .value("live"))
            #expect(try await simulated.feed.load().text == "live")
            await simulated.pantry.close()
        }
    }

    @Test func originIsAskedIfTheUserWantsARefresh() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.offline(world)
            simulated.origin.play(then: .value("live"))
            #expect(try await simulated.feed.load(mode: .refresh).text == "live")
            await simulated.pantry.close()
        }
    }

    @Test func policyMayTryAllTheSame() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.offline(
                world, #"{ "use": "network-first", "patience": "800ms", "offline": "try" }"#)
            simulated.origin.play(then: .value("live"))
            #expect(try await simulated.feed.load().text == "live")
            await simulated.pantry.close()
        }
    }

    @Test func originOnThisDeviceIsAlwaysAsked() throws {
        try SimulatedWorld().run { world in
            let calls = Locked(0)
            let local = Plugin.origin("local", "Is here.", traits: { .with { $0.isLocal = true } }) { _ in
                LocalOrigin(calls: calls)
            }
            let simulated = try await Self.offline(world, plugins: [local], origin: #""local""#)
            let loaded = try await simulated.feed.load()
            #expect(calls.withLock { $0 } == 2 && loaded.source == .origin)
            await simulated.pantry.close()
        }
    }

    private struct LocalOrigin: Loader {
        let calls: Locked<Int>

        func load(_ call: Call) async throws -> Loaded<Entry> {
            calls.withLock { $0 += 1 }
            return Loaded(Entry(Data("local".utf8)))
        }
    }

    @Test(arguments: [
        ("http://localhost:8080/a", true), ("http://127.0.0.1/a", true), ("http://127.9.8.7/a", true),
        ("http://[::1]:1/a", true), ("http://api.localhost/a", true), ("https://example.com/a", false),
        ("http://127.0.0.1.example.com/a", false), ("http://127.example/a", false),
        ("http://localhost.example/a", false),
        ("http://10.0.0.1/a", false),
    ])
    func serverOnThisDeviceIsKnownByItsAddress(_ url: String, _ isLocal: Bool) throws {
        try SimulatedWorld().run { world in
            let pantry = try await SimulatedPantry(
                world, strategy: #""network-only""#, store: #""memory""#,
                origin: #"{ "use": "http", "url": "\#(url)" }"#
            ).pantry
            #expect(pantry.policy(of: "feed")?.origin?.originTraits.needsNoNetwork == isLocal)
            await pantry.close()
        }
    }

    // MARK: The return of the network

    @Test func firstLoadAfterTheReturnIsLive() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.offline(world)
            // A call that fails lets the origin rest for its key, but not after the network has returned.
            simulated.origin.play(then: .failure(.status(503)))
            _ = try? await simulated.feed.load(mode: .refresh)
            world.network = .online
            simulated.origin.play(then: .value("new"))
            try await world.sleep(for: .nanoseconds(1))
            let loaded = try await simulated.feed.load()
            #expect(loaded.text == "new" && loaded.source == .origin)
            await simulated.pantry.close()
        }
    }

    @Test func refreshThatWaitedBeginsWithinTwoSecondsOfTheReturn() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            try SimulatedWorld(seed: seed).run { world in
                let simulated = try await Self.offline(world, #""stale-while-revalidate""#)
                for _ in 0..<3 { #expect(try await simulated.feed.load().freshness == .stale) }
                #expect(simulated.origin.calls.count == 1)
                simulated.origin.play(then: .value("new"))
                world.network = .online
                let start = world.uptime
                try await world.sleep(for: .seconds(3))
                #expect(simulated.origin.calls.count == 2)
                #expect(try #require(simulated.origin.starts.last) - start <= .seconds(2))
                #expect(try await simulated.feed.load().text == "new")
                #expect(simulated.feed.metrics[.refreshes] == 1)
                await simulated.pantry.close()
            }
        }
    }

    @Test func urgentRefreshesBeginFirstAndFourRunAtATime() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: Self.networkFirst, validators: Self.age, store: #""memory""#)
            world.network = .online
            for id in 1...20 { _ = try await simulated.feed.load(["id": "\(id)"]) }
            world.network = .offline
            for id in 1...20 {
                _ = try await simulated.feed.load(["id": "\(id)"], priority: id > 15 ? .high : id > 10 ? .normal : .low)
            }
            simulated.origin.play(then: .value("new", after: .seconds(1)))
            world.network = .online
            try await world.sleep(for: .seconds(3))
            #expect(simulated.origin.underWay <= 4)
            try await world.sleep(for: .seconds(30))
            let ids = simulated.origin.calls.dropFirst(20).map { $0.request.parameters["id"] ?? "" }
            #expect(ids == (Array(16...20) + Array(11...15) + Array(1...10)).map { "\($0)" })
            let starts = simulated.origin.starts.dropFirst(20)
            for (first, fifth) in zip(starts, starts.dropFirst(4)) { #expect(fifth - first >= .seconds(1)) }
            await simulated.pantry.close()
        }
    }

    @Test func refreshOfAClearedAccountDoesNotBegin() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: Self.networkFirst, validators: Self.age, store: #""memory""#)
            world.network = .online
            for scope in ["alice", "bob"] { _ = try await simulated.feed.load(scope: scope) }
            world.network = .offline
            for scope in ["alice", "bob"] { _ = try await simulated.feed.load(scope: scope) }
            try await simulated.feed.clear(.scope("alice"))
            world.network = .online
            try await world.sleep(for: .seconds(10))
            #expect(simulated.origin.calls.dropFirst(2).map(\.key.scope) == ["bob"])
            #expect(try await !simulated.feed.contains(scope: "alice"))
            await simulated.pantry.close()
        }
    }

    @Test func refreshWaitsAgainIfTheNetworkIsLostAgain() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.offline(world)
            _ = try await simulated.feed.load()
            world.network = .online
            try await world.sleep(for: .nanoseconds(1))
            world.network = .offline
            try await world.sleep(for: .seconds(10))
            #expect(simulated.origin.calls.count == 1)
            simulated.origin.play(then: .value("new"))
            world.network = NetworkState(.unknown)
            try await world.sleep(for: .seconds(10))
            #expect(simulated.origin.calls.count == 2)
            await simulated.pantry.close()
        }
    }

    @Test func eventsTellTheLossAndTheReturn() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: Self.networkFirst, validators: Self.age, store: #""memory""#)
            let pantry = simulated.pantry
            let events = Locked<[String]>([])
            let listening = world.spawn { [events, stream = pantry.events] in
                for await event in stream { events.withLock { $0.append("\(event)") } }
            }
            for network in [.online, .offline, .offline, .online, .unknown, .offline] as [NetworkState] {
                world.network = network
                try await world.sleep(for: .seconds(60))
            }
            #expect(events.withLock { $0 } == ["offline", "online(after: 120.0 seconds)", "offline"])
            listening.cancel()
            await pantry.close()
        }
    }

    // MARK: Metrics

    @Test func offlineLoadsAreCountedByOutcome() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.offline(world, #""stale-while-revalidate""#)
            let feed = simulated.feed
            _ = try await feed.load()
            simulated.origin.play(then: .value("live"))
            _ = try await feed.load(["id": "2"])
            _ = try await feed.load(["id": "2"])
            simulated.origin.play(then: .failure(.status(503)))
            _ = try? await feed.load(["id": "3"])
            try await world.sleep(for: .seconds(59))
            world.network = .online
            simulated.origin.play(then: .value("live"))
            try await world.sleep(for: .seconds(60))
            _ = try await feed.load(["id": "4"])
            let metrics = feed.metrics
            #expect(metrics[.offlineSpells] == 1 && metrics[.offlineTime] == 60_000)
            #expect(metrics[.offlineStale] == 1 && metrics[.offlineLive] == 1 && metrics[.offlineFresh] == 1)
            #expect(metrics[.offlineFailures] == 1 && metrics[.offlineFallbacks] == 0)
            await simulated.pantry.close()
        }
    }

    @Test func reloadsWithoutANetworkCountItsTimeOnce() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.offline(world)
            _ = try await simulated.feed.load()
            for patience in ["700ms", "800ms", "600ms"] {
                let text = try simulated.feed(with: #""patience": "800ms""#, #""patience": "\#(patience)""#)
                try await simulated.pantry.replace(policies: ["feed": text])
                try await world.sleep(for: .seconds(10))
                _ = try await simulated.feed.load()
                try await simulated.pantry.replace(
                    policies: ["feed": simulated.feed(with: #""\#(patience)""#, #""800ms""#)])
            }
            world.network = .online
            try await world.sleep(for: .seconds(600))
            let metrics = simulated.feed.metrics
            #expect(metrics[.offlineSpells] == 1 && metrics[.offlineTime] == 31_000)
            #expect(metrics[.offlineFallbacks] == 4)
            await simulated.pantry.close()
        }
    }

    /// The time without a network in each five minutes, in seconds.
    private static func offlineTimes(_ simulated: SimulatedPantry) async throws -> [Double] {
        let dump = await simulated.pantry.metrics.dump()
        let periods = try #require(dump.resources.first?.revisions.first).periods
        return periods.filter { $0[.offlineTime] > 0 }.map { Double($0[.offlineTime]) / 1_000 }
    }

    @Test func longTimeWithoutLoadsBelongsToEachOfItsPeriods() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.offline(world)
            try await world.sleep(for: .seconds(719))
            #expect(try await Self.offlineTimes(simulated) == [300, 300, 120])
            world.network = .online
            try await world.sleep(for: .seconds(300))
            #expect(try await Self.offlineTimes(simulated) == [300, 300, 120])
            world.network = .offline
            // Of several days, the last one is kept.
            try await world.sleep(for: .seconds(3 * 86_400))
            let times = try await Self.offlineTimes(simulated)
            #expect(times.count == 288 && times.dropLast().allSatisfy { $0 == 300 } && times.last == 120)
            await simulated.pantry.close()
        }
    }

    @Test func partsOfMillisecondsAreCountedWhenTheyAreWhole() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.offline(world)
            for _ in 0..<1_000 {
                try await world.sleep(for: .nanoseconds(299_500_000))
                _ = simulated.feed.metrics
            }
            #expect(simulated.feed.metrics[.offlineTime] == 1_000 + 299_500)
            #expect(try await Self.offlineTimes(simulated) == [300, 0.5])
            await simulated.pantry.close()
        }
    }

    /// A source of an app that calls back while it is being followed.
    private struct EagerNetwork: NetworkSource {
        let state = NetworkState.offline
        var changes: AsyncStream<NetworkState> { AsyncStream { $0.finish() } }

        func onChange(_ changed: @escaping @Sendable () -> Void) -> Subscription {
            changed()
            return Subscription {}
        }
    }

    @Test func sourceMayCallBackAtOnce() async throws {
        let policy = """
            { "resource": "feed", "origin": { "use": "http", "url": "https://example.com/a" },
              "strategy": "network-first", "store": "memory" }
            """
        let pantry = try await Pantry(
            policies: ["feed": policy], cache: TemporaryFolder().url, world: SystemWorld(network: EagerNetwork()))
        #expect(pantry.resource("feed").metrics[.offlineSpells] == 1)
        await pantry.close()
    }
}
