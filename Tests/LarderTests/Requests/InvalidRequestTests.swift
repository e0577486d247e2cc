import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// Requests that the origin cannot answer because of their parameters, and loads while nobody is signed in.
@Suite struct InvalidRequestTests {
    private static let policies = [
        "items": """
        { "resource": "items", "origin": { "use": "http", "url": "http://127.0.0.1:9/items/{id}{?page}" },
          "around": [{ "use": "breaker", "failures": 1, "rest": "1h" }, { "use": "retry", "retries": 3, "backoff": "1s" }],
          "strategy": "network-first", "store": "memory",
          "fallbacks": [{ "use": "constant", "value": "seed" }] }
        """
    ]

    private static func pantry(_ world: SimulatedWorld) async throws -> Pantry {
        try await Pantry(policies: policies, cache: URL(filePath: "/nowhere"), world: world)
    }

    @Test func requestWithoutItsParameterFailsAtOnce() throws {
        try SimulatedWorld().run { world in
            let pantry = try await Self.pantry(world)
            let start = world.uptime
            let error = await failure { try await pantry.resource("items").load(["page": "2"]) }
            #expect(error?.code == .invalidRequest)
            #expect(error?.message == "the request has no value for the parameter 'id' of the URL")
            #expect(world.uptime == start)
            let metrics = try #require(pantry.metrics["items"])
            #expect(metrics.loads == 0 && metrics[.invalidRequests] == 1)
            #expect(metrics[.originCalls] == 0 && metrics[.originErrors] == 0)
            await pantry.close()
        }
    }

    @Test func parameterThatNoVariableTakesIsAnError() throws {
        try SimulatedWorld().run { world in
            let pantry = try await Self.pantry(world)
            let error = await failure { try await pantry.resource("items").load(["id": "1", "pge": "2"]) }
            #expect(error?.code == .invalidRequest)
            #expect(
                error?.message == "the origin takes no parameter 'pge'; it takes id, page (did you mean 'page'?)")
            let request = Request("items", ["id": "1", "pge": "2"])
            let sent = await failure { try await pantry.resource("items").send(request, method: "PUT") }
            #expect(sent?.code == .invalidRequest)
            await pantry.close()
        }
    }
}
