import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// The validator `max-size`: five bytes here.
@Suite struct MaxSizeTests {
    private func kitchen(_ world: SimulatedWorld, fallbacks: String = "[]", plugins: [Plugin] = []) async throws
        -> Kitchen
    {
        try await Kitchen(
            world, strategy: #""network-first""#,
            validators: #"[{ "use": "max-size", "most": "5B" }, { "use": "age", "fresh": "1h", "onError": "1d" }]"#,
            fallbacks: fallbacks, plugins: plugins)
    }

    @Test(arguments: [("", true), ("12345", true), ("123456", false), ("ääa", true), ("äää", false)])
    func aPayloadIsAdmittedUpToTheLastByte(_ text: String, _ isAdmitted: Bool) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.origin.play(.value(text))
            let result = await kitchen.start().result()
            #expect((try? result.get())?.text == (isAdmitted ? text : nil))
            #expect(kitchen.held() == (isAdmitted ? text : nil))
        }
    }

    @Test func aLargerOneIsAFailureOfTheOriginThatACopyStandsInFor() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.origin.play(then: .value("secret"))
            let failure = try await kitchen.start().failure()
            #expect(failure.code == .refused && !failure.isAnswer)
            #expect(failure.message == "payload refused: it is larger than 5B")
            kitchen.stock("old", age: .seconds(60))
            let copy = try await kitchen.feed.load()
            #expect(copy.text == "old" && copy.fellBack && kitchen.held() == "old")
            #expect(kitchen.feed.metrics.corrupt == 0)
        }
    }

    @Test func aCopyThatIsLargerThanIsAllowedNowIsRemoved() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world)
            kitchen.stock("123456", age: .zero)
            kitchen.origin.play(then: .failure(.status(503)))
            #expect(try await kitchen.start().failure().status == 503)
            #expect(kitchen.held() == nil && kitchen.feed.metrics.corrupt == 1)
        }
    }

    @Test func aFallbackThatIsLargerIsPassedOver() throws {
        try SimulatedWorld().run { world in
            let seed = ScriptedOrigin(then: .value("123456"), world: world)
            let kitchen = try await kitchen(
                world, fallbacks: #"["seed", { "use": "constant", "value": 1 }]"#, plugins: [seed.plugin("seed")])
            kitchen.origin.play(then: .failure(.status(503)))
            let loaded = try await kitchen.feed.load()
            #expect(loaded.text == "1" && loaded.source == .fallback("constant"))
        }
    }
}
