import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderPlugins

/// Fields that the policy or a signer adds to requests, in the rules of caches.
@Suite struct HTTPAddedFieldsTests {
    private typealias Answer = ScriptedTransport.Answer

    /// A server whose answers vary by a field, and contain its value.
    private static func server(varyingBy name: String) -> ScriptedTransport {
        ScriptedTransport { request in
            Answer(
                200, [("Vary", name), ("Cache-Control", "max-age=60"), ("Content-Type", "text/plain")],
                request.fields.first { $0.name == name }?.value ?? "none")
        }
    }

    private static func policy(_ settings: String) -> String {
        #"""
        { "resource": "feed", "origin": { "use": "http", "url": "https://api.example/items"\#(settings) },
          "strategy": "cache-first", "validators": ["http"], "store": "file" }
        """#
    }

    private static let changes = [
        ("accept-language", #", "fields": { "Accept-Language": "en" }"#, "en"),
        ("accept-language", #", "fields": { "Accept-Language": "de" }"#, "de"), ("accept-language", "", "none"),
        ("accept", #", "accept": ["text/*"]"#, "text/*"), ("accept", #", "accept": ["text/plain"]"#, "text/plain"),
    ]

    @Test(arguments: [(0, 1), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3)])
    func policyWithOtherFieldsShowsNoCopyOfTheFormerOnes(_ first: Int, _ second: Int) throws {
        let (name, former, formerValue) = Self.changes[first]
        let (_, present, presentValue) = Self.changes[second]
        let server = Self.server(varyingBy: name)
        let policies = ["feed": Self.policy(former)]
        try SimulatedPantry.run(policies, plugins: [server.plugin]) { simulated async throws in
            for source in [Source.origin, .store("file")] {
                let loaded = try await simulated.resource.load()
                #expect(loaded.text == formerValue && loaded.source == source)
            }
            _ = try await simulated.pantry.replace(policies: ["feed": Self.policy(present)])
            for source in [Source.origin, .store("file")] {
                let loaded = try await simulated.resource.load()
                #expect(loaded.text == presentValue && loaded.source == source)
            }
            _ = try await simulated.pantry.replace(policies: policies)
            #expect(try await simulated.resource.load().text == formerValue)
        }
        // The copies are side by side.
        #expect(server.asked.count == 2)
    }

    @Test func requestWithTheValueOfThePolicyGetsTheSameCopy() throws {
        let server = Self.server(varyingBy: "accept-language")
        let policies = ["feed": Self.policy(Self.changes[0].1)]
        try SimulatedPantry.run(policies, plugins: [server.plugin]) { simulated async throws in
            for (fields, source) in [([:], .origin), (["accept-language": "en"], .store("file"))] as [(Fields, Source)]
            {
                let loaded = try await simulated.resource.load(fields: fields)
                #expect(loaded.text == "en" && loaded.source == source)
                #expect(try await simulated.resource.contains(simulated.resource.request(fields: fields)))
            }
        }
    }

    @Test(arguments: [#""fields": { "Authorization": "key" }"#, #""sign": "session""#], [true, false])
    func sharedCacheKeepsNoAnswerToACallWithCredentials(_ settings: String, _ isPublic: Bool) throws {
        let control = isPublic ? "public, max-age=60" : "max-age=60"
        let server = ScriptedTransport(
            Answer(200, [("ETag", "\"1\""), ("Cache-Control", control)]), Answer(304, [("ETag", "\"1\"")]))
        let signer = Plugin.signer("session", account: { "alice" }) { request, _ in
            request.setField("Authorization", "key")
        }
        try server.run(
            settings, more: #""validators": [{ "use": "http", "shared": true }], "store": "memory""#, plugins: [signer]
        ) { simulated async throws in
            #expect(try await simulated.resource.load().isStored == isPublic)
            #expect(try await simulated.resource.contains() == isPublic)
        }
    }
}
