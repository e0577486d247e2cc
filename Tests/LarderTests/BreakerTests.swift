import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// The wrapper `breaker`: opens after three failures here, rests for 30 s, then lets one call try.
@Suite struct BreakerTests {
    private func kitchen(
        _ world: SimulatedWorld, rest: String = "30s", strategy: String = #""network-only""#
    ) async throws -> Kitchen {
        let kitchen = try await Kitchen(
            world, strategy: strategy, validators: #"[{ "use": "age", "fresh": "5m", "onError": "1d" }]"#,
            around: #"[{ "use": "breaker", "failures": 3, "rest": "\#(rest)" }]"#)
        kitchen.origin.play(then: .failure(.status(503)))
        return kitchen
    }

    /// What one load ends with: a value's text, a status, or the code of an error.
    private func outcome(_ kitchen: Kitchen) async throws -> String {
        switch await kitchen.start().result() {
        case .success(let loaded): loaded.text
        case .failure(let error as LoadError): error.status.map { "\($0)" } ?? "\(error.code)"
        case .failure(let error): "\(type(of: error))"
        }
    }

    private func outcomes(_ count: Int, _ kitchen: Kitchen) async throws -> [String] {
        var outcomes: [String] = []
        for _ in 0..<count { outcomes.append(try await outcome(kitchen)) }
        return outcomes
    }

    // MARK: Open

    @Test func opensAfterSoManyFailuresAndCallsNobodyWhileItRests() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            #expect(try await outcomes(5, kitchen) == ["503", "503", "503", "unavailable", "unavailable"])
            try await world.sleep(for: .seconds(21))
            let refused = try await kitchen.start().failure()
            #expect(refused.message == "breaker open after 3 failures in a row, next try in 9 s")
            #expect(!refused.isAnswer && refused.origin == nil)
            try await world.sleep(for: .seconds(9) - .nanoseconds(1))
            #expect(try await outcome(kitchen) == "unavailable" && kitchen.origin.calls.count == 3)
            try await world.sleep(for: .nanoseconds(1))
            #expect(try await outcome(kitchen) == "503" && kitchen.origin.calls.count == 4)
        }
    }

    @Test func aSuccessInBetweenStartsTheCountAnew() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            let failure = ScriptedOrigin.Act.failure(.status(503))
            kitchen.origin.play(failure, failure, .value("a"), failure, failure, .value("b"), failure, failure, failure)
            let outcomes = try await outcomes(10, kitchen)
            #expect(outcomes == ["503", "503", "a", "503", "503", "b", "503", "503", "503", "unavailable"])
        }
    }

    @Test(arguments: [LoadError.status(404), .status(401), .answer()])
    func answersDoNotOpenIt(_ answer: LoadError) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.origin.play(then: .failure(answer))
            for _ in 0..<10 { #expect(try await kitchen.start().failure().isAnswer) }
            #expect(kitchen.origin.calls.count == 10)
        }
    }

    @Test func cancelledCallsCountForNothing() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            #expect(try await outcomes(2, kitchen) == ["503", "503"])
            kitchen.origin.play(.hang, .hang, .hang, .hang)
            let loads = kitchen.crowd(4)
            try await world.settle()
            for load in loads { load.cancel() }
            for load in loads { _ = await load.result() }
            #expect(try await outcomes(2, kitchen) == ["503", "unavailable"], "neither a failure nor a success")
        }
    }

    // MARK: Half open

    @Test func afterTheRestExactlyOneCallTriesAndTheOthersAreRefused() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
                let kitchen = try await kitchen(world)
                _ = try await outcomes(3, kitchen)
                try await world.sleep(for: .seconds(30))
                kitchen.origin.play(then: .value("new", after: .seconds(2)))
                let loads = kitchen.crowd(10)
                try await world.sleep(for: .seconds(1))
                #expect(kitchen.origin.calls.count == 4 && loads.count { $0.isOver } == 9)
                let refused = try await kitchen.start().failure()
                #expect(refused.message == "breaker open after 3 failures in a row, a try is under way")
                try await world.sleep(for: .seconds(1))
                #expect(loads.allSatisfy { $0.isOver })
                let after = kitchen.crowd(10)
                for load in after { #expect(try await load.value().text == "new") }
            }
        }
    }

    @Test func aTryThatFailsOpensItAgainForAsLong() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            _ = try await outcomes(3, kitchen)
            try await world.sleep(for: .seconds(30))
            kitchen.origin.play(.failure(.status(500), after: .seconds(2)))
            #expect(try await outcomes(2, kitchen) == ["500", "unavailable"])
            try await world.sleep(for: .seconds(30) - .nanoseconds(1))
            #expect(try await outcome(kitchen) == "unavailable", "the rest begins when the try fails")
            try await world.sleep(for: .nanoseconds(1))
            kitchen.origin.play(.value("new"))
            #expect(try await outcomes(3, kitchen) == ["new", "503", "503"], "one success closes it")
        }
    }

    @Test func aTryThatIsAnsweredClosesItEvenIfTheAnswerIsAnError() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            _ = try await outcomes(3, kitchen)
            try await world.sleep(for: .seconds(30))
            kitchen.origin.play(.failure(.status(404)), .value("new"))
            #expect(try await outcomes(2, kitchen) == ["404", "new"])
        }
    }

    @Test(arguments: [ScriptedOrigin.Act.hang, .deaf])
    func aTryThatIsCancelledLeavesItsPlaceToTheNextAtOnce(_ act: ScriptedOrigin.Act) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            _ = try await outcomes(3, kitchen)
            try await world.sleep(for: .seconds(30))
            kitchen.origin.play(act)
            let load = kitchen.start()
            try await world.sleep(for: .seconds(1))
            load.cancel()
            try await world.settle()
            kitchen.origin.play(.value("new", after: .seconds(1)))
            let next = kitchen.start()
            try await world.settle()
            #expect(try await kitchen.start(["id": "2"]).failure().code == .unavailable, "still one at a time")
            #expect(try await next.value().text == "new")
            // What an origin that heeded nothing says in the end is about a try that nobody made.
            try await world.sleep(for: .seconds(3_600))
            #expect(try await outcomes(4, kitchen) == ["503", "503", "503", "unavailable"])
        }
    }

    @Test func callsThatBeganBeforeItOpenedHaveNoSayAfterwards() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, rest: "1s")
            kitchen.origin.play(
                .value("slow", after: .milliseconds(500)), .failure(.status(500), after: .milliseconds(1_500)))
            let early = kitchen.crowd(2)
            try await world.settle()
            _ = try await outcomes(3, kitchen)
            #expect(try await early[0].value().text == "slow")
            #expect(try await outcome(kitchen) == "unavailable", "a late success does not close it")
            try await world.sleep(for: .milliseconds(500))
            kitchen.origin.play(.value("new", after: .seconds(10)))
            let probe = kitchen.start()
            #expect(try await early[1].failure().status == 500)
            try await world.sleep(for: .seconds(2))
            #expect(try await kitchen.start(["id": "9"]).failure().code == .unavailable, "the one try is still on")
            #expect(try await probe.value().text == "new")
        }
    }
}
