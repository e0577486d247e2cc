import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Requests that say how old a copy may be.
@Suite struct NoOlderThanTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#
    private static let reason = "older than the request allows"

    private func simulated(
        _ world: SimulatedWorld, strategy: String = #""cache-first""#, isStoreForeign: Bool = true
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: strategy, validators: Self.windows, isStoreForeign: isStoreForeign)
        simulated.stock("old", age: .seconds(10), etag: "e1")
        simulated.origin.play(then: .value("new", after: .milliseconds(50)))
        return simulated
    }

    @Test(arguments: [#""cache-first""#, #""stale-while-revalidate""#, #""race""#])
    func copyIsShownOnlyWhileItIsYounger(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy: strategy)
            let younger = try await simulated.feed.load(noOlderThan: .milliseconds(10_001))
            #expect(younger.text == "old" && younger.source == .store("faulty"))
            try await world.sleep(for: .seconds(1))
        }
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy: strategy)
            // At exactly that age, the copy is too old.
            #expect(try await simulated.feed.load(noOlderThan: .seconds(10)).source == .origin)
            #expect(simulated.origin.calls.first?.known?.metadata.etag == "e1", "the origin is asked about the copy")
        }
    }

    @Test(arguments: [#""cache-first""#, #""network-first""#, #"{ "use": "network-first", "patience": "10ms" }"#])
    func olderCopyIsNotShownAfterErrorNorWhileOriginRests(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy: strategy)
            simulated.origin.play(then: .failure(.status(503), after: .milliseconds(50)))
            let strict = simulated.feed.request(noOlderThan: .seconds(10))
            let failed = try await simulated.start(strict).failure()
            #expect(failed.status == 503 && failed.trail.lines.contains { $0.contains(Self.reason) })
            #expect(simulated.feed.metrics.staleErrors == 1)
            #expect(try await simulated.start(strict).failure().status == 503, "while the origin rests")
            #expect(simulated.origin.calls.count == 2)
            #expect(try await simulated.feed.load().text == "old", "another caller gets the copy")
        }
    }

    @Test func olderCopyIsNotShownAfterDeadlineNorForCachedOnlyRequest() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await simulated(world)
            simulated.origin.play(then: .value("late", after: .seconds(9)))
            let strict = simulated.feed.request(deadline: .seconds(1), noOlderThan: .seconds(5))
            #expect(try await simulated.start(strict).failure().code == .deadline)
            let quick = simulated.feed.request(mode: .cachedOnly, noOlderThan: .seconds(5))
            let missing = try await simulated.start(quick).failure()
            #expect(missing.code == .notCached && missing.trail.lines.contains { $0.contains(Self.reason) })
        }
    }

    @Test func olderCopyIsNotAnsweredAtOnce() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, isStoreForeign: false)
            #expect(simulated.feed.answer(simulated.feed.request(noOlderThan: .seconds(10))) == nil)
            #expect(simulated.feed.answer(simulated.feed.request(noOlderThan: .seconds(11)))?.text == "old")
        }
    }

    @Test func callIsSharedWithCallersThatAllowOlderCopies() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy: #""network-first""#)
            let loads = [nil, Duration.seconds(1)].map { simulated.start(simulated.feed.request(noOlderThan: $0)) }
            for load in loads { #expect(try await load.value().text == "new") }
            #expect(simulated.origin.calls.count == 1)
        }
    }

    @Test func copyFromTheFutureIsNotShown() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#, validators: Self.windows)
            simulated.stock("future", age: .seconds(-100))
            simulated.origin.play(then: .failure(.status(503)))
            #expect(try await simulated.feed.load().text == "future")
            let strict = simulated.feed.request(noOlderThan: .seconds(5))
            let error = await #expect(throws: LoadError.self) { try await simulated.feed.load(strict) }
            #expect(error?.status == 503)
        }
    }
}
