import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderPlugins

@Suite struct HTTPFailureTests {
    private typealias Answer = ScriptedTransport.Answer

    @Test(arguments: [
        (400, LoadError.Code.answer), (401, .answer), (403, .answer), (404, .answer), (410, .answer), (451, .answer),
        (408, .failed), (425, .failed), (429, .failed), (500, .failed), (503, .failed), (201, .failed), (206, .failed),
        (300, .failed), (305, .failed),
    ])
    func statusThatIsNotAcceptedIsAnError(_ status: Int, _ code: LoadError.Code) throws {
        let server = ScriptedTransport(
            Answer(status, [("Content-Type", "text/plain"), ("Set-Cookie", "canary")], "why"))
        try server.run { simulated async throws in
            let error = try #require(await failure { try await simulated.resource.load() })
            #expect(error.code == code && error.status == status)
            #expect(error.message == "the origin answered \(status)")
            #expect(error.reply?.body == Data("why".utf8) && error.reply?.status == status)
            #expect(error.reply?.fields.map(\.name) == ["content-type"])
        }
    }

    @Test func statusesOfThePolicyAreAccepted() throws {
        try ScriptedTransport(Answer(404, [], "none")).run(#""statuses": [200, 404]"#) { simulated async throws in
            #expect(try await simulated.resource.load().text == "none")
        }
        try ScriptedTransport(Answer(203, [], "none")).run(#""statuses": [200, 404]"#) { simulated async throws in
            #expect(await failure { try await simulated.resource.load() }?.status == 203)
        }
    }

    @Test(arguments: [
        ("120", Duration.seconds(120)), ("0", .zero), ("99999999999999999999", .forever), (" 7", .seconds(7)),
        ("-5", nil), ("soon", nil), ("1.5", nil), ("", nil),
    ])
    func retryAfterReachesTheCaller(_ text: String, _ wait: Duration?) throws {
        try ScriptedTransport(Answer(503, [("Retry-After", text)])).run { simulated async throws in
            #expect(await failure { try await simulated.resource.load() }?.retryAfter == wait)
        }
    }

    @Test func retryAfterMayBeADate() throws {
        let date = Locked("")
        let server = ScriptedTransport { _ in Answer(429, [("Retry-After", date.withLock { $0 })]) }
        try server.run { simulated async throws in
            let now = simulated.world.now
            date.withLock { $0 = HTTPDates.text(now + .seconds(90)) }
            let wait = try #require(await failure { try await simulated.resource.load() }?.retryAfter)
            #expect(wait > .seconds(88) && wait <= .seconds(90))
            date.withLock { $0 = HTTPDates.text(now - .seconds(90)) }
            #expect(await failure { try await simulated.resource.load(["id": "1"]) }?.retryAfter == .zero)
        }
    }

    @Test func breakerRestsAsLongAsRetryAfterSays() throws {
        let more =
            #""around": [{ "use": "breaker", "failures": 1, "rest": "1s" }, { "use": "retry", "backoff": "1s" }]"#
        let server = ScriptedTransport(Answer(503, [("Retry-After", "120")]), Answer(200, [], "back"))
        try server.run(strategy: #""network-only""#, more: more) { simulated async throws in
            // The server asks for more than a retry waits.
            #expect(await failure { try await simulated.resource.load() }?.status == 503)
            try await simulated.world.sleep(for: .seconds(120) - .nanoseconds(1))
            #expect(await failure { try await simulated.resource.load() }?.code == .unavailable)
            try await simulated.world.sleep(for: .nanoseconds(1))
            #expect(try await simulated.resource.load().text == "back")
        }
    }

    @Test func timeoutEndsTheWaitOfARetryWithinIt() throws {
        let more =
            #""around": [{ "use": "timeout", "after": "45s" }, { "use": "retry", "retries": 3, "backoff": "1s" }]"#
        try ScriptedTransport(Answer(503, [("Retry-After", "20")])).run(strategy: #""network-only""#, more: more) {
            simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.code == .timeout && error?.message == "timed out after 45 s")
            #expect(simulated.world.uptime == .seconds(45))
        }
    }

    @Test func errorDoesNotWaitForItsSlowExplanation() throws {
        let server = ScriptedTransport(Answer(500, [], chunks: [Data("first".utf8)], isOpen: true))
        try server.run { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.status == 500 && error?.reply?.body == Data("first".utf8))
            #expect(simulated.world.uptime == .seconds(1))
        }
        #expect(server.cancellations == 1)
    }

    @Test func explanationMayBeLargerThanTheCapacity() throws {
        let text = String(repeating: "x", count: 2_000)
        try ScriptedTransport(Answer(422, [], text)).run(#""capacity": "1KB""#) { simulated async throws in
            #expect(await failure { try await simulated.resource.load() }?.reply?.body.count == 2_000)
        }
    }

    @Test func loadThatIsCancelledWhileItsExplanationArrivesEndsAtOnce() throws {
        let server = ScriptedTransport(Answer(500, [], chunks: [Data("first".utf8)], isOpen: true))
        try server.run { simulated async throws in
            let load = simulated.start()
            try await simulated.world.sleep(for: .milliseconds(500))
            load.cancel()
            try await simulated.world.settle()
            #expect(load.endedAt == .milliseconds(500))
        }
    }

    @Test func explanationOfAnErrorIsReadNoFurtherThanItIsKept() throws {
        let chunk = Data(repeating: 1, count: 40_000)
        let server = ScriptedTransport(
            Answer(500, [], chunks: Array(repeating: chunk, count: 9), failure: HTTPFailure(.reset, "the end")))
        try server.run { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.status == 500 && error?.reply?.body.count == Reply.bodyCapacity)
            #expect(error?.reply?.isTruncated == true)
        }
    }

    @Test(arguments: [
        LoadError.Cause.noAddress, .noConnection, .tls, .proxy, .connectTimeout, .firstByteTimeout, .timeout, .reset,
        .malformed, .tooLarge, .other,
    ])
    func failureOfTheTransportIsOneOfTheOrigin(_ kind: LoadError.Cause) throws {
        let server = ScriptedTransport { _ in throw HTTPFailure(kind, "the words of the transport") }
        try server.run { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.code == (kind.rawValue.lowercased().hasSuffix("timeout") ? .timeout : .failed))
            #expect(error?.cause == kind)
            #expect(error?.message == "the words of the transport")
            #expect(error?.origin as? HTTPFailure == HTTPFailure(kind, "the words of the transport"))
        }
    }

    @Test(arguments: [
        (Answer(304), LoadError.Cause.malformed), (Answer(302, [("Location", "http://api.example/")]), .redirect),
        (Answer(200, [], "larger than ten bytes"), .tooLarge), (Answer(503), nil), (Answer(404), nil),
    ])
    func causeOfFailureIsTold(_ answer: ScriptedTransport.Answer, _ cause: LoadError.Cause?) throws {
        try ScriptedTransport(answer).run(#""capacity": "10B""#) { simulated async throws in
            let error = try #require(await failure { try await simulated.resource.load() })
            #expect(error.cause == cause)
        }
    }

    @Test(arguments: [10, 300_000])
    func bodyThatIsCutShortIsAFailure(_ size: Int) throws {
        let server = ScriptedTransport(
            Answer(200, [], chunks: [Data(repeating: 1, count: size)], failure: HTTPFailure(.reset, "cut short")))
        try server.run { simulated async throws in
            #expect(await failure { try await simulated.resource.load() }?.message == "cut short")
        }
    }

    @Test(arguments: [
        ("text/html", "the answer's content type is not among those accepted"),
        ("application/jsonp", "the answer's content type is not among those accepted"),
        ("", "the answer names no content type"),
    ])
    func typeThatIsNotAcceptedIsAFailure(_ type: String, _ message: String) throws {
        let fields = type.isEmpty ? [] : [("Content-Type", type)]
        try ScriptedTransport(Answer(200, fields)).run(#""accept": ["application/json", "image/*"]"#) {
            simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.code == .failed && error?.message == message)
        }
    }

    @Test(arguments: ["application/json", "Application/JSON; charset=utf-8", "image/png"])
    func typeThatIsAcceptedIsData(_ type: String) throws {
        let settings = #""accept": ["application/json;q=0.9", "image/*"]"#
        try ScriptedTransport(Answer(200, [("Content-Type", type)], "x")).run(settings) { simulated async throws in
            #expect(try await simulated.resource.load().text == "x")
        }
    }

    @Test func messagesContainNothingOfRequestOrAnswer() throws {
        let answers: [Answer] = [
            Answer(500, [("X-A", "canary")], "canary"), Answer(302, [("Location", "http://canary.example/canary")]),
            Answer(302, [("Location", "canary://canary")]), Answer(200, [("Content-Type", "canary/x")], "canary"),
            Answer(304, [("ETag", "canary")]),
        ]
        for answer in answers {
            let settings = #""accept": ["a/b"], "fields": { "X-Key": "${KEY}" }"#
            try ScriptedTransport(answer).run(settings, environment: ["KEY": "canary"]) { simulated async throws in
                let request = simulated.resource.request(["id": "canary"], fields: ["X-B": "canary"])
                let error = try #require(await failure { try await simulated.resource.load(request) })
                let reply = error.reply.map { "\($0)" } ?? ""
                #expect(!"\(error) \(error.trail) \(reply)".lowercased().contains("canary"))
            }
        }
    }
}
