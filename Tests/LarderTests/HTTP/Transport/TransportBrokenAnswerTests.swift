import LarderFoundation
import LarderCore
import Testing

@testable import LarderPlugins

/// Answers that HTTP does not allow, and answers that never come.
@Suite(.timeLimit(.minutes(20))) struct TransportBrokenAnswerTests {
    private func failure(
        of tested: TestedTransport, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> LoadError.Cause {
        let server = try ScriptedServer(.raw(text))
        return try await tested.make().failure(server.url, sourceLocation: sourceLocation).cause
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func invalidHeadIsMalformed(_ tested: TestedTransport) async throws {
        for head in [
            "canary\r\n\r\n", "HTTP/1.1 canary OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncanary\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX-A: 1\u{0}canary\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX-A: 1\rX-B: canary\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX A: canary\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n: canary\r\nContent-Length: 0\r\n\r\n",
        ] {
            #expect(try await failure(of: tested, head) == .malformed, "\(head.debugDescription)")
        }
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func invalidLengthIsMalformed(_ tested: TestedTransport) async throws {
        for fields in ["Content-Length: -1", "Content-Length: canary", "Content-Length: 2\r\nContent-Length: 3"] {
            let kind = try await failure(of: tested, "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nok")
            #expect(kind == .malformed, "\(fields)")
        }
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func lengthThatIsNotANumberIsMalformed(_ tested: TestedTransport) async throws {
        for length in ["8, 5", "+8", "8 8", "8;", "0x8", "8.0", "", "99999999999999999999", "9223372036854775808"] {
            let kind = try await failure(of: tested, "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\ncut down")
            #expect(kind == .malformed, "\(length)")
        }
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func codingOfTheTransferThatWasNotAskedForIsMalformed(_ tested: TestedTransport) async throws {
        for coding in ["gzip, chunked", "chunked, chunked", "identity", "gzip", "canary"] {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\nContent-Length: 10\r\n\r\n"
            #expect(try await failure(of: tested, head + "5\r\nHello\r\n0\r\n\r\n") == .malformed, "\(coding)")
        }
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func trailerThatIsNoFieldIsMalformed(_ tested: TestedTransport) async throws {
        for trailer in ["canary", ": canary", "X A: canary", "X-A: 1\u{0}canary"] {
            let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\(trailer)\r\n\r\n"
            #expect(try await failure(of: tested, text) == .malformed, "\(trailer.debugDescription)")
        }
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func invalidChunkIsMalformed(_ tested: TestedTransport) async throws {
        for chunk in [
            "xyz canary\r\n", "-5\r\nHello\r\n0\r\n\r\n", "fffffffffffffffff\r\nHello", "3\r\nHello\r\n0\r\n\r\n",
        ] {
            let kind = try await failure(of: tested, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)
            #expect(kind == .malformed, "\(chunk.debugDescription)")
        }
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func invalidCompressionIsMalformed(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        var broken = Compressed.gzip(Data("Hello".utf8))
        broken[broken.count - 6] ^= 1
        for (coding, bytes) in [("gzip", Data("no gzip".utf8)), ("gzip", broken), ("canary", Data("Hello".utf8))] {
            let server = try ScriptedServer(.answer(200, ["Content-Encoding": coding], data: bytes))
            #expect(try await transport.failure(server.url).cause == .malformed, "\(coding) \(bytes.count)")
        }
    }

    private static let field = Data(("X-Field: " + String(repeating: "v", count: 990) + "\r\n").utf8)

    @Test(arguments: TestedTransport.allCases)
    func headOverLimitIsTooLarge(_ tested: TestedTransport) async throws {
        let server = try ScriptedServer(
            .steps(
                .send("HTTP/1.1 200 OK\r\n"), .repeated(Self.field, times: 70), .send("Content-Length: 2\r\n\r\nok"),
                .close))
        #expect(try await tested.make().failure(server.url).cause == .tooLarge)
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func headWithoutEndIsTooLarge(_ tested: TestedTransport) async throws {
        for part in [Self.field, Data(repeating: UInt8(ascii: "v"), count: 1_000)] {
            let server = try ScriptedServer(
                .steps(.send("HTTP/1.1 200 OK\r\nX-Field: 1\r\nX-Long: "), .repeated(part, times: .max)))
            #expect(try await tested.make().failure(server.url).cause == .tooLarge)
        }
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func bodyThatIsCutShortIsReset(_ tested: TestedTransport) async throws {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nHello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHel",
        ] {
            #expect(try await failure(of: tested, text) == .reset, "\(text.debugDescription)")
        }
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func headThatIsCutShortIsReset(_ tested: TestedTransport) async throws {
        for text in ["", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nX-A:", "HTTP/1.1 200 OK\r\nX-A: 1\r\n"] {
            #expect(try await failure(of: tested, text) == .reset, "\(text.debugDescription)")
        }
    }

    @Test(arguments: TestedTransport.allCases)
    func connectionThatIsResetIsFailure(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        let before = try ScriptedServer(.steps(.reset))
        #expect(try await transport.failure(before.url).cause == .reset)

        let read = Gate()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        let amid = try ScriptedServer(.steps(.send(head + "Hello"), .wait(read), .reset))
        let answer = try await transport.begin(amid.url)
        #expect(try await answer.body.next() == Data("Hello".utf8))
        read.open()
        let failure = await #expect(throws: HTTPFailure.self) { try await answer.body.whole() }
        #expect(failure?.cause == .reset)
    }

    @Test(arguments: TestedTransport.allCases)
    func bytesAfterBodyAreNoAnswer(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        let lie = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello"
        let server = try ScriptedServer { request in
            request.path == "/lie"
                ? .steps(.send(lie + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ncanary"))
                : .answer(200, [:], "true")
        }
        #expect(try await transport.fetch(server.url + "/lie").text == "Hello")
        #expect(try await transport.fetch(server.url + "/").text == "true")
    }

    @Test(arguments: TestedTransport.allCases)
    func serverThatDoesNotListenIsFailureToConnect(_ tested: TestedTransport) async throws {
        let server = try ScriptedServer(.answer())
        server.stop()
        #expect(try await tested.make().failure(server.url).cause == .noConnection)
    }

    @Test(arguments: TestedTransport.allCases)
    func nameWithoutAddressIsToldAsSuch(_ tested: TestedTransport) async throws {
        // No name may be so long, so nobody is asked for it.
        let name = String(repeating: "canary", count: 20) + ".invalid"
        #expect(try await tested.make().failure("http://\(name)/").cause == .noAddress)
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func serverWithoutTLSIsFailureOfTLS(_ tested: TestedTransport) async throws {
        let server = try ScriptedServer(greeting: [.send("canary, not TLS\r\n\r\n"), .close]) { _ in .answer() }
        #expect(try await tested.make().failure("https://127.0.0.1:\(server.port)/").cause == .tls)
    }

    @Test(arguments: TestedTransport.allCases)
    func otherURLsAreRefused(_ tested: TestedTransport) async throws {
        for url in ["ftp://canary/", "file:///etc/hostname", "canary", "", "http://", "gopher://127.0.0.1:1/"] {
            #expect(try await tested.make().failure(url).cause == .other, "\(url)")
        }
    }
}
