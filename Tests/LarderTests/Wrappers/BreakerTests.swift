import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The wrapper `breaker`: opens after three failures here, rests for 30 s, then lets one call try.
@Suite struct BreakerTests {
    private func simulated(
        _ world: SimulatedWorld, rest: String = "30s", strategy: String = #""network-only""#
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: strategy, validators: #"[{ "use": "age", "fresh": "5m", "onError": "1d" }]"#,
            around: #"[{ "use": "breaker", "failures": 3, "rest": "\#(rest)" }]"#)
        simulated.origin.play(then: .failure(.status(503)))
        return simulated
    }

    /// Returns the outcome of one load: a value's text, a status, or the code of an error.
    private func outcome(_ simulated: SimulatedPantry) async throws -> String {
        switch await simulated.start().result() {
        case .success(let loaded): loaded.text
        case .failure(let error as LoadError): error.status.map { "\($0)" } ?? "\(error.code)"
        case .failure(let error): "\(type(of: error))"
        }
    }

    private func outcomes(_ count: Int, _ simulated: SimulatedPantry) async throws -> [String] {
        var outcomes: [String] = []
        for _ in 0..<count { outcomes.append(try await outcome(simulated)) }
        return outcomes
    }

    // MARK: Open

    @Test func opensAfterFailuresAndMakesNoCallsWhileItRests() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            #expect(try await outcomes(5, simulated) == ["503", "503", "503", "unavailable", "unavailable"])
            try await world.sleep(for: .seconds(21))
            let refused = try await simulated.start().failure()
            #expect(refused.message == "breaker open after 3 failures in a row, next try in 9 s")
            #expect(!refused.isAnswer && refused.origin == nil)
            try await world.sleep(for: .seconds(9) - .nanoseconds(1))
            #expect(try await outcome(simulated) == "unavailable" && simulated.origin.calls.count == 3)
            try await world.sleep(for: .nanoseconds(1))
            #expect(try await outcome(simulated) == "503" && simulated.origin.calls.count == 4)
        }
    }

    @Test func successResetsFailureCount() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let failure = ScriptedOrigin.Act.failure(.status(503))
            simulated.origin.play(
                failure, failure, .value("a"), failure, failure, .value("b"), failure, failure, failure)
            let outcomes = try await outcomes(10, simulated)
            #expect(outcomes == ["503", "503", "a", "503", "503", "b", "503", "503", "503", "unavailable"])
        }
    }

    @Test(arguments: [LoadError.status(404), .status(401), .answer()])
    func answersDoNotOpenBreaker(_ answer: LoadError) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(then: .failure(answer))
            for _ in 0..<10 { #expect(try await simulated.start().failure().isAnswer) }
            #expect(simulated.origin.calls.count == 10)
        }
    }

    @Test func cancelledCallsAreNotCounted() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            #expect(try await outcomes(2, simulated) == ["503", "503"])
            simulated.origin.play(.hang, .hang, .hang, .hang)
            let loads = simulated.crowd(4)
            try await world.settle()
            for load in loads { load.cancel() }
            for load in loads { _ = await load.result() }
            #expect(try await outcomes(2, simulated) == ["503", "unavailable"], "neither a failure nor a success")
        }
    }

    @Test func accountThatIsNotSignedInIsNeitherFailureNorSuccess() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            #expect(try await outcomes(2, simulated) == ["503", "503"])
            let notSignedIn = ScriptedOrigin.Act.failure(LoadError(.notSignedIn, "nobody is signed in"))
            simulated.origin.play(notSignedIn, notSignedIn)
            #expect(
                try await outcomes(4, simulated) == ["notSignedIn", "notSignedIn", "503", "unavailable"])
            try await world.sleep(for: .seconds(30))
            simulated.origin.play(notSignedIn)
            #expect(try await outcomes(3, simulated) == ["notSignedIn", "503", "unavailable"], "the next call tries")
        }
    }

    // MARK: The rest that the origin asks for

    @Test(arguments: [
        (Duration.seconds(120), Duration.seconds(120)), (.seconds(5), .seconds(30)), (.forever, .seconds(3_600)),
    ])
    func restIsAsLongAsOriginAsksUpToAnHour(_ asked: Duration, _ rest: Duration) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(then: .failure(.status(503, retryAfter: asked)))
            #expect(try await outcomes(4, simulated) == ["503", "503", "503", "unavailable"])
            try await world.sleep(for: rest - .nanoseconds(1))
            #expect(try await outcome(simulated) == "unavailable")
            try await world.sleep(for: .nanoseconds(1))
            #expect(try await outcomes(2, simulated) == ["503", "unavailable"])
            try await world.sleep(for: rest - .nanoseconds(1))
            #expect(try await outcome(simulated) == "unavailable", "the origin asked for it again")
        }
    }

    @Test func restThatOriginAskedForEarlierIsKept() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(.failure(.status(429, retryAfter: .seconds(100))))
            #expect(try await outcomes(3, simulated) == ["429", "503", "503"])
            try await world.sleep(for: .seconds(100) - .nanoseconds(1))
            #expect(try await outcome(simulated) == "unavailable")
            try await world.sleep(for: .nanoseconds(1))
            simulated.origin.play(.value("new"))
            #expect(try await outcomes(4, simulated) == ["new", "503", "503", "503"])
            try await world.sleep(for: .seconds(30))
            #expect(try await outcome(simulated) == "503", "a success ends what was asked for")
        }
    }

    @Test func restGrowsWhenLateFailureAsksForMore() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(.failure(.status(503, retryAfter: .seconds(60)), after: .seconds(20)))
            let early = simulated.start(["id": "early"])
            try await world.settle()
            _ = try await outcomes(3, simulated)
            try await world.sleep(for: .seconds(20))
            #expect(try await early.failure().status == 503)
            try await world.sleep(for: .seconds(60) - .nanoseconds(1))
            #expect(try await outcome(simulated) == "unavailable")
            try await world.sleep(for: .nanoseconds(1))
            #expect(try await outcome(simulated) == "503")
        }
    }

    // MARK: Half open

    @Test func oneCallTriesAfterRestAndOthersAreRefused() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
                let simulated = try await simulated(world)
                _ = try await outcomes(3, simulated)
                try await world.sleep(for: .seconds(30))
                simulated.origin.play(then: .value("new", after: .seconds(2)))
                let loads = simulated.crowd(10)
                try await world.sleep(for: .seconds(1))
                #expect(simulated.origin.calls.count == 4 && loads.count { $0.isOver } == 9)
                let refused = try await simulated.start().failure()
                #expect(refused.message == "breaker open after 3 failures in a row, a try is under way")
                try await world.sleep(for: .seconds(1))
                #expect(loads.allSatisfy { $0.isOver })
                let after = simulated.crowd(10)
                for load in after { #expect(try await load.value().text == "new") }
            }
        }
    }

    @Test func failedTryOpensBreakerForWholeRest() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            _ = try await outcomes(3, simulated)
            try await world.sleep(for: .seconds(30))
            simulated.origin.play(.failure(.status(500), after: .seconds(2)))
            #expect(try await outcomes(2, simulated) == ["500", "unavailable"])
            try await world.sleep(for: .seconds(30) - .nanoseconds(1))
            #expect(try await outcome(simulated) == "unavailable", "the rest begins when the try fails")
            try await world.sleep(for: .nanoseconds(1))
            simulated.origin.play(.value("new"))
            #expect(try await outcomes(3, simulated) == ["new", "503", "503"], "one success closes it")
        }
    }

    @Test func answeredTryClosesBreakerEvenIfAnswerIsAnError() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            _ = try await outcomes(3, simulated)
            try await world.sleep(for: .seconds(30))
            simulated.origin.play(.failure(.status(404)), .value("new"))
            #expect(try await outcomes(2, simulated) == ["404", "new"])
        }
    }

    @Test(arguments: [ScriptedOrigin.Act.hang, .deaf])
    func nextCallTriesAtOnceAfterCancelledTry(_ act: ScriptedOrigin.Act) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            _ = try await outcomes(3, simulated)
            try await world.sleep(for: .seconds(30))
            simulated.origin.play(act)
            let load = simulated.start()
            try await world.sleep(for: .seconds(1))
            load.cancel()
            try await world.settle()
            simulated.origin.play(.value("new", after: .seconds(1)))
            let next = simulated.start()
            try await world.settle()
            #expect(try await simulated.start(["id": "2"]).failure().code == .unavailable, "still one at a time")
            #expect(try await next.value().text == "new")
            // The late answer of an origin that ignored its cancellation does not count.
            try await world.sleep(for: .seconds(3_600))
            #expect(try await outcomes(4, simulated) == ["503", "503", "503", "unavailable"])
        }
    }

    @Test func callsThatBeganBeforeOpeningDoNotChangeState() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, rest: "1s")
            simulated.origin.play(
                .value("slow", after: .milliseconds(500)), .failure(.status(500), after: .milliseconds(1_500)))
            let early = simulated.crowd(2)
            try await world.settle()
            _ = try await outcomes(3, simulated)
            #expect(try await early[0].value().text == "slow")
            #expect(try await outcome(simulated) == "unavailable", "a late success does not close it")
            try await world.sleep(for: .milliseconds(500))
            simulated.origin.play(.value("new", after: .seconds(10)))
            let probe = simulated.start()
            #expect(try await early[1].failure().status == 500)
            try await world.sleep(for: .seconds(2))
            #expect(try await simulated.start(["id": "9"]).failure().code == .unavailable, "the one try is still on")
            #expect(try await probe.value().text == "new")
        }
    }
}
