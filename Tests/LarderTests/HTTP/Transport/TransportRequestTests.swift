import LarderFoundation
import LarderCore
import Testing

@testable import LarderPlugins

/// Tests of the requests that transports send.
@Suite(.timeLimit(.minutes(20))) struct TransportRequestTests {
    @Test(arguments: TestedTransport.allCases)
    func requestArrivesAsGiven(_ tested: TestedTransport) async throws {
        let (transport, server) = (try tested.make(), try ScriptedServer(.answer()))
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let body = method == "GET" ? nil : "what \(method) sends"
            _ = try await transport.fetch(
                server.url + "/a%20b/c?d=%26&e", method, ["X-One": "1", "Content-Type": "text/plain"], body: body)
            let request = try #require(server.requests.last)
            #expect(request.method == method && request.target == "/a%20b/c?d=%26&e")
            #expect(request["X-One"] == "1" && request["Content-Type"] == "text/plain")
            #expect(request.body == Data((body ?? "").utf8))
            #expect(request["Content-Length"] == body.map { "\($0.utf8.count)" })
            #expect(request["Host"] == "127.0.0.1:\(server.port)")
        }
    }

    @Test(arguments: TestedTransport.allCases)
    func methodWithoutBodySendsNone(_ tested: TestedTransport) async throws {
        let (transport, server) = (try tested.make(), try ScriptedServer(.answer()))
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
            _ = try await transport.fetch(server.url, method)
            let request = try #require(server.requests.last)
            #expect(request.method == method && request.body.isEmpty)
            #expect(request["Transfer-Encoding"] == nil && ["0", nil].contains(request["Content-Length"]))
        }
    }

    @Test(arguments: TestedTransport.allCases)
    func largeBodyArrivesWhole(_ tested: TestedTransport) async throws {
        let (transport, server) = (try tested.make(), try ScriptedServer(.answer()))
        let body = String(repeating: "0123456789abcdef", count: 1 << 17)
        _ = try await transport.fetch(server.url, "POST", body: body)
        #expect(server.requests.map(\.body) == [Data(body.utf8)])
        #expect(server.requests.first?["Expect"] == nil)
    }

    @Test(arguments: TestedTransport.with(.order))
    func fieldsAreSentInOrder(_ tested: TestedTransport) async throws {
        let (transport, server) = (try tested.make(), try ScriptedServer(.answer()))
        _ = try await transport.fetch(server.url, "GET", ["X-B": "1", "X-A": "2", "X-B": "3", "X-Empty": ""])
        let sent = try #require(server.requests.first).fields.filter { $0.name.lowercased().hasPrefix("x-") }
        #expect(sent.map { $0.name.lowercased() } == ["x-b", "x-a", "x-b", "x-empty"])
        #expect(sent.map(\.value) == ["1", "2", "3", ""])
    }

    @Test(arguments: TestedTransport.allCases)
    func nothingIsAddedButWhatTransportsNeed(_ tested: TestedTransport) async throws {
        let (transport, server) = (try tested.make(), try ScriptedServer(.answer()))
        _ = try await transport.fetch(server.url)
        let request = try #require(server.requests.first)
        let known: Set = ["host", "accept", "accept-encoding", "accept-language", "user-agent", "connection"]
        #expect(Set(request.fields.map { $0.name.lowercased() }).subtracting(known) == [])
        #expect(["*/*", nil].contains(request["Accept"]) && ["*", nil].contains(request["Accept-Language"]))
        #expect(request["Accept-Encoding"]?.contains("gzip") == true)
        #expect(request["Accept-Encoding"]?.contains("br") == true)
    }

    @Test(arguments: TestedTransport.allCases)
    func cookieIsNotKept(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        let server = try ScriptedServer(.answer(200, ["Set-Cookie": "canary=1; Path=/"]))
        for _ in 0..<2 { _ = try await transport.fetch(server.url) }
        #expect(server.requests.map { $0["Cookie"] } == [nil, nil])
    }

    @Test(arguments: TestedTransport.allCases)
    func answerIsNotCached(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        let server = try ScriptedServer {
            .answer(200, ["Cache-Control": "max-age=600", "ETag": "\"a\""], "\($0.number)")
        }
        var texts: [String] = []
        for _ in 0..<2 { texts.append(try await transport.fetch(server.url).text) }
        #expect(texts == ["1", "2"] && server.requests.allSatisfy { $0["If-None-Match"] == nil })
    }

    @Test(arguments: TestedTransport.allCases)
    func credentialsInURLAreNotSent(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        let server = try ScriptedServer(.answer(401, ["WWW-Authenticate": "Basic realm=\"a\""], "No"))
        _ = try? await transport.fetch("http://user:canary@127.0.0.1:\(server.port)/")
        #expect(server.requests.allSatisfy { $0["Authorization"] == nil })
    }

    @Test(arguments: TestedTransport.allCases)
    func connectionIsUsedAgainUnlessServerClosesIt(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        let server = try ScriptedServer { request in
            request.path == "/close"
                ? .steps(.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"), .close)
                : .answer(200, [:], "ok")
        }
        for path in ["/", "/", "/close", "/"] {
            #expect(try await transport.fetch(server.url + path).text == "ok")
        }
        #expect(server.requests.map(\.connection) == [1, 1, 1, 2])
    }

    @Test(arguments: TestedTransport.with(.ipv6))
    func serverWithIPv6OnlyIsReached(_ tested: TestedTransport) async throws {
        let (transport, server) = (try tested.make(), try ScriptedServer(.ipv6) { _ in .answer(200, [:], "six") })
        #expect(try await transport.fetch(server.url).text == "six")
    }
}
