import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Background work under the section `expensive`, on networks that cost and on others.
@Suite struct DataSaverTests {
    static let mobile = NetworkState(.online, kind: .cellular, isExpensive: true)
    static let wifi = NetworkState(.online, kind: .wifi, isExpensive: false)

    private static let swr = #""stale-while-revalidate""#

    @Test func refreshWaitsForABetterNetwork() throws {
        try DataSaverScene.run(#""expensive": { "refresh": false }"#, strategy: Self.swr) { world, scene in
            _ = try await scene.feed.load()
            world.network = Self.mobile
            try await world.sleep(for: .seconds(600))
            for _ in 0..<3 { #expect(try await scene.feed.load().freshness == .stale) }
            try await world.sleep(for: .seconds(60))
            #expect(scene.calls == [1, 0])
            world.network = NetworkState(.online, kind: .wifi, isConstrained: true)
            try await world.sleep(for: .seconds(60))
            #expect(scene.calls == [1, 0])
            scene.large.play(then: .value("new"))
            world.network = Self.wifi
            try await world.sleep(for: .seconds(3))
            #expect(scene.calls == [2, 0])
            #expect(try await scene.feed.load().text == "new")
        }
    }

    @Test func hitThatStartsARefreshAtOnceWaitsToo() throws {
        try DataSaverScene.run(#""expensive": { "refresh": false }"#, strategy: Self.swr) { world, scene in
            _ = try await scene.feed.load()
            world.network = Self.mobile
            try await world.sleep(for: .seconds(600))
            #expect(scene.feed.answer(scene.feed.request())?.freshness == .stale)
            try await world.sleep(for: .seconds(60))
            #expect(scene.calls == [1, 0])
        }
    }

    @Test(arguments: [
        #""about": "nothing""#, #""expensive": {}"#, #""expensive": { "refresh": true, "prefetch": false }"#,
    ])
    func refreshRunsWhereThePolicyPermitsIt(_ expensive: String) throws {
        try DataSaverScene.run(expensive, strategy: Self.swr) { world, scene in
            _ = try await scene.feed.load()
            world.network = Self.mobile
            try await world.sleep(for: .seconds(600))
            _ = try await scene.feed.load()
            try await world.sleep(for: .seconds(1))
            #expect(scene.calls == [2, 0])
        }
    }

    @Test func refreshThatWaitedIsMadeByThePolicyInEffect() throws {
        try SimulatedWorld().run { world in
            world.network = Self.wifi
            let cache = try TemporaryFolder()
            let scene = try await DataSaverScene(
                world, #""expensive": { "refresh": false }"#, strategy: Self.swr,
                store: #"{ "use": "file", "capacity": "1MB" }"#, cache: cache)
            let (first, second) = (#""scripted", "small""#, #""small", "scripted""#)
            let text = try scene.simulated.feed(
                with: #""origin": "scripted""#, #""origin": { "use": "mirrors", "origins": [\#(first)] }"#)
            try await scene.pantry.replace(policies: ["feed": text])
            try await world.sleep(for: .seconds(5))
            _ = try await scene.feed.load()
            world.network = Self.mobile
            try await world.sleep(for: .seconds(600))
            _ = try await scene.feed.load()
            let swapped = text.replacing(first, with: second)
            try await scene.pantry.replace(policies: ["feed": swapped])
            world.network = Self.wifi
            try await world.sleep(for: .seconds(5))
            #expect(scene.calls == [1, 1])
            // Another store at the same place opens when nothing holds the former one.
            world.network = Self.mobile
            try await world.sleep(for: .seconds(600))
            _ = try await scene.feed.load()
            try await scene.pantry.replace(policies: ["feed": swapped.replacing("1MB", with: "2MB")])
            try await world.sleep(for: .seconds(5))
            #expect(try await scene.feed.contains())
            await scene.pantry.close()
        }
    }

    @Test func loadsOfUsersAreNeverRefused() throws {
        try DataSaverScene.run(#""expensive": { "refresh": false, "prefetch": false }"#, strategy: Self.swr) {
            world, scene in
            world.network = Self.mobile
            #expect(try await scene.feed.load().source == .origin)
            #expect(try await scene.feed.load(mode: .refresh).source == .origin)
            try await world.sleep(for: .seconds(2 * 3_600))
            #expect(try await scene.feed.load().source == .origin)
            #expect(try await scene.feed.load(priority: .low).source != .origin)
            #expect(scene.calls == [3, 0])
        }
    }

    @Test func prefetchIsRefusedAndAsksNoFallback() throws {
        try DataSaverScene.run(
            #""expensive": { "prefetch": false }"#, fallbacks: #"["small"]"#
        ) { world, scene in
            world.network = Self.mobile
            let permits = (try scene.feed.permits(.prefetch), try scene.feed.permits(.refresh))
            #expect(permits == (false, true))
            let refused = await #expect(throws: LoadError.self) { try await scene.feed.load(purpose: .prefetch) }
            #expect(refused?.code == .unavailable)
            #expect(scene.calls == [0, 0] && scene.feed.metrics[.prefetches] == 1)
            _ = try await scene.feed.load()
            #expect(try await scene.feed.load(purpose: .prefetch).text == "large")
            world.network = Self.wifi
            #expect(try scene.feed.permits(.prefetch))
            #expect(try await scene.feed.load(["id": "2"], purpose: .prefetch).text == "large")
            #expect(scene.calls == [2, 0])
        }
    }

    @Test func prefetchesAndSchedulesWaitForABetterNetwork() throws {
        let sections = #""expensive": { "prefetch": false }, "refresh": { "every": "15m", "when": "any" }"#
        try DataSaverScene.run(sections) { world, scene in
            world.network = Self.mobile
            let prefetch = scene.feed.prefetch([["id": "1"], ["id": "2"]])
            try await world.sleep(for: .seconds(3_600))
            #expect(scene.calls == [0, 0] && prefetch.present.left == 2)
            world.network = Self.wifi
            try await world.sleep(for: .seconds(3_600))
            #expect(prefetch.present.done == 2)
            #expect(scene.large.calls.count { $0.request.parameters["id"] == nil } > 0)
        }
    }

    @Test func planShowsTheRulesForNetworks() throws {
        try DataSaverScene.run(#""expensive": { "refresh": false }"#) { _, scene in
            let tree = Plan(try #require(scene.pantry.policy(of: "feed"))).tree
            #expect(tree.contains("network rules  (expensive)"))
        }
    }
}
