import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Observation
import Testing

extension LiveResource<Data> {
    var words: String { phase.words }
}

extension LiveResource<Data>.Phase {
    /// The phase in words: `stale copy 30s ↻`.
    var words: String {
        func text(_ value: Data) -> String { String(decoding: value, as: UTF8.self) }
        func age(_ age: Duration?) -> String { age.map { "\($0.components.seconds)s" } ?? "?" }
        func shown(_ shown: LiveResource<Data>.Shown?) -> String {
            shown.map { " | \($0.freshness) \(text($0.value)) \(age($0.age))" } ?? ""
        }
        return switch self {
        case .loading: "loading"
        case .fresh(let value, let isRefreshing): "fresh \(text(value))" + (isRefreshing ? " ↻" : "")
        case .stale(let value, let time, let isRefreshing):
            "stale \(text(value)) \(age(time))" + (isRefreshing ? " ↻" : "")
        case .empty: "empty"
        case .failed(let error, let value):
            "failed \(error.status.map { "\($0)" } ?? error.code.rawValue)" + shown(value)
        case .offline(let value): "offline" + shown(value)
        }
    }
}

@Suite struct LiveResourceTests {
    private static let age = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "1d" }]"#

    private func run(
        _ strategy: String, validators: String = age, fallbacks: String = "[]",
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            try await test(
                SimulatedPantry(world, strategy: strategy, validators: validators, fallbacks: fallbacks))
        }
    }

    @Test func screenWithoutCopyLoadsThenIsFreshThenStale() throws {
        try run(#""cache-first""#) { simulated in
            simulated.origin.play(.value("new", after: .seconds(1)))
            let live = simulated.feed.live()
            #expect(live.words == "loading" && live.isLoading && live.value == nil)
            try await simulated.world.sleep(for: .seconds(2))
            #expect(live.words == "fresh new" && !live.isLoading && live.age == .seconds(1))
            try await simulated.world.sleep(for: .seconds(300))
            #expect(live.words == "stale new 301s" && live.age == .seconds(301))
            #expect(simulated.origin.calls.count == 1)
        }
    }

    @Test func staleCopyIsShownWithItsAgeWhileTheOriginIsAsked() throws {
        for strategy in ["cache-first", "network-first", "stale-while-revalidate"] {
            try run("\"\(strategy)\"") { simulated in
                simulated.stock("old", age: .seconds(600))
                simulated.origin.play(.value("new", after: .seconds(2)))
                let live = simulated.feed.live()
                try await simulated.world.sleep(for: .seconds(1))
                #expect(live.words == "stale old 601s ↻", "\(strategy)")
                try await simulated.world.sleep(for: .seconds(2))
                #expect(live.words == "fresh new", "\(strategy)")
                #expect(simulated.origin.calls.count == 1, "\(strategy)")
            }
        }
    }

    @Test func failureShowsTheErrorAndTheCopyWithItsAge() throws {
        for strategy in ["cache-first", "network-first", "stale-while-revalidate"] {
            try run("\"\(strategy)\"") { simulated in
                simulated.stock("old", age: .seconds(600))
                simulated.origin.play(then: .failure(.status(503), after: .seconds(2)))
                let live = simulated.feed.live()
                try await simulated.world.sleep(for: .seconds(3))
                #expect(live.words == "failed 503 | stale old 603s", "\(strategy)")
                #expect(live.error?.status == 503 && !live.isLoading)
                #expect(simulated.origin.calls.count == 1, "\(strategy)")
                simulated.origin.play(then: .value("new"))
                await live.refresh()
                #expect(live.words == "fresh new" && live.error == nil)
            }
        }
    }

    @Test func bannerKeepsTheCauseWhileTheOriginRests() throws {
        for strategy in ["cache-first", "network-first", "race"] {
            try run("\"\(strategy)\"") { simulated in
                simulated.stock("old", age: .seconds(600))
                simulated.origin.play(.failure(LoadError(.failed, "no address", cause: .noAddress)))
                _ = try await simulated.feed.load()
                try await simulated.world.sleep(for: .seconds(2))
                let live = simulated.feed.live()
                try await simulated.world.sleep(for: .milliseconds(1))
                #expect(live.error?.code == .failed && live.error?.cause == .noAddress, "\(strategy)")
                #expect(live.error?.message.hasPrefix("failed 2 s ago, asked again in ") == true, "\(strategy)")
                #expect(simulated.origin.calls.count == 1, "\(strategy)")
            }
        }
        try run(#""cache-first""#) { simulated in
            simulated.stock("old", age: .seconds(600))
            simulated.origin.play(.failure(.status(503)))
            _ = try await simulated.feed.load()
            let live = simulated.feed.live()
            try await simulated.world.sleep(for: .milliseconds(1))
            #expect(live.error?.status == 503)
            #expect(live.error?.message.hasPrefix("failed with 503, 0 s ago, asked again in ") == true, "\(live.words)")
        }
    }

    @Test func callThatOutlastsPatienceIsFollowed() throws {
        try run(#"{ "use": "network-first", "patience": "1s" }"#) { simulated in
            simulated.stock("old", age: .seconds(600))
            simulated.origin.play(.value("new", after: .seconds(3)), .failure(.status(500), after: .seconds(3)))
            let live = simulated.feed.live()
            try await simulated.world.sleep(for: .seconds(2))
            #expect(live.words == "stale old 602s ↻")
            try await simulated.world.sleep(for: .seconds(2))
            #expect(live.words == "fresh new" && simulated.origin.calls.count == 1)
            try await simulated.world.sleep(for: .seconds(60))
            await live.reload()
            #expect(live.words == "failed 500 | fresh new 64s")
        }
    }

    @Test func unchangedAnswerMakesTheCopyFresh() throws {
        try run(#""cache-first""#) { simulated in
            simulated.stock("old", age: .seconds(600), etag: "1")
            simulated.origin.play(.unchanged())
            let live = simulated.feed.live()
            await live.reload()
            #expect(live.words == "fresh old" && live.age == .zero)
        }
    }

    @Test func freshCopyAsksTheOriginOnlyIfThePolicyDoes() throws {
        try run(#""cache-first""#) { simulated in
            simulated.stock("old", age: .seconds(60))
            let live = simulated.feed.live()
            await live.reload()
            #expect(live.words == "fresh old" && simulated.origin.calls.isEmpty)
            simulated.origin.play(.value("new"))
            await live.refresh()
            #expect(live.words == "fresh new" && simulated.origin.calls.count == 1)
        }
    }

    @Test func errorAsAnswerRemovesTheValue() throws {
        try run(#""cache-first""#) { simulated in
            simulated.stock("old", age: .seconds(600))
            simulated.origin.play(.failure(.status(403)))
            let live = simulated.feed.live()
            await live.reload()
            #expect(live.words == "failed 403")
        }
    }

    @Test func screenWithoutCopyUnderCacheOnlyIsEmpty() throws {
        try run(#""cache-only""#) { simulated in
            let live = simulated.feed.live()
            await live.reload()
            #expect(live.words == "empty")
        }
    }

    @Test func fallbackIsStaleOfUnknownAgeBesideTheError() throws {
        try run(#""cache-first""#, fallbacks: #"[{ "use": "constant", "value": 1 }]"#) { simulated in
            simulated.origin.play(.failure(.status(503)))
            let live = simulated.feed.live()
            await live.reload()
            #expect(live.words == "failed 503 | stale 1 ?")
        }
    }

    @Test func answerOfAnotherLoadIsShown() throws {
        try run(#""cache-first""#) { simulated in
            let live = simulated.feed.live()
            await live.reload()
            simulated.origin.play(.value("two"), .value("three"))
            _ = try await simulated.feed.load(["page": "2"], mode: .refresh)
            try await simulated.world.settle()
            #expect(live.words == "fresh value")
            _ = try await simulated.feed.load(mode: .refresh)
            try await simulated.world.settle()
            #expect(live.words == "fresh three")
        }
    }

    @Test func requestForAnotherResourceFails() throws {
        try run(#""cache-first""#) { simulated in
            let live = simulated.feed.live(Request("catalog"))
            await live.reload()
            #expect(live.words == "failed noSuchResource")
        }
    }
}
