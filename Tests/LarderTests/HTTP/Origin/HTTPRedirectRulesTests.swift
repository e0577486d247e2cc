import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderPlugins

/// Copies of answers to which redirects led. They are kept under the URL that was asked first.
@Suite struct HTTPRedirectRulesTests {
    private typealias Answer = ScriptedTransport.Answer

    /// Makes a server that redirects to an answer that is fresh for a minute, and loads again after some seconds.
    ///
    /// - Returns: the number of requests for the first URL.
    private func asked(
        _ redirect: [(String, String)], status: Int = 302,
        answer: [(String, String)] = [("Cache-Control", "max-age=60")],
        validator: String = #"{ "use": "http" }"#, after seconds: Double
    ) throws -> Int {
        let server = ScriptedTransport { request in
            request.url.hasSuffix("/items")
                ? Answer(status, [("Location", "/there")] + redirect) : Answer(200, answer, "there")
        }
        try server.run(strategy: #""cache-first""#, more: Self.more(validator)) { simulated async throws in
            for pause in [seconds, 0] {
                #expect(try await simulated.resource.load().text == "there")
                try await simulated.world.sleep(for: .seconds(pause))
            }
        }
        return server.urls.count { $0.hasSuffix("/items") }
    }

    private static func more(_ validator: String) -> String {
        #""validators": [\#(validator)], "store": "memory""#
    }

    @Test(arguments: ["no-store", "no-cache", "max-age=0", "max-age=60, no-cache"])
    func copyObeysTheRedirectThatForbidsToShowIt(_ control: String) throws {
        #expect(try asked([("Cache-Control", control)], after: 0) == 2)
    }

    @Test(arguments: [(9.0, 1), (10.0, 2)])
    func copyIsFreshNoLongerThanTheRedirect(_ seconds: Double, _ count: Int) throws {
        #expect(try asked([("Cache-Control", "max-age=10")], after: seconds) == count)
        #expect(try asked([("Cache-Control", "max-age=15"), ("Age", "5")], after: seconds) == count)
        let older = [("Cache-Control", "max-age=60"), ("Age", "40")]
        #expect(try asked([("Cache-Control", "max-age=10")], answer: older, after: seconds) == count)
    }

    @Test(arguments: [301, 308])
    func permanentRedirectThatSaysNothingSetsNoLimit(_ status: Int) throws {
        #expect(try asked([], status: status, after: 59) == 1)
        #expect(try asked([], status: status, after: 60) == 2)
    }

    @Test(arguments: [302, 303, 307])
    func temporaryRedirectThatSaysNothingIsFreshAsThePolicySays(_ status: Int) throws {
        #expect(try asked([], status: status, after: 0) == 2)
        let validator = #"{ "use": "http", "fresh": "10s" }"#
        #expect(try asked([], status: status, validator: validator, after: 9) == 1)
        #expect(try asked([], status: status, validator: validator, after: 10) == 2)
    }

    @Test(arguments: ["", #", "shared": true"#])
    func lifetimeForSharedCachesSetsALimitOnlyThere(_ shared: String) throws {
        let validator = #"{ "use": "http"\#(shared) }"#
        #expect(
            try asked([("Cache-Control", "s-maxage=10")], validator: validator, after: 9) == (shared.isEmpty ? 2 : 1))
    }

    @Test(arguments: [("must-revalidate", false), ("public", true)])
    func sharedCacheKeepsAnAuthorizedAnswerOnlyIfTheAnswerItselfAllowsIt(_ control: String, _ isKept: Bool) throws {
        let server = ScriptedTransport { request in
            let rules = "max-age=60, \(request.url.hasSuffix("/items") ? "public, must-revalidate" : control)"
            return request.url.hasSuffix("/items")
                ? Answer(302, [("Location", "/alice"), ("Cache-Control", rules)])
                : Answer(200, [("Cache-Control", rules)], "alice")
        }
        let isStored = try server.run(
            #""fields": { "Authorization": "key" }"#, more: Self.more(#"{ "use": "http", "shared": true }"#)
        ) { simulated async throws in try await simulated.resource.load().isStored }
        #expect(isStored == isKept)
    }

    @Test(arguments: [("private", false), ("max-age=60", false), ("public, max-age=60", true), ("s-maxage=60", true)])
    func sharedCacheKeepsNoCopyBehindARedirectForOneUser(_ control: String, _ isKept: Bool) throws {
        let server = ScriptedTransport { request in
            request.url.hasSuffix("/items")
                ? Answer(301, [("Location", "https://other.example/alice"), ("Cache-Control", control)])
                : Answer(200, [("Cache-Control", "public, max-age=60")], "alice")
        }
        let isStored = try server.run(
            #""fields": { "Authorization": "key" }"#, more: Self.more(#"{ "use": "http", "shared": true }"#)
        ) { simulated async throws in try await simulated.resource.load().isStored }
        #expect(isStored == isKept)
    }

    @Test func copiesBehindARedirectThatVariesAreKeptSideBySide() throws {
        let server = ScriptedTransport { request in
            let language = request.fields.first { $0.name == "accept-language" }?.value ?? "none"
            return request.url.hasSuffix("/items")
                ? Answer(301, [("Location", "/\(language)"), ("Vary", "Accept-Language")])
                : Answer(200, [("Cache-Control", "max-age=60")], String(request.url.suffix(2)))
        }
        try server.run(strategy: #""cache-first""#, more: Self.more(#""http""#)) { simulated async throws in
            for source in [Source.origin, .store("memory")] {
                for language in ["en", "de"] {
                    let loaded = try await simulated.resource.load(fields: ["accept-language": language])
                    #expect(loaded.text == language && loaded.source == source)
                }
            }
        }
    }

    @Test func conditionsAreSentOnlyToTheURLFromWhichTheCopyCame() throws {
        let targets = Locked(["/a", "/a", "/b", "/b"])
        let server = ScriptedTransport { request in
            if request.url.hasSuffix("/items") {
                return Answer(302, [("Location", targets.withLock { $0.removeFirst() })])
            }
            let isConditional = request.fields.contains { $0.name == "if-none-match" }
            return isConditional
                ? Answer(304, [("ETag", "\"1\"")]) : Answer(200, [("ETag", "\"1\"")], String(request.url.suffix(2)))
        }
        let texts = try server.run(strategy: #""cache-first""#, more: Self.more(#""http""#)) { simulated async throws in
            var texts: [String] = []
            for _ in 1...4 { texts.append(try await simulated.resource.load().text) }
            return texts
        }
        #expect(texts == ["/a", "/a", "/b", "/b"])
        #expect(server.asked.map { $0.field("if-none-match") } == [nil, nil, nil, "\"1\"", nil, nil, nil, "\"1\""])
    }

    @Test func copyOfARedirectIsNotConfirmedByTheFirstURL() throws {
        let isMoved = Locked(true)
        let server = ScriptedTransport { request in
            if request.fields.contains(where: { $0.name == "if-none-match" }) { return Answer(304) }
            return isMoved.withLock({ $0 }) && request.url.hasSuffix("/items")
                ? Answer(302, [("Location", "/there")]) : Answer(200, [("ETag", "\"1\"")], request.url)
        }
        try server.run(strategy: #""cache-first""#, more: Self.more(#""http""#)) { simulated async throws in
            #expect(try await simulated.resource.load().text.hasSuffix("/there"))
            isMoved.withLock { $0 = false }
            #expect(try await simulated.resource.load().text.hasSuffix("/items"))
            #expect(try await simulated.resource.load().source == .revalidated)
        }
    }
}
