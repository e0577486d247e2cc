import Foundation
import Larder
import LarderSimulation
import Testing

/// An origin with an HTTP client of its own, whose answers follow the rules of HTTP.
@Suite struct OwnHTTPClientTests {
    /// Answers as a server does: at first with a body, then with a confirmation.
    private struct OwnClient: Loader {
        let world: any World

        func load(_ call: Call) async throws -> Loaded<Entry> {
            let start = world.now
            try await world.sleep(for: .seconds(1))
            let fields: Fields = ["ETag": "\"1\"", "Cache-Control": "max-age=60", "Age": "10", "Set-Cookie": "a=b"]
            if call.known?.metadata.etag == "\"1\"" {
                return try .unchanged(call) { metadata in
                    try metadata.confirm(httpFields: fields, askedAt: start, arrivedAt: world.now)
                }
            }
            let metadata = Metadata(httpStatus: 200, fields: fields, askedAt: start, arrivedAt: world.now)
            return Loaded(Entry(Data("one".utf8), metadata))
        }
    }

    @Test func answersOfAnOwnClientFollowTheRulesOfHTTP() throws {
        let policy = """
            { "resource": "feed", "origin": "own-client", "strategy": "cache-first", "store": "memory",
              "validators": [{ "use": "http", "onError": "7d" }] }
            """
        let client = Plugin.origin("own-client", "Calls a server.") { context in OwnClient(world: context.world) }
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(["feed": policy], in: world, plugins: [client])
            let feed = simulated.pantry.resource("feed")
            let live = try await feed.load()
            #expect(live.metadata?[.freshness] == "http max-age 60" && live.age == .seconds(11))
            #expect(live.metadata?.fields["set-cookie"] == nil)
            try await world.sleep(for: .seconds(48))
            #expect(try await feed.load().cacheStatus == "Larder; hit; ttl=1")
            try await world.sleep(for: .seconds(1))
            #expect(try await feed.load().cacheStatus == "Larder; fwd=stale; fwd-status=304; ttl=49; stored")
        }
    }
}
