import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The validator `max-size`: five bytes here.
@Suite struct MaxSizeTests {
    private func simulated(_ world: SimulatedWorld, fallbacks: String = "[]", plugins: [Plugin] = []) async throws
        -> SimulatedPantry
    {
        try await SimulatedPantry(
            world, strategy: #""network-first""#,
            validators: #"[{ "use": "max-size", "capacity": "5B" }, { "use": "age", "fresh": "1h", "onError": "1d" }]"#,
            fallbacks: fallbacks, plugins: plugins)
    }

    @Test(arguments: [("", true), ("12345", true), ("123456", false), ("ääa", true), ("äää", false)])
    func payloadOfExactlyCapacityIsAdmitted(_ text: String, _ isAdmitted: Bool) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(.value(text))
            let result = await simulated.start().result()
            #expect((try? result.get())?.text == (isAdmitted ? text : nil))
            #expect(simulated.held() == (isAdmitted ? text : nil))
        }
    }

    @Test func tooLargePayloadIsOriginFailureAndCopyIsServed() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(then: .value("secret"))
            let failure = try await simulated.start().failure()
            #expect(failure.code == .refused && !failure.isAnswer)
            #expect(failure.message == "payload refused: it is larger than 5B")
            simulated.stock("old", age: .seconds(60))
            let copy = try await simulated.feed.load()
            #expect(copy.text == "old" && copy.fellBack && simulated.held() == "old")
            #expect(simulated.feed.metrics.corrupt == 0)
        }
    }

    @Test func copyLargerThanNewCapacityIsRemoved() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.stock("123456", age: .zero)
            simulated.origin.play(then: .failure(.status(503)))
            #expect(try await simulated.start().failure().status == 503)
            #expect(simulated.held() == nil && simulated.feed.metrics.corrupt == 1)
        }
    }

    @Test func tooLargeFallbackIsSkipped() throws {
        try SimulatedWorld().run { world in
            let seed = ScriptedOrigin(then: .value("123456"), world: world)
            let simulated = try await simulated(
                world, fallbacks: #"["seed", { "use": "constant", "value": 1 }]"#, plugins: [seed.plugin("seed")])
            simulated.origin.play(then: .failure(.status(503)))
            let loaded = try await simulated.feed.load()
            #expect(loaded.text == "1" && loaded.source == .fallback("constant"))
        }
    }
}
