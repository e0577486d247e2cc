import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// The wrappers `timeout` and `retry`, and their order.
@Suite struct WrapperTests {
    private func simulated(
        _ world: SimulatedWorld, _ around: String, strategy: String = #""network-only""#, plugins: [Plugin] = []
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(world, strategy: strategy, around: "[\(around)]", plugins: plugins)
        simulated.origin.play(then: .failure(.status(503)))
        return simulated
    }

    /// Returns the times at which an origin that always fails is called.
    private func moments(
        _ retry: String, seed: UInt64 = 1, failure: LoadError = .status(503)
    ) throws -> [Duration] {
        try SimulatedWorld(seed: seed).run { world in
            let moments = Locked<[Duration]>([])
            let clocked = Plugin.wrapper("clocked", "Notes when it is called.") { _, inner in
                Noting(inner: inner) { moments.withLock { $0.append(world.uptime) } }
            }
            let simulated = try await simulated(world, "\(retry), \"clocked\"", plugins: [clocked])
            simulated.origin.play(then: .failure(failure))
            #expect(try await simulated.start().failure().message == failure.message)
            // To the microsecond: waits are multiplied by a factor that is no whole number.
            return moments.withLock { $0.map { .microseconds(Int64(($0.inSeconds * 1_000_000).rounded())) } }
        }
    }

    // MARK: Timeout

    @Test func slowCallIsCancelledByTimeout() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #"{ "use": "timeout", "after": "8s" }"#)
            simulated.origin.play(.hang)
            let failure = try await simulated.start().failure()
            #expect(failure.code == .timeout && !failure.isAnswer && world.uptime == .seconds(8))
            try await world.settle()
            #expect(world.unfinished == 1)
            // To the caller the origin has failed, so that is what is counted.
            #expect(simulated.feed.metrics.originCalls == 1 && simulated.feed.metrics.originErrors == 1)
        }
    }

    @Test func timeoutAbandonsOriginThatIgnoresCancellation() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(
                world, #"{ "use": "timeout", "after": "8s" }"#, strategy: #""network-first""#)
            simulated.origin.play(.deaf)
            #expect(try await simulated.start().failure().code == .timeout)
            #expect(world.uptime == .seconds(8))
            simulated.origin.play(then: .value("new"))
            #expect(try await simulated.feed.load().text == "new")
            try await world.sleep(for: .seconds(3_600))
            #expect(world.unfinished == 1 && simulated.held() == "new")
        }
    }

    @Test func fastCallIsNotAffectedByTimeout() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #"{ "use": "timeout", "after": "8s" }"#)
            simulated.origin.play(
                .value("in time", after: .milliseconds(7_999)), .failure(.status(500), after: .seconds(7)))
            #expect(try await simulated.feed.load().text == "in time")
            #expect(try await simulated.start().failure().status == 500)
            #expect(world.unfinished == 1, "no timer stays behind")
        }
    }

    @Test(arguments: [-86_400, 86_400])
    func callWithinTimeoutIsNotEndedByStepOfWallClock(_ step: Int) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #"{ "use": "timeout", "after": "8s" }"#)
            simulated.origin.play(.value("in time", after: .seconds(7)), .hang)
            for isAnswered in [true, false] {
                let load = simulated.start()
                try await world.sleep(for: .seconds(1))
                world.stepClock(by: .seconds(step))
                if isAnswered {
                    #expect(try await load.value().text == "in time")
                } else {
                    #expect(try await load.failure().code == .timeout && world.uptime == .seconds(15))
                }
            }
        }
    }

    @Test func cancelledCallerCancelsCallInsideTimeout() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #"{ "use": "timeout", "after": "8s" }"#)
            simulated.origin.play(.hang)
            let load = simulated.start()
            try await world.sleep(for: .seconds(1))
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value() }
            try await world.settle()
            #expect(load.endedAt == .seconds(1) && world.unfinished == 1)
        }
    }

    @Test func copyIsServedAfterTimeout() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(
                world, #"{ "use": "timeout", "after": "8s" }"#, strategy: #""network-first""#)
            simulated.stock("old", age: .zero)
            simulated.origin.play(.hang)
            let copy = try await simulated.feed.load()
            #expect(copy.text == "old" && copy.fellBack && world.uptime == .seconds(8))
        }
    }

    // MARK: Retry

    @Test func defaultRetriesFollowAfterOneTwoAndFourSeconds() throws {
        #expect(try moments(#""retry""#) == [0, 1, 3, 7].map { .seconds($0) })
    }

    @Test func backoffFactorAndRetriesAreUsed() throws {
        let retry = #"{ "use": "retry", "retries": 4, "backoff": "200ms", "factor": 3 }"#
        #expect(try moments(retry) == [0, 200, 800, 2_600, 8_000].map { .milliseconds($0) })
        #expect(try moments(#"{ "use": "retry", "retries": 2, "factor": 1 }"#) == [0, 1, 2].map { .seconds($0) })
    }

    @Test func noWaitExceedsLimit() throws {
        let retry = #"{ "use": "retry", "retries": 5, "limit": "3s" }"#
        #expect(try moments(retry) == [0, 1, 3, 6, 9, 12].map { .seconds($0) })
        let jittery = #"{ "use": "retry", "retries": 5, "limit": "3s", "jitter": 1 }"#
        for seed in UInt64(1)...20 {
            let moments = try moments(jittery, seed: seed)
            for (one, next) in zip(moments, moments.dropFirst()) { #expect(next - one <= .seconds(3)) }
        }
    }

    @Test func jitterVariesWaitByAtMostItsShare() throws {
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

    @Test func retryWaitsAtLeastRetryAfter() throws {
        let moments = try moments(#""retry""#, failure: .status(429, retryAfter: .seconds(3)))
        #expect(moments == [0, 3, 6, 10].map { .seconds($0) })
    }

    @Test func retryAfterAboveLimitEndsRetries() throws {
        #expect(try moments(#""retry""#, failure: .status(503, retryAfter: .seconds(61))) == [.zero])
        #expect(
            try moments(#"{ "use": "retry", "retries": 1 }"#, failure: .status(503, retryAfter: .seconds(60)))
                == [.zero, .seconds(60)])
    }

    @Test(arguments: [LoadError.status(404), .status(401), .answer(), .answer(status: 500)])
    func answerIsNotRetried(_ answer: LoadError) throws {
        #expect(try moments(#""retry""#, failure: answer) == [.zero])
    }

    @Test func successfulTryEndsRetries() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""retry""#)
            simulated.origin.play(then: .value("third"))
            simulated.origin.play(.failure(.status(500)), .failure(.status(500)))
            let loaded = try await simulated.feed.load()
            #expect(loaded.text == "third" && world.uptime == .seconds(3) && simulated.origin.calls.count == 3)
            #expect(loaded.trail.lines.count { $0.hasPrefix("retry: ") } == 2)
        }
    }

    @Test func cancellationIsNotRetried() throws {
        for moment in [500, 1_500] {
            try SimulatedWorld().run { world in
                let simulated = try await simulated(world, #""retry""#)
                simulated.origin.play(.failure(.status(500)), .hang)
                let load = simulated.start()
                try await world.sleep(for: .milliseconds(moment))
                load.cancel()
                await #expect(throws: CancellationError.self) { try await load.value() }
                try await world.sleep(for: .seconds(60))
                #expect(simulated.origin.calls.count == (moment == 500 ? 1 : 2) && world.unfinished == 1)
            }
        }
    }

    @Test func originThatThrowsCancellationIsRetried() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""retry""#)
            simulated.origin.play(then: .value("second"))
            simulated.origin.play(.throwing(CancellationError()))
            #expect(try await simulated.feed.load().text == "second")
        }
    }

    // MARK: Order

    @Test func wrappersAreListedInOrderOfRequest() throws {
        try SimulatedWorld().run { world in
            let met = Locked<[String]>([])
            let plugins = ["a", "b", "c"].map { name in
                Plugin.wrapper(name, "Notes that it is met.") { _, inner in
                    Noting(inner: inner) { met.withLock { $0.append(name) } }
                }
            }
            let simulated = try await simulated(world, #""b", "a", "c""#, plugins: plugins)
            _ = await simulated.start().result()
            #expect(met.withLock { $0 } == ["b", "a", "c"])
        }
    }

    @Test func timeoutInsideRetryLimitsEachTryAndOutsideLimitsAll() throws {
        let timeout = #"{ "use": "timeout", "after": "10s" }"#
        for (around, calls, ends) in [("\"retry\", \(timeout)", 4, 47), ("\(timeout), \"retry\"", 1, 10)] {
            try SimulatedWorld().run { world in
                let simulated = try await simulated(world, around)
                simulated.origin.play(then: .hang)
                #expect(try await simulated.start().failure().code == .timeout)
                #expect(simulated.origin.calls.count == calls && world.uptime == .seconds(ends))
            }
        }
    }
}

/// A loader that runs an action on each call.
private struct Noting: Loader {
    let inner: any Loader
    let note: @Sendable () -> Void

    func load(_ call: Call) async throws -> Loaded<Entry> {
        note()
        return try await inner.load(call)
    }
}
