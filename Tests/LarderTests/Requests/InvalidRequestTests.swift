import LarderFoundation
import Larder
import LarderSystem
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
            #expect(error?.message == "the request has no value for the parameter 'id'")
            #expect(world.uptime == start)
            let metrics = try #require(pantry.metrics["items"])
            #expect(metrics.loads == 0 && metrics[.invalidRequests] == 1)
            #expect(metrics[.originCalls] == 0 && metrics[.originErrors] == 0)
            await pantry.close()
        }
    }

    @Test func requestLacksWhatAnyMirrorNeeds() throws {
        try SimulatedWorld().run { world in
            let url = #""url": "http://127.0.0.1:9/items/{id}{?page}""#
            let mirrored = Self.policies.mapValues {
                $0.replacing(
                    #"{ "use": "http", \#(url) }"#,
                    with: ##"""
                        { "use": "mirrors", "origins": [{ "use": "sample", "payload": "feed" }, { "use": "http", \##(url) },
                          { "use": "http", "url": "http://127.0.0.1:9/{no}" }] }
                        """##)
            }
            let pantry = try await Pantry(policies: mirrored, cache: URL(filePath: "/nowhere"), world: world)
            let error = await failure { try await pantry.resource("items").load(["id": "1"]) }
            #expect(error?.code == .invalidRequest)
            #expect(error?.message == "the request has no value for the parameter 'no'")
            #expect(try await pantry.resource("items").load(["id": "1", "no": "2"]).source == .origin)
            await pantry.close()
        }
    }

    @Test func requestWithoutItsParameterFailsBeforeBreakerAndFallbacks() throws {
        try SimulatedWorld().run { world in
            struct Down: Loader {
                func load(_ call: Call) async throws -> Loaded<Entry> { throw LoadError(.failed, "down") }
            }
            var registry = Registry.standard
            try registry.register(
                .origin("down", "Fails.", traits: { .with { $0.requiredParameters = ["id"] } }) { _ in Down() })
            let down = Self.policies.mapValues {
                $0.replacing(#"{ "use": "http", "url": "http://127.0.0.1:9/items/{id}{?page}" }"#, with: #""down""#)
            }
            let pantry = try await Pantry(
                policies: down, registry: registry, cache: URL(filePath: "/nowhere"), world: world)
            // The breaker opens, and the fallback answers.
            #expect(try await pantry.resource("items").load(["id": "1"]).source == .fallback("constant"))
            let error = await failure { try await pantry.resource("items").load() }
            #expect(error?.code == .invalidRequest)
            let offline = await failure { try await pantry.resource("items").load(mode: .cachedOnly) }
            #expect(offline?.code == .invalidRequest)
            await pantry.close()
        }
    }

    @Test func loadsThatBlameNoServiceHaveNoOutcome() throws {
        let reports = Locked<[LoadReport]>([])
        struct Sink: MetricsSink {
            let reports: Locked<[LoadReport]>
            func ended(_ load: LoadReport) { reports.withLock { $0.append(load) } }
        }
        try SimulatedWorld().run { world in
            let pantry = try await Self.pantry(world)
            let listening = pantry.attach(Sink(reports: reports))
            _ = await failure { try await pantry.resource("items").load() }
            #expect(await pantry.resource("items").prefetch([[:]]).finished().failed == 1)
            await pantry.close()
            listening.stop()
            #expect(pantry.metrics["items"]?[.prefetches] == 1)
        }
        let ended = reports.withLock { $0 }
        #expect(ended.count == 2 && ended.allSatisfy { $0.outcome == nil && $0.error?.code == .invalidRequest })
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
