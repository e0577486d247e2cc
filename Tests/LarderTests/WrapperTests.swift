import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// What is put around an origin: timeout, retry, and the order of the two.
@Suite struct WrapperTests {
    private func kitchen(
        _ world: SimulatedWorld, _ around: String, strategy: String = #""network-only""#, plugins: [Plugin] = []
    ) async throws -> Kitchen {
        let kitchen = try await Kitchen(world, strategy: strategy, around: "[\(around)]", plugins: plugins)
        kitchen.origin.play(then: .failure(.status(503)))
        return kitchen
    }

    /// The moments at which an origin that always fails is called.
    private func moments(
        _ retry: String, seed: UInt64 = 1, failure: LoadError = .status(503)
    ) throws -> [Duration] {
        try SimulatedWorld(seed: seed).run { world in
            let moments = Locked<[Duration]>([])
            let clocked = Plugin.wrapper("clocked", "Notes when it is called.") { _, inner in
                Noting(inner: inner) { moments.withLock { $0.append(world.uptime) } }
            }
            let kitchen = try await kitchen(world, "\(retry), \"clocked\"", plugins: [clocked])
            kitchen.origin.play(then: .failure(failure))
            #expect(try await kitchen.start().failure().message == failure.message)
            // To the microsecond: waits are multiplied by a factor that is no whole number.
            return moments.withLock { $0.map { .microseconds(Int64(($0.inSeconds * 1_000_000).rounded())) } }
        }
    }

    // MARK: Timeout

    @Test func aCallThatTakesTooLongIsGivenUpAndCancelled() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #"{ "use": "timeout", "after": "8s" }"#)
            kitchen.origin.play(.hang)
            let failure = try await kitchen.start().failure()
            #expect(failure.code == .timeout && !failure.isAnswer && world.uptime == .seconds(8))
            try await world.settle()
            #expect(world.unfinished == 1)
            // To the caller the origin has failed, so that is what is counted.
            #expect(kitchen.feed.metrics.originCalls == 1 && kitchen.feed.metrics.originErrors == 1)
        }
    }

    @Test func anOriginThatIgnoresItsCancellationIsGivenUpInTime() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(
                world, #"{ "use": "timeout", "after": "8s" }"#, strategy: #""network-first""#)
            kitchen.origin.play(.deaf)
            #expect(try await kitchen.start().failure().code == .timeout)
            #expect(world.uptime == .seconds(8))
            kitchen.origin.play(then: .value("new"))
            #expect(try await kitchen.feed.load().text == "new")
            try await world.sleep(for: .seconds(3_600))
            #expect(world.unfinished == 1 && kitchen.held() == "new")
        }
    }

    @Test func aCallWithinTheTimeIsLeftAlone() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #"{ "use": "timeout", "after": "8s" }"#)
            kitchen.origin.play(
                .value("in time", after: .milliseconds(7_999)), .failure(.status(500), after: .seconds(7)))
            #expect(try await kitchen.feed.load().text == "in time")
            #expect(try await kitchen.start().failure().status == 500)
            #expect(world.unfinished == 1, "no timer stays behind")
        }
    }

    @Test func cancellingTheCallerCancelsTheCallWithinATimeout() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #"{ "use": "timeout", "after": "8s" }"#)
            kitchen.origin.play(.hang)
            let load = kitchen.start()
            try await world.sleep(for: .seconds(1))
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value() }
            try await world.settle()
            #expect(load.endedAt == .seconds(1) && world.unfinished == 1)
        }
    }

    @Test func aTimeoutIsAFailureThatACopyStandsInFor() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(
                world, #"{ "use": "timeout", "after": "8s" }"#, strategy: #""network-first""#)
            kitchen.stock("old", age: .zero)
            kitchen.origin.play(.hang)
            let copy = try await kitchen.feed.load()
            #expect(copy.text == "old" && copy.fellBack && world.uptime == .seconds(8))
        }
    }

    // MARK: Retry

    @Test func byDefaultThreeTriesFollowAfterOneTwoAndFourSeconds() throws {
        #expect(try moments(#""retry""#) == [0, 1, 3, 7].map { .seconds($0) })
    }

    @Test func backoffFactorAndRetriesAreHeeded() throws {
        let retry = #"{ "use": "retry", "retries": 4, "backoff": "200ms", "factor": 3 }"#
        #expect(try moments(retry) == [0, 200, 800, 2_600, 8_000].map { .milliseconds($0) })
        #expect(try moments(#"{ "use": "retry", "retries": 2, "factor": 1 }"#) == [0, 1, 2].map { .seconds($0) })
    }

    @Test func noWaitIsLongerThanTheCap() throws {
        let retry = #"{ "use": "retry", "retries": 5, "cap": "3s" }"#
        #expect(try moments(retry) == [0, 1, 3, 6, 9, 12].map { .seconds($0) })
        let jittery = #"{ "use": "retry", "retries": 5, "cap": "3s", "jitter": 1 }"#
        for seed in UInt64(1)...20 {
            let moments = try moments(jittery, seed: seed)
            for (one, next) in zip(moments, moments.dropFirst()) { #expect(next - one <= .seconds(3)) }
        }
    }

    @Test func jitterVariesEachWaitEitherWayAndByNoMoreThanItsShare() throws {
        var ratios: [Double] = []
        for seed in UInt64(1)...60 {
            let moments = try moments(#"{ "use": "retry", "jitter": 0.1 }"#, seed: seed)
            for (number, planned) in [1.0, 2, 4].enumerated() {
                ratios.append((moments[number + 1] - moments[number]).inSeconds / planned)
            }
        }
        #expect(ratios.allSatisfy { $0 >= 0.9 && $0 <= 1.1 })
        #expect(ratios.contains { $0 < 0.92 } && ratios.contains { $0 > 1.08 })
    }

    @Test func whatTheOriginAsksForIsWaitedAtLeast() throws {
        let moments = try moments(#""retry""#, failure: .status(429, retryAfter: .seconds(3)))
        #expect(moments == [0, 3, 6, 10].map { .seconds($0) })
    }

    @Test func ifTheOriginAsksForMoreThanTheCapNoMoreTriesAreMade() throws {
        #expect(try moments(#""retry""#, failure: .status(503, retryAfter: .seconds(61))) == [.zero])
        #expect(
            try moments(#"{ "use": "retry", "retries": 1 }"#, failure: .status(503, retryAfter: .seconds(60)))
                == [.zero, .seconds(60)])
    }

    @Test(arguments: [LoadError.status(404), .status(401), .answer(), .answer(status: 500)])
    func anAnswerIsNotTriedAgain(_ answer: LoadError) throws {
        #expect(try moments(#""retry""#, failure: answer) == [.zero])
    }

    @Test func aTryThatSucceedsEndsIt() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""retry""#)
            kitchen.origin.play(then: .value("third"))
            kitchen.origin.play(.failure(.status(500)), .failure(.status(500)))
            let loaded = try await kitchen.feed.load()
            #expect(loaded.text == "third" && world.uptime == .seconds(3) && kitchen.origin.calls.count == 3)
            #expect(loaded.trail.lines.count { $0.hasPrefix("retry: ") } == 2)
        }
    }

    @Test func cancellationIsNotTriedAgain() throws {
        for moment in [500, 1_500] {
            try SimulatedWorld().run { world in
                let kitchen = try await kitchen(world, #""retry""#)
                kitchen.origin.play(.failure(.status(500)), .hang)
                let load = kitchen.start()
                try await world.sleep(for: .milliseconds(moment))
                load.cancel()
                await #expect(throws: CancellationError.self) { try await load.value() }
                try await world.sleep(for: .seconds(60))
                #expect(kitchen.origin.calls.count == (moment == 500 ? 1 : 2) && world.unfinished == 1)
            }
        }
    }

    @Test func anOriginThatCancelsItselfHasFailedAndIsTriedAgain() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""retry""#)
            kitchen.origin.play(then: .value("second"))
            kitchen.origin.play(.throwing(CancellationError()))
            #expect(try await kitchen.feed.load().text == "second")
        }
    }

    // MARK: Order

    @Test func aroundIsWrittenInTheOrderInWhichARequestMeetsIt() throws {
        try SimulatedWorld().run { world in
            let met = Locked<[String]>([])
            let plugins = ["a", "b", "c"].map { name in
                Plugin.wrapper(name, "Notes that it is met.") { _, inner in
                    Noting(inner: inner) { met.withLock { $0.append(name) } }
                }
            }
            let kitchen = try await kitchen(world, #""b", "a", "c""#, plugins: plugins)
            _ = await kitchen.start().result()
            #expect(met.withLock { $0 } == ["b", "a", "c"])
        }
    }

    @Test func aTimeoutWithinARetryLimitsEachTryAndOneAroundItLimitsThemAll() throws {
        let timeout = #"{ "use": "timeout", "after": "10s" }"#
        for (around, calls, ends) in [("\"retry\", \(timeout)", 4, 47), ("\(timeout), \"retry\"", 1, 10)] {
            try SimulatedWorld().run { world in
                let kitchen = try await kitchen(world, around)
                kitchen.origin.play(then: .hang)
                #expect(try await kitchen.start().failure().code == .timeout)
                #expect(kitchen.origin.calls.count == calls && world.uptime == .seconds(ends))
            }
        }
    }
}

/// Does something whenever it is called.
private struct Noting: Loader {
    let inner: any Loader
    let note: @Sendable () -> Void

    func load(_ call: Call) async throws -> Loaded<Entry> {
        note()
        return try await inner.load(call)
    }
}
