import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Observation
import Testing

/// Logouts, tunnels, policies that change, and the end of a screen.
@Suite struct LiveResourceLifeTests {
    private static let age = #"[{ "use": "age", "fresh": "5m", "onError": "1d" }]"#

    private func run(
        _ strategy: String = #""cache-first""#, _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            try await test(SimulatedPantry(world, strategy: strategy, validators: Self.age))
        }
    }

    // MARK: Logouts

    @Test func logoutEmptiesTheScreenBeforeTheStoreIsCleared() throws {
        try run { simulated in
            let live = simulated.feed.live(scope: "alice")
            let other = simulated.feed.live(scope: "bob")
            await live.reload()
            await other.reload()
            #expect(live.words == "fresh value")
            // The store takes ten seconds to remove.
            simulated.store.play(.takes(.seconds(10)), for: .remove)
            let clearing = simulated.world.start { try await simulated.pantry.clear(.scope("alice")) }
            try await simulated.world.settle()
            #expect(live.words == "empty" && other.words == "fresh value" && !clearing.isOver)
            // The copy is still there, and a screen that returns does not find it.
            #expect(simulated.held(simulated.key(scope: "alice")) == "value")
            await live.reload()
            let late = simulated.feed.live(scope: "alice")
            try await simulated.world.sleep(for: .seconds(1))
            #expect(live.words == "empty" && late.words == "empty")
            try await clearing.value()
            try await simulated.world.settle()
            // The screens have asked, so they load when the clearing is over.
            #expect(live.words == "fresh value" && late.words == "fresh value")
            #expect(simulated.origin.calls.count == 3)
        }
    }

    @Test func answerOfACallBeforeTheLogoutDoesNotAppear() throws {
        for strategy in ["cache-first", "network-first", "stale-while-revalidate", "network-only"] {
            try run("\"\(strategy)\"") { simulated in
                simulated.origin.play(.value("old", after: .seconds(5)))
                let live = simulated.feed.live(scope: "alice")
                try await simulated.world.sleep(for: .seconds(1))
                try await simulated.pantry.clear(.scope("alice"))
                #expect(live.words == "empty")
                try await simulated.world.sleep(for: .seconds(10))
                #expect(live.words == "empty" && live.value == nil)
                await live.reload()
                #expect(live.words == "fresh value")
            }
        }
    }

    @Test func clearedScreenStaysEmptyUntilItAsks() throws {
        try run { simulated in
            let live = simulated.feed.live()
            await live.reload()
            try await simulated.pantry.clear()
            simulated.world.network = .offline
            try await simulated.world.settle()
            simulated.world.network = .online
            try await simulated.edit("5m", "6m")
            _ = try await simulated.feed.load()
            try await simulated.world.sleep(for: .seconds(1))
            #expect(live.words == "empty")
            await live.reload()
            #expect(live.words == "fresh value")
        }
    }

    @Test func clearingOfATagEmptiesScreensThatShowIt() throws {
        try run { simulated in
            simulated.origin.play(.value("tagged", tags: ["t"]), .value("plain"))
            let (tagged, plain) = (simulated.feed.live(["id": "1"]), simulated.feed.live(["id": "2"]))
            await tagged.reload()
            await plain.reload()
            try await simulated.feed.clear(.tag("t"))
            #expect(tagged.words == "empty" && plain.words == "fresh plain")
        }
    }

    @Test func screenBelongsToTheAccountThatLoadsFirst() throws {
        let account = Locked<String?>(nil)
        let origin = Plugin.origin(
            "signed", "Answers for the account.",
            traits: { .with { $0.account = { account.withLock { $0 } } } }
        ) { _ in ScopedOrigin() }
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.age, plugins: [origin], origin: #""signed""#)
            let live = simulated.feed.live()
            await live.reload()
            #expect(live.words == "fresh nobody")
            account.withLock { $0 = "alice" }
            await live.refresh()
            #expect(live.words == "fresh alice")
            try await simulated.pantry.clear(.scope("alice"))
            #expect(live.words == "empty")
            account.withLock { $0 = "bob" }
            await live.reload()
            #expect(live.words == "fresh alice")
        }
    }

    private struct ScopedOrigin: Loader {
        func load(_ call: Call) async throws -> Loaded<Entry> {
            Loaded(Entry(Data((call.request.key.scope ?? "nobody").utf8)))
        }
    }

    // MARK: Tunnels and policies

    @Test func tunnelShowsTheValueOfflineAndReloadsAtItsEnd() throws {
        try run("\"network-first\"") { simulated in
            let live = simulated.feed.live()
            await live.reload()
            simulated.world.network = .offline
            try await simulated.world.sleep(for: .seconds(30))
            #expect(live.words == "offline | fresh value 30s" && live.isOffline && !live.isLoading)
            simulated.origin.play(.failure(LoadError(.failed, "unreachable")))
            await live.refresh()
            #expect(live.words == "offline | fresh value 30s" && live.error == nil)
            simulated.origin.play(.value("new", after: .seconds(1)))
            simulated.world.network = .online
            try await simulated.world.settle()
            #expect(live.words == "fresh value ↻")
            try await simulated.world.sleep(for: .seconds(2))
            #expect(live.words == "fresh new" && !live.isOffline)
        }
    }

    @Test func screenThatOpensInATunnelIsOffline() throws {
        try run { simulated in
            simulated.world.network = .offline
            simulated.origin.play(.failure(LoadError(.failed, "unreachable")))
            let live = simulated.feed.live()
            #expect(live.words == "offline")
            await live.reload()
            #expect(live.words == "offline")
            simulated.world.network = .online
            try await simulated.world.sleep(for: .seconds(1))
            #expect(live.words == "fresh value")
        }
    }

    private static let other = #"{ "resource": "other", "origin": "scripted", "strategy": "network-only" }"#

    @Test func screenLoadsAgainWhenItsPolicyChanges() throws {
        try run { simulated in
            let live = simulated.feed.live()
            await live.reload()
            simulated.origin.play(.value("new", after: .seconds(1)))
            try await simulated.edit("cache-first", "network-first")
            try await simulated.world.settle()
            #expect(live.words == "fresh value ↻")
            try await simulated.world.sleep(for: .seconds(2))
            #expect(live.words == "fresh new")
            try await simulated.pantry.replace(policies: ["other": Self.other])
            try await simulated.world.settle()
            #expect(live.words == "failed noSuchResource | fresh new 1s")
        }
    }

    // MARK: The end

    @Test func releasedScreenLeavesNothingBehind() throws {
        try run { simulated in
            simulated.origin.play(.hang)
            let before = simulated.world.unfinished
            var live: LiveResource<Data>? = simulated.feed.live()
            weak let weakly = live
            try await simulated.world.sleep(for: .seconds(1))
            #expect(simulated.origin.underWay == 1 && weakly != nil)
            live = nil
            #expect(weakly == nil)
            try await simulated.world.sleep(for: .seconds(1))
            #expect(simulated.origin.underWay == 0 && simulated.world.unfinished == before)
        }
    }

    @Test func streamOfPhasesEndsWithTheScreen() throws {
        try run { simulated in
            simulated.origin.play(.value("new", after: .seconds(1)))
            var live: LiveResource<Data>? = simulated.feed.live()
            let phases = try #require(live?.phases)
            let seen = simulated.world.start {
                var seen: [String] = []
                for await phase in phases {
                    let word = phase.value.map { String(decoding: $0, as: UTF8.self) } ?? "-"
                    if seen.last != word { seen.append(word) }
                }
                return seen
            }
            try await simulated.world.sleep(for: .seconds(2))
            live = nil
            let words = try await seen.value()
            #expect(words == ["-", "new"])
        }
    }

    @Test func noPhaseLooksLikeTheOneBefore() throws {
        try run { simulated in
            simulated.origin.play(
                .value("new", after: .seconds(1)), .value("newer", after: .seconds(1)),
                .failure(.status(503), after: .seconds(1)))
            var live: LiveResource<Data>? = simulated.feed.live()
            let phases = try #require(live?.phases)
            let seen = simulated.world.start {
                var seen: [String] = []
                for await phase in phases { seen.append(phase.words) }
                return seen
            }
            try await simulated.world.sleep(for: .seconds(5))
            for _ in 0..<2 {
                await live?.refresh()
                try await simulated.world.sleep(for: .seconds(5))
            }
            simulated.world.network = .offline
            try await simulated.world.sleep(for: .seconds(5))
            live = nil
            let words = try await seen.value()
            #expect(zip(words, words.dropFirst()).allSatisfy { $0 != $1 }, "\(words)")
            #expect(words.first == "loading" && words.count > 4, "\(words)")
        }
    }

    @Test func observersAreToldAfterEachChange() throws {
        try run { simulated in
            let live = simulated.feed.live()
            let seen = Locked<[String]>([])
            @Sendable func observe() {
                withObservationTracking {
                    _ = live.phase
                } onChange: { [weak live] in
                    seen.withLock { $0.append(live?.words ?? "gone") }
                }
            }
            observe()
            await live.reload()
            // The answer is saved just before the load ends.
            #expect(seen.withLock { $0 } == ["fresh value ↻"])
            observe()
            // The value becomes stale while nothing else happens.
            try await simulated.world.sleep(for: .seconds(299))
            #expect(seen.withLock { $0.count } == 1)
            try await simulated.world.sleep(for: .seconds(1))
            #expect(seen.withLock { $0 } == ["fresh value ↻", "stale value 300s"])
        }
    }

    @Test func refreshReturnsWhenItsCallerIsCancelledAndTheLoadGoesOn() throws {
        try run { simulated in
            let live = simulated.feed.live()
            await live.reload()
            simulated.origin.play(.value("new", after: .seconds(5)))
            let refresh = simulated.world.start { await live.refresh() }
            try await simulated.world.sleep(for: .seconds(1))
            refresh.cancel()
            try await simulated.world.settle()
            #expect(refresh.isOver && live.words == "fresh value ↻")
            try await simulated.world.sleep(for: .seconds(5))
            #expect(live.words == "fresh new")
        }
    }
}
