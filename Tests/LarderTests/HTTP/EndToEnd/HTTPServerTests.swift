import LarderFoundation
import Larder
import LarderSystem
import Testing

/// A policy with the origin `http`, over the real transport, and a server.
@Suite(.timeLimit(.minutes(20))) struct HTTPServerTests {
    @Test func urlIsAllThatAnOriginNeeds() async throws {
        let server = try ScriptedServer(.answer(200, ["Content-Type": "text/plain"], "Hello"))
        let served = try await ServedPantry(server, policy: #""strategy": "network-only""#)
        let loaded = try await served.feed.load(["id": "a/b"])
        #expect(loaded.text == "Hello" && loaded.source == .origin && loaded.metadata?.contentType == "text/plain")
        #expect(server.requests.map(\.target) == ["/items/a%2Fb"] && server.requests.first?.method == "GET")
        #expect(served.pantry.warnings.isEmpty)
    }

    @Test func copyWithTagIsConfirmedAndGetsTheNewFields() async throws {
        let server = try ScriptedServer(
            .answer(200, ["ETag": "\"1\"", "Cache-Control": "no-cache", "X-A": "1", "X-B": "1"], "one"),
            .answer(304, ["ETag": "\"1\"", "Cache-Control": "max-age=60", "X-A": "2"]))
        let served = try await ServedPantry(server)
        #expect(try await served.feed.load().isStored)
        let confirmed = try await served.feed.load()
        #expect(confirmed.source == .revalidated && confirmed.text == "one" && confirmed.freshness == .fresh)
        let copy = try await served.feed.load()
        #expect(copy.source == .store("memory") && copy.text == "one")
        #expect(copy.metadata?.fields["x-a"] == "2" && copy.metadata?.fields["x-b"] == "1")
        #expect(server.requests.map { $0["If-None-Match"] } == [nil, "\"1\""])
        #expect(server.connections == 1)
    }

    @Test func copyWithDateIsConfirmed() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let server = try ScriptedServer(
            .answer(200, ["Last-Modified": date, "Cache-Control": "no-cache"], "one"), .answer(304))
        let served = try await ServedPantry(server)
        _ = try await served.feed.load()
        #expect(try await served.feed.load().source == .revalidated)
        #expect(server.requests.map { $0["If-Modified-Since"] } == [nil, date])
    }

    @Test func headHasFieldsAndNoBody() async throws {
        let server = try ScriptedServer(.answer(200, ["X-A": "1", "Cache-Control": "max-age=60"], "Hello"))
        let served = try await ServedPantry(server, settings: #""method": "HEAD""#)
        for source in [Source.origin, .store("memory")] {
            let loaded = try await served.feed.load()
            #expect(loaded.value.isEmpty && loaded.metadata?.fields["x-a"] == "1" && loaded.source == source)
        }
        #expect(server.requests.map(\.method) == ["HEAD"])
    }

    @Test(arguments: [5, 300_000])
    func olderCopyIsShownWhenTheBodyIsCutShort(_ size: Int) async throws {
        let short = ScriptedReply.steps(
            .send("HTTP/1.1 200 OK\r\nETag: \"2\"\r\nContent-Length: \(size + 1)\r\n\r\n"),
            .body(Data(repeating: 7, count: size)), .close)
        let server = try ScriptedServer { request in
            request.number == 1 ? .answer(200, ["ETag": "\"1\"", "Cache-Control": "max-age=0"], "one") : short
        }
        let served = try await ServedPantry(
            server,
            policy: ServedPantry.keeping.with(#"["http"]"#, #"[{ "use": "http", "onError": "1h" }]"#))
        _ = try await served.feed.load()
        for _ in 1...2 {
            let copy = try await served.feed.load()
            #expect(copy.text == "one" && copy.fellBack && copy.freshness == .stale)
        }
        #expect(server.requests.map { $0["If-None-Match"] } == [nil, "\"1\"", "\"1\""])
        let error = await failure { try await served.feed.load(["id": "2"]) }
        #expect(error?.code == .failed && error?.message == "the connection ended before the answer was complete")
        #expect(try await served.feed.contains(["id": "2"]) == false)
    }

    @Test(arguments: [404, 410])
    func copyIsDroppedWhenTheServerNoLongerHasIt(_ status: Int) async throws {
        let server = try ScriptedServer(
            .answer(200, ["Cache-Control": "max-age=0, stale-if-error=60"], "one"), .answer(status, [:], "why"))
        let served = try await ServedPantry(server)
        #expect(try await served.feed.load().isStored)
        let error = await failure { try await served.feed.load() }
        #expect(error?.code == .answer && error?.status == status && error?.reply?.body == Data("why".utf8))
        #expect(try await served.feed.contains() == false)
    }

    @Test func retryAfterReachesTheCaller() async throws {
        let server = try ScriptedServer(.answer(503, ["Retry-After": "120"], "later"))
        let error = await failure { [served = try await ServedPantry(server)] in try await served.feed.load() }
        #expect(error?.status == 503 && error?.retryAfter == .seconds(120))
    }

    @Test func redirectIsFollowedToTheData() async throws {
        let server = try ScriptedServer { request in
            request.path == "/items" ? .answer(302, ["Location": "new?a=b"]) : .answer(200, [:], "Hello")
        }
        let served = try await ServedPantry(server)
        #expect(try await served.feed.load().text == "Hello")
        #expect(server.requests.map(\.target) == ["/items", "/new?a=b"])
    }

    @Test func redirectLoopIsRefused() async throws {
        let server = try ScriptedServer(.answer(301, ["Location": "/items"]))
        let served = try await ServedPantry(server)
        let error = await failure { try await served.feed.load() }
        #expect(error?.message == "the server's redirect is not followed: there were 5 before it")
        #expect(server.requests.count == 6)
    }

    @Test func answersThatVaryByLanguageAreKeptSideBySide() async throws {
        let server = try ScriptedServer { request in
            .answer(
                200, ["Vary": "Accept-Language", "Cache-Control": "max-age=60"], request["Accept-Language"] ?? "none")
        }
        let served = try await ServedPantry(server)
        for source in [Source.origin, .store("memory")] {
            for language in ["en", "de"] {
                let loaded = try await served.feed.load(fields: ["accept-language": language])
                #expect(loaded.text == language && loaded.source == source)
            }
        }
        #expect(server.requests.count == 2)
    }
}
