import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// The validator `content-type`.
@Suite struct ContentTypeTests {
    private func kitchen(_ world: SimulatedWorld, _ allowed: String, unnamed: Bool? = nil) async throws -> Kitchen {
        let more = unnamed.map { #", "unnamed": \#($0)"# } ?? ""
        return try await Kitchen(
            world, strategy: #""network-first""#,
            validators: #"""
                [{ "use": "content-type", "allowed": [\#(allowed)]\#(more) },
                 { "use": "age", "fresh": "1h", "onError": "1d" }]
                """#, fallbacks: "[]")
    }

    /// Whether a payload of this type is admitted.
    private func admits(_ type: String?, _ allowed: String, unnamed: Bool? = nil) throws -> Bool {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, allowed, unnamed: unnamed)
            kitchen.origin.play(.value("value", contentType: type))
            switch await kitchen.start().result() {
            case .success(let loaded): return loaded.isStored
            case .failure(let error as LoadError) where error.code == .refused: return false
            case .failure(let error): throw error
            }
        }
    }

    @Test(arguments: [
        ("application/json", true), ("application/json; charset=utf-8", true), ("application/json;charset=utf-8", true),
        ("Application/JSON", true), ("application/json5", false), ("application/problem+json", false),
        ("text/html", false), ("json", false), ("", false),
    ])
    func typesAreComparedWholeWithoutParametersAndCase(_ type: String, _ isAdmitted: Bool) throws {
        #expect(try admits(type, #""application/json""#) == isAdmitted)
        #expect(try admits(type, #""text/plain", "APPLICATION/Json""#) == isAdmitted)
    }

    @Test(arguments: [
        ("image/png", true), ("image/svg+xml", true), ("IMAGE/webp", true), ("imagery/png", false), ("image", false),
        ("text/image/png", false),
    ])
    func aStarStandsForEverySubtype(_ type: String, _ isAdmitted: Bool) throws {
        #expect(try admits(type, #""image/*""#) == isAdmitted)
    }

    @Test func twoStarsStandForEveryTypeThatIsNamed() throws {
        #expect(try admits("image/png", #""*/*""#))
        #expect(try !admits(nil, #""*/*""#))
    }

    @Test func aTypeThatIsNotNamedIsAdmittedOnlyIfThePolicySaysSo() throws {
        #expect(try !admits(nil, #""text/plain""#))
        #expect(try !admits(nil, #""text/plain""#, unnamed: false))
        #expect(try admits(nil, #""text/plain""#, unnamed: true))
        #expect(try !admits("text/html", #""text/plain""#, unnamed: true))
    }

    @Test func aPayloadOfAnotherTypeIsAFailureOfTheOriginAndNothingOfItIsKept() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""application/json""#)
            kitchen.origin.play(then: .value("<html>secret</html>", contentType: "text/html"))
            let failure = try await kitchen.start().failure()
            #expect(failure.code == .refused && !failure.isAnswer && kitchen.held() == nil)
            #expect(failure.message == "payload refused: its content type is not among those allowed")
            let copy = Metadata(fetchedAt: world.now, contentType: "application/json")
            kitchen.store.put(Entry(Data("[]".utf8), copy), for: kitchen.key())
            let standIn = try await kitchen.feed.load()
            #expect(standIn.text == "[]" && standIn.fellBack && kitchen.held() == "[]")
        }
    }

    @Test func aCopyOfAnotherTypeIsRemovedAndNotShown() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await kitchen(world, #""application/json""#)
            let copy = Metadata(fetchedAt: world.now, contentType: "text/html")
            kitchen.store.put(Entry(Data("<html>".utf8), copy), for: kitchen.key())
            kitchen.origin.play(then: .failure(.status(503)))
            #expect(try await kitchen.start().failure().status == 503)
            #expect(kitchen.held() == nil && kitchen.feed.metrics.corrupt == 1)
        }
    }
}
