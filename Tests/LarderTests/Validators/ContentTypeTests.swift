import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The validator `content-type`.
@Suite struct ContentTypeTests {
    private func simulated(_ world: SimulatedWorld, _ allowed: String, unnamed: Bool? = nil) async throws
        -> SimulatedPantry
    {
        let more = unnamed.map { #", "unnamed": \#($0)"# } ?? ""
        return try await SimulatedPantry(
            world, strategy: #""network-first""#,
            validators: #"""
                [{ "use": "content-type", "allowed": [\#(allowed)]\#(more) },
                 { "use": "age", "fresh": "1h", "onError": "1d" }]
                """#, fallbacks: "[]")
    }

    /// Returns whether a payload of this type is admitted.
    private func admits(_ type: String?, _ allowed: String, unnamed: Bool? = nil) throws -> Bool {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, allowed, unnamed: unnamed)
            simulated.origin.play(.value("value", contentType: type))
            switch await simulated.start().result() {
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
    func starMatchesEverySubtype(_ type: String, _ isAdmitted: Bool) throws {
        #expect(try admits(type, #""image/*""#) == isAdmitted)
    }

    @Test func twoStarsMatchEveryNamedType() throws {
        #expect(try admits("image/png", #""*/*""#))
        #expect(try !admits(nil, #""*/*""#))
    }

    @Test func missingTypeIsAdmittedOnlyIfPolicyAllowsIt() throws {
        #expect(try !admits(nil, #""text/plain""#))
        #expect(try !admits(nil, #""text/plain""#, unnamed: false))
        #expect(try admits(nil, #""text/plain""#, unnamed: true))
        #expect(try !admits("text/html", #""text/plain""#, unnamed: true))
    }

    @Test func payloadOfOtherTypeIsOriginFailureAndNotSaved() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""application/json""#)
            simulated.origin.play(then: .value("<html>secret</html>", contentType: "text/html"))
            let failure = try await simulated.start().failure()
            #expect(failure.code == .refused && !failure.isAnswer && simulated.held() == nil)
            #expect(failure.message == "payload refused: its content type is not among those allowed")
            let copy = Metadata(fetchedAt: world.now, contentType: "application/json")
            simulated.store.put(Entry(Data("[]".utf8), copy), for: simulated.key())
            let standIn = try await simulated.feed.load()
            #expect(standIn.text == "[]" && standIn.fellBack && simulated.held() == "[]")
        }
    }

    @Test func copyOfOtherTypeIsRemovedAndNotServed() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, #""application/json""#)
            let copy = Metadata(fetchedAt: world.now, contentType: "text/html")
            simulated.store.put(Entry(Data("<html>".utf8), copy), for: simulated.key())
            simulated.origin.play(then: .failure(.status(503)))
            #expect(try await simulated.start().failure().status == 503)
            #expect(simulated.held() == nil && simulated.feed.metrics.corrupt == 1)
        }
    }
}
