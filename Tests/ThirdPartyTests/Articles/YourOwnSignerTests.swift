import Foundation
import Larder
import LarderSimulation
import Testing

@Suite struct YourOwnSignerTests {
    private static func policy(_ name: String, _ settings: String = #""sign": { "use": "key", "header": "X-Mine" }"#)
        -> String
    {
        #"{ "resource": "\#(name)", "origin": { "use": "dialled", \#(settings) }, "strategy": "cache-first", "store": "memory" }"#
    }

    private static func run(
        _ signedIn: SignedIn, _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        let policies = ["feed": policy("feed"), "news": policy("news")]
        try SimulatedPantry.run(policies, plugins: [.keySigner(signedIn), .dialled], test)
    }

    private static func parts(_ loaded: Loaded<Data>) -> [String] {
        String(decoding: loaded.value, as: UTF8.self).split(separator: "|", omittingEmptySubsequences: false).map(
            String.init)
    }

    @Test func accountOfASignerIsTheScopeOfRequestsWithoutOne() throws {
        let signedIn = SignedIn("alice")
        try Self.run(signedIn) { simulated async throws in
            let feed = simulated.pantry.resource("feed")
            #expect(feed.request().key.scope == "alice" && feed.request(scope: "bob").key.scope == "bob")
            #expect(try await Self.parts(feed.load())[0] == "x-mine: key of alice")
            #expect(feed.answer(Request("feed")) != nil)
            signedIn.account = "bob"
            #expect(feed.answer(Request("feed")) == nil)
            #expect(try await Self.parts(feed.load())[0] == "x-mine: key of bob")
            signedIn.account = nil
            #expect(feed.request().key.scope == nil)
            #expect(try await Self.parts(feed.load())[0] == "")
        }
    }

    @Test func pluginsOfAPantryShareAnObject() throws {
        try Self.run(SignedIn(nil)) { simulated async throws in
            let feed = try await Self.parts(simulated.pantry.resource("feed").load())
            let news = try await Self.parts(simulated.pantry.resource("news").load())
            #expect(feed[1] == news[1])
        }
    }

    @Test func contradictionThatAPluginReportsIsAnErrorOfThePolicy() throws {
        let policy = Self.policy("feed", #""sign": "key", "least": 3, "most": 2"#)
        let error = #expect(throws: PolicyError.self) {
            try SimulatedPantry.run(["feed": policy], plugins: [.keySigner(SignedIn(nil)), .dialled]) { _ in }
        }
        let problem = try #require(error?.problems.first { $0.rule == "contradiction" })
        #expect(problem.message == "'most' is smaller than 'least'" && problem.path == "$.origin.most")
        #expect(problem.severity == .error)
    }
}
