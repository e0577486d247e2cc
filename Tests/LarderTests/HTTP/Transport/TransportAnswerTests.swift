import LarderFoundation
import LarderCore
import Testing

@testable import LarderPlugins

/// Answers that HTTP allows, however odd.
@Suite(.timeLimit(.minutes(20))) struct TransportAnswerTests {
    @Test(arguments: TestedTransport.allCases)
    func statusFieldsAndBodyArrive(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        let server = try ScriptedServer { request in
            .answer(Int(request.path.dropFirst()) ?? 500, ["ETag": "W/\"ä\"", "X-Empty": ""], "Hello, wörld")
        }
        for status in [200, 203, 400, 404, 410, 429, 500, 503, 599] {
            let answer = try await transport.fetch(server.url + "/\(status)")
            #expect(answer.status == status && answer.text == "Hello, wörld")
            #expect(answer["etag"] == "W/\"ä\"" && answer["x-empty"] == "")
        }
    }

    @Test(arguments: TestedTransport.with(.order, .version))
    func fieldsKeepTheirOrder(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        let server = try ScriptedServer(.answer(200, ["Vary": "b", "Link": "<x>", "Vary": "a", "link": "<y>"]))
        let answer = try await transport.fetch(server.url)
        #expect(answer.fields.map(\.name) == ["vary", "link", "vary", "link", "content-length"])
        #expect(answer.fields.map(\.value) == ["b", "<x>", "a", "<y>", "0"])
        #expect(answer.version == "1.1")
    }

    @Test(arguments: TestedTransport.allCases)
    func answerWithoutBodyLeavesConnectionUsable(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        let server = try ScriptedServer { request in
            switch request.path {
            case "/204": .answer(204)
            // The server was not asked whether anything changed.
            case "/304": .steps(.send("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 5\r\n\r\n"))
            case "/empty": .answer(200)
            default: .answer(200, [:], "Hello")
            }
        }
        #expect(try await transport.fetch(server.url + "/204").status == 204)
        #expect(try await transport.fetch(server.url + "/304").status == 304)
        #expect(try await transport.fetch(server.url + "/empty").body.isEmpty)
        let head = try await transport.fetch(server.url + "/", "HEAD")
        #expect(head.status == 200 && head.body.isEmpty)
        #expect(try await transport.fetch(server.url + "/").text == "Hello")
        #expect(server.requests.map(\.connection) == [1, 1, 1, 1, 1])
    }

    @Test(arguments: TestedTransport.allCases)
    func redirectIsDeliveredAsItIs(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        let server = try ScriptedServer { .answer(Int($0.path.dropFirst()) ?? 500, ["Location": $0.path], "moved") }
        for status in [301, 302, 303, 307, 308] {
            let answer = try await transport.fetch(server.url + "/\(status)")
            #expect(answer.status == status && answer["location"] == "/\(status)" && answer.text == "moved")
        }
        #expect(server.requests.count == 5)
    }

    @Test(arguments: TestedTransport.with(.unauthorized))
    func unauthorizedIsDeliveredAsItIs(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        for scheme in ["Basic realm=\"a\"", "Digest realm=\"a\", nonce=\"b\"", "Bearer", "Negotiate"] {
            let server = try ScriptedServer(.answer(401, ["WWW-Authenticate": scheme], "Who?"))
            let answer = try await transport.fetch(server.url)
            #expect(answer.status == 401 && answer.text == "Who?" && server.requests.count == 1)
        }
    }

    @Test(arguments: TestedTransport.allCases)
    func interimAnswersAreSkipped(_ tested: TestedTransport) async throws {
        let interim = "HTTP/1.1 100 Continue\r\n\r\n"
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nX-Hint: 1\r\n\r\n"
        let server = try ScriptedServer(
            .steps(
                .send(interim + hints + hints), .send("HTTP/1.1 200 OK\r\nX-Final: 1\r\nContent-Length: 2\r\n\r\nok")))
        let answer = try await tested.make().fetch(server.url)
        #expect(answer.status == 200 && answer.text == "ok" && answer["x-final"] == "1" && answer["x-hint"] == nil)
    }

    @Test(arguments: TestedTransport.with(.rareAnswers))
    func bodyWithoutLengthEndsWithConnection(_ tested: TestedTransport) async throws {
        for head in ["HTTP/1.0 200 OK\r\n", "HTTP/1.1 200\r\nConnection: close\r\n"] {
            let server = try ScriptedServer(.raw(head + "X-A: 1\r\n\r\nold but good"))
            let answer = try await tested.make().fetch(server.url)
            #expect(answer.status == 200 && answer.text == "old but good" && answer["x-a"] == "1")
        }
    }

    @Test(arguments: TestedTransport.with(.rareAnswers))
    func oddChunksAreRead(_ tested: TestedTransport) async throws {
        let chunks = [
            "0000000A;name=value;quoted=\"a;b\"\r\n0123456789\r\n", "A\r\n0123456789\r\n", "a ;x\r\n0123456789\r\n",
            "0;last\r\nX-Trailer: 1\r\n\r\n",
        ]
        let server = try ScriptedServer(
            .steps(.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks.joined())))
        let transport = try tested.make()
        for _ in 0..<2 {
            let answer = try await transport.fetch(server.url)
            #expect(answer.text == String(repeating: "0123456789", count: 3))
        }
        #expect(server.connections == 1)
    }

    @Test(arguments: TestedTransport.allCases)
    func answerThatArrivesByteByByteIsRead(_ tested: TestedTransport) async throws {
        let server = try ScriptedServer(.trickle("HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 5\r\n\r\nHello"))
        let answer = try await tested.make().fetch(server.url)
        #expect(answer.text == "Hello" && answer["x-a"] == "1")
    }

    @Test(arguments: TestedTransport.allCases)
    func compressedBodyIsDecoded(_ tested: TestedTransport) async throws {
        let text = Data(String(repeating: "Hello, wörld. ", count: 100).utf8)
        for (coding, bytes) in [("gzip", Compressed.gzip(text)), ("br", Compressed.brotli(text))] {
            let server = try ScriptedServer(.answer(200, ["Content-Encoding": coding, "ETag": "\"a\""], data: bytes))
            let answer = try await tested.make().fetch(server.url)
            #expect(answer.body == text && answer["etag"] == "\"a\"")
            #expect(answer["content-encoding"] == nil && answer["content-length"] == nil)
        }
    }

    @Test(arguments: TestedTransport.allCases)
    func longFieldsArrive(_ tested: TestedTransport) async throws {
        let value = String(repeating: "v", count: 30_000)
        let server = try ScriptedServer(.answer(200, ["X-Long": value, "X-Longer": value], "ok"))
        let answer = try await tested.make().fetch(server.url)
        #expect(answer["x-long"] == value && answer["x-longer"] == value && answer.text == "ok")
    }
}
