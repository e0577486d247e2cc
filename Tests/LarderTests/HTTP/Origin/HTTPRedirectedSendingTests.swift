import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderPlugins

/// Changes that a server answers with a redirect. That is no error, also if the redirect leads to one.
@Suite struct HTTPRedirectedSendingTests {
    private typealias Answer = ScriptedTransport.Answer

    @Test(arguments: [
        (303, "/done", 404), (303, "/done", 500), (302, "/done", 503), (307, "http://api.example/", 200),
        (301, "", 200),
    ])
    func changeWhoseRedirectFailsMakesTheCopyStale(_ status: Int, _ location: String, _ last: Int) throws {
        let server = ScriptedTransport { request in
            if request.url.hasSuffix("/done") { return Answer(last, [], "the reason") }
            return request.method == "POST"
                ? Answer(status, location.isEmpty ? [] : [("Location", location)])
                : Answer(200, [("Cache-Control", "max-age=60")])
        }
        try server.run(strategy: #""cache-first""#, more: #""validators": ["http"], "store": "memory""#) {
            simulated async throws in
            let feed = simulated.resource
            _ = try await feed.load(["id": "1"])
            let error = await failure { try await feed.send(feed.request(["id": "1"])) }
            #expect(error?.status == status && error?.cause == .redirect)
            if last != 200 { #expect(error?.reply?.status == last) }
            #expect(try await feed.load(["id": "1"]).source == .origin)
        }
    }

    @Test func changeWhoseAnswerBreaksOffMakesTheCopyStale() throws {
        let server = ScriptedTransport { request in
            request.method == "POST"
                ? Answer(200, [], chunks: [Data("par".utf8)], failure: HTTPFailure(.reset, "the connection ended"))
                : Answer(200, [("Cache-Control", "max-age=60")])
        }
        try server.run(strategy: #""cache-first""#, more: #""validators": ["http"], "store": "memory""#) {
            simulated async throws in
            let feed = simulated.resource
            _ = try await feed.load(["id": "1"])
            let error = await failure { try await feed.send(feed.request(["id": "1"])) }
            #expect(error?.status == 200 && error?.cause == .reset)
            #expect(try await feed.load(["id": "1"]).source == .origin)
        }
    }

    /// A repeated change would be made twice.
    @Test func changeThatTheServerHasNotRefusedIsNotSentAgain() throws {
        let server = ScriptedTransport { request in
            request.method == "POST"
                ? Answer(303, [("Location", "/done")]) : Answer(503, [("Retry-After", "7")], "busy")
        }
        let more = #""around": [{ "use": "retry", "retries": 2, "backoff": "1s", "sends": true }], "store": "memory""#
        try server.run(strategy: #""cache-first""#, more: more) { simulated async throws in
            let feed = simulated.resource
            let error = await failure { try await feed.send(feed.request(["id": "1"])) }
            #expect(error?.status == 303 && error?.retryAfter == .seconds(7))
            #expect(server.asked.map(\.request.method) == ["POST", "GET"])
        }
    }
}
