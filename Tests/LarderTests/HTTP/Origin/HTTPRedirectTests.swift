import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderPlugins

@Suite struct HTTPRedirectTests {
    private typealias Answer = ScriptedTransport.Answer

    private static let settings = #""fields": { "Authorization": "${TOKEN}", "X-Key": "k", "Accept-Language": "en" }"#
    private static let environment = ["TOKEN": "Bearer canary"]

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectOnTheSameServerIsFollowedWithAllFields(_ status: Int) throws {
        let server = ScriptedTransport(Answer(status, [("Location", "../b?x=1#top")]), Answer(200, [], "there"))
        try server.run(Self.settings, environment: Self.environment) { simulated async throws in
            #expect(try await simulated.resource.load(["id": "a/c"]).text == "there")
        }
        #expect(server.urls == ["https://api.example/items/a%2Fc", "https://api.example/b?x=1"])
        #expect(server.asked[0].request.fields == server.asked[1].request.fields)
    }

    @Test(arguments: ["https://other.example/", "//other.example", "https://api.example:8443/"])
    func anotherServerGetsNoCredentialsNorDoAllAfterIt(_ location: String) throws {
        let server = ScriptedTransport(
            Answer(302, [("Location", location)]), Answer(302, [("Location", "https://api.example/back")]),
            Answer(200, [("ETag", "\"a\"")], "there"))
        try server.run(Self.settings, environment: Self.environment) { simulated async throws in
            _ = try await simulated.resource.load(scope: "alice", fields: ["Cookie": "canary", "X-Trace": "t"])
        }
        #expect(server.asked.count == 3)
        #expect(server.asked[0].field("cookie") == "canary" && server.asked[0].field("x-key") == "k")
        for asked in server.asked.dropFirst() {
            #expect(asked.request.fields.map(\.name).sorted() == ["accept-language", "user-agent"])
        }
    }

    @Test(arguments: [
        ("http://api.example/", "it leads from https to http"),
        ("http://other.example/", "it leads from https to http"),
        ("ftp://other.example/", "it does not say where to"), ("https://", "it does not say where to"),
        ("https://me:secret@other.example/", "it does not say where to"), (nil, "it does not say where to"),
    ])
    func redirectThatMayNotBeFollowedIsAFailure(_ location: String?, _ reason: String) throws {
        let server = ScriptedTransport(Answer(302, location.map { [("Location", $0)] } ?? []))
        try server.run { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.code == .failed && error?.status == 302)
            #expect(error?.message == "the server's redirect is not followed: \(reason)")
        }
        #expect(server.asked.count == 1)
    }

    @Test(arguments: [(0, "the policy follows none"), (1, "there were 1 before it"), (5, "there were 5 before it")])
    func redirectsEndAtTheirLimit(_ limit: Int, _ reason: String) throws {
        let server = ScriptedTransport(Answer(307, [("Location", "/again")]))
        try server.run(#""redirects": \#(limit)"#) { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.message == "the server's redirect is not followed: \(reason)")
        }
        #expect(server.asked.count == limit + 1)
    }

    @Test(arguments: [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (307, "POST", "POST"),
        (308, "PUT", "PUT"), (302, "PUT", "PUT"), (303, "HEAD", "HEAD"),
    ])
    func methodAfterARedirectIsTheOneThatBrowsersSend(_ status: Int, _ method: String, _ next: String) throws {
        let server = ScriptedTransport(Answer(status, [("Location", "/done")]), Answer(200, [], "done"))
        try server.run { simulated async throws in
            let body = method == "HEAD" ? nil : Data("body".utf8)
            let request = simulated.resource.request(["id": "1"], fields: ["Content-Type": "text/plain"], body: body)
            _ = try await simulated.resource.send(request, method: method)
        }
        let last = try #require(server.asked.last)
        #expect(server.asked.count == 2 && last.request.method == next)
        let keepsBody = next == method && method != "HEAD"
        #expect((last.request.body != nil) == keepsBody && (last.field("content-type") != nil) == keepsBody)
    }

    @Test func bodyIsNotSentToAnotherServer() throws {
        let server = ScriptedTransport(Answer(307, [("Location", "https://other.example/")]))
        try server.run { simulated async throws in
            let request = simulated.resource.request(body: Data("body".utf8))
            let error = await failure { try await simulated.resource.send(request) }
            #expect(error?.message == "the server's redirect is not followed: it would send the body to another server")
        }
        #expect(server.asked.count == 1)
    }
}
