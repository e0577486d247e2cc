import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderPlugins

@Suite struct HTTPOriginTests {
    private typealias Answer = ScriptedTransport.Answer

    private static let remarks: [(String, String)] = [
        ("ETag", "\"a\""), ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Content-Type", "text/plain"),
        ("Cache-Control", "max-age=60"), ("Age", "7"), ("Vary", "Accept-Language, Accept-Encoding"),
        ("Set-Cookie", "s=secret"),
        ("Set-Cookie", "t=secret"), ("Proxy-Authenticate", "Basic"), ("Authorization", "secret"), ("X-Odd", "1"),
        ("Location", "/x"), ("Link", "</2>; rel=next"),
    ]

    @Test func urlAloneMakesAWorkingResource() throws {
        let server = ScriptedTransport(Answer(200, Self.remarks, "hello"))
        try server.run(more: "") { simulated async throws in
            #expect(simulated.pantry.warnings.map(\.rule) == ["keeps-nothing"])
            let loaded = try await simulated.resource.load(["id": "a/b", "page": "2"])
            #expect(loaded.text == "hello" && loaded.source == .origin)
            let metadata = try #require(loaded.metadata)
            #expect(metadata.etag == "\"a\"" && metadata.lastModified == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(metadata.contentType == "text/plain" && metadata.status == 200)
            #expect(metadata.initialAge == .seconds(7) && metadata.variesBy == ["accept-language"])
        }
        let asked = try #require(server.asked.first)
        #expect(asked.request.method == "GET" && asked.request.body == nil)
        #expect(asked.request.url == "https://api.example/items/a%2Fb?page=2")
        #expect(asked.request.fields.map(\.name) == ["user-agent"])
        let limits = HTTPLimits(
            connect: .seconds(10), firstByte: .seconds(30), whole: .seconds(60), capacity: 64_000_000)
        #expect(asked.limits == limits)
        #expect(asked.trust == HTTPTrust(authorities: nil))
    }

    @Test func originKeepsEveryPromise() {
        let server = ScriptedTransport { request in
            let isKnown = request.fields.contains { $0.name == "if-none-match" && $0.value == "\"e1\"" }
            return isKnown ? Answer(304, [("ETag", "\"e1\"")]) : Answer(200, [("ETag", "\"e1\"")], "value")
        }
        let suite = OriginConformance(server.plugin, ["url": "https://api.example/items/{id}"])
        #expect(suite.brokenPromises() == [])
    }

    @Test func cookiesAndCredentialsOfAnswersAreNotKept() throws {
        try ScriptedTransport(Answer(200, Self.remarks, "hello")).run { simulated async throws in
            let metadata = try #require(try await simulated.resource.load().metadata)
            #expect(
                metadata.fields.map(\.name) == [
                    "age", "cache-control", "content-type", "etag", "last-modified", "link", "location", "vary",
                    "x-odd",
                ])
            #expect(metadata[.setsCookie] == 1)
        }
    }

    @Test func fieldsOfRequestsAreSentOverThoseOfThePolicy() throws {
        let server = ScriptedTransport(Answer())
        let settings =
            #""fields": { "X-Key": "${KEY}", "Accept-Language": "en", "Content-Type": "text/plain" }, "accept": ["text/*", "a/b;q=0.5"]"#
        try server.run(settings, environment: ["KEY": "canary"]) { simulated async throws in
            #expect(
                await failure { try await simulated.resource.load() }?.message == "the answer names no content type")
            let request = simulated.resource.request(fields: ["Accept-Language": "pt", "User-Agent": "App"])
            _ = try? await simulated.resource.load(request)
            #expect(!"\(try #require(simulated.pantry.policy(of: "feed")))".contains("canary"))
        }
        let first = try #require(server.asked.first)
        #expect(first.field("x-key") == "canary" && first.field("accept-language") == "en")
        #expect(first.field("accept") == "text/*, a/b;q=0.5" && first.field("content-type") == nil)
        let second = try #require(server.asked.last)
        #expect(second.request.fields.filter { $0.name == "accept-language" }.map(\.value) == ["pt"])
        #expect(second.field("user-agent") == "App")
        #expect(!"\(second.request) \(Mirror(reflecting: second.request).children.map { "\($0)" })".contains("canary"))
    }

    @Test(arguments: [
        "Host", "Content-Length", "connection", "Transfer-Encoding", "Range", "If-None-Match", "Accept-Encoding",
        "Proxy-Authorization", "Expect", "Upgrade",
    ])
    func fieldThatTheOriginSetsIsRefusedInARequest(_ name: String) throws {
        let server = ScriptedTransport(Answer())
        try server.run { simulated async throws in
            let error = await failure {
                try await simulated.resource.load(fields: Fields(dictionaryLiteral: (name, "x")))
            }
            #expect(error?.code == .failed)
            #expect(error?.message == "the request may not set the field '\(name.lowercased())'")
        }
        #expect(server.asked.isEmpty)
    }

    @Test(arguments: ["Authorization", "Cookie"])
    func credentialsOfARequestNeedAScope(_ name: String) throws {
        let server = ScriptedTransport(Answer())
        try server.run { simulated async throws in
            let fields = Fields(dictionaryLiteral: (name, "canary"))
            let error = await failure { try await simulated.resource.load(fields: fields) }
            #expect(error?.message == "a request with credentials in the field '\(name.lowercased())' needs a scope")
            _ = try await simulated.resource.load(scope: "alice", fields: fields)
            _ = try await simulated.resource.send(simulated.resource.request(fields: fields))
        }
        #expect(server.asked.map { $0.field(name.lowercased()) } == ["canary", "canary"])
    }

    // MARK: Conditions

    @Test func copyIsConfirmedByTheServer() throws {
        let server = ScriptedTransport(
            Answer(200, Self.remarks, "hello"),
            Answer(304, [("Cache-Control", "max-age=9"), ("ETag", "\"a\""), ("Content-Type", "x/y"), ("Vary", "X-B")]))
        try server.run { simulated async throws in
            _ = try await simulated.resource.load()
            let loaded = try await simulated.resource.load(mode: .refresh)
            #expect(loaded.source == .revalidated && loaded.text == "hello")
            let metadata = try #require(loaded.metadata)
            #expect(metadata.fields["cache-control"] == "max-age=9" && metadata.fields["link"] == "</2>; rel=next")
            #expect(metadata.contentType == "text/plain" && metadata.fields["content-type"] == "text/plain")
            #expect(metadata.fields["age"] == nil && metadata.initialAge == .zero)
            #expect(metadata.status == 200 && metadata.variesBy == ["x-b"])
        }
        #expect(server.asked[0].field("if-none-match") == nil)
        #expect(server.asked[1].field("if-none-match") == "\"a\"")
        #expect(server.asked[1].field("if-modified-since") == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test func confirmationWithoutConditionIsAFailure() throws {
        try ScriptedTransport(Answer(304)).run { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.code == .failed && error?.status == 304)
            #expect(error?.message == "the server answered 304, but was asked for no condition")
        }
    }

    @Test func confirmationOfAnotherVersionIsAskedAgainWithoutCondition() throws {
        let server = ScriptedTransport(
            Answer(200, [("ETag", "\"a\"")], "one"), Answer(304, [("ETag", "\"b\"")]),
            Answer(200, [("ETag", "\"b\"")], "two"))
        try server.run { simulated async throws in
            _ = try await simulated.resource.load()
            let loaded = try await simulated.resource.load(mode: .refresh)
            #expect(loaded.source == .origin && loaded.text == "two")
        }
        #expect(server.asked.map { $0.field("if-none-match") } == [nil, "\"a\"", nil])
    }

    @Test func weakAndStrongFormOfATagAreOneVersion() throws {
        try ScriptedTransport(Answer(200, [("ETag", "W/\"a\"")], "one"), Answer(304, [("ETag", "\"a\"")])).run {
            simulated in
            _ = try await simulated.resource.load()
            #expect(try await simulated.resource.load(mode: .refresh).source == .revalidated)
        }
    }

    @Test func answersThatVaryAreKeptSideBySide() throws {
        let server = ScriptedTransport { request in
            let language = request.fields.first { $0.name == "accept-language" }?.value ?? "none"
            return Answer(200, [("Vary", "Accept-Language")], language)
        }
        try server.run(strategy: #""cache-first""#) { simulated async throws in
            for _ in 0..<2 {
                #expect(try await simulated.resource.load(fields: ["Accept-Language": "de"]).text == "de")
                #expect(try await simulated.resource.load(fields: ["Accept-Language": "fr"]).text == "fr")
            }
        }
        #expect(server.asked.count == 2)
    }

    // MARK: Methods and bodies

    @Test(arguments: ["POST", "QUERY"])
    func lookupSendsTheBodyOfTheRequest(_ method: String) throws {
        let server = ScriptedTransport(Answer(200, [], "found"))
        let settings = #""method": "\#(method)", "fields": { "Content-Type": "application/json" }"#
        try server.run(settings, strategy: #""cache-first""#) { simulated async throws in
            for body in ["one", "two", "one"] {
                #expect(try await simulated.resource.load(body: Data(body.utf8)).text == "found")
            }
        }
        #expect(server.asked.map(\.request.method) == [method, method])
        #expect(server.asked.map(\.request.body) == [Data("one".utf8), Data("two".utf8)])
        #expect(server.asked.allSatisfy { $0.field("content-type") == "application/json" })
    }

    @Test func bodyThatTheMethodDoesNotSendIsAnError() throws {
        let server = ScriptedTransport(Answer())
        try server.run { simulated async throws in
            let error = await failure { try await simulated.resource.load(body: Data("x".utf8)) }
            #expect(error?.message == "a request with a body needs the method POST or QUERY, not GET")
        }
        #expect(server.asked.isEmpty)
    }

    @Test func changeIsSentWithItsMethodAndBody() throws {
        let server = ScriptedTransport(Answer(201, [("Location", "/items/8"), ("ETag", "\"n\"")], "made"))
        let settings = #""accept": ["application/json"], "fields": { "Content-Type": "application/json" }"#
        try server.run(settings) { simulated async throws in
            let request = simulated.resource.request(["id": "7"], fields: ["If-Match": "\"m\""], body: Data("{}".utf8))
            let loaded = try await simulated.resource.send(request, method: "PUT")
            #expect(loaded.text == "made" && !loaded.isStored)
            #expect(loaded.metadata?.status == 201 && loaded.metadata?.fields["location"] == "/items/8")
            let error = await failure { try await simulated.resource.send(request, method: "CONNECT") }
            #expect(error?.message == "requests of this method cannot be sent")
        }
        let asked = try #require(server.asked.first)
        #expect(asked.request.method == "PUT" && asked.request.body == Data("{}".utf8) && server.asked.count == 1)
        #expect(asked.field("content-type") == "application/json", "though lookups are made without a body")
        #expect(asked.field("if-match") == "\"m\"" && asked.request.url == "https://api.example/items/7")
    }

    @Test(arguments: ["HEAD", "GET"])
    func emptyAnswerIsData(_ method: String) throws {
        let server = ScriptedTransport(Answer(method == "GET" ? 204 : 200, [("ETag", "\"a\"")]))
        try server.run(#""method": "\#(method)""#) { simulated async throws in
            let loaded = try await simulated.resource.load()
            #expect(loaded.value.isEmpty && loaded.metadata?.etag == "\"a\"" && loaded.isStored)
        }
    }

    // MARK: Limits

    @Test(arguments: [true, false])
    func answerThatIsTooLargeIsRefusedAtTheCapacity(_ isAnnounced: Bool) throws {
        let chunk = Data(repeating: 1, count: 60_000)
        let length = isAnnounced ? [("Content-Length", "600000")] : []
        let server = ScriptedTransport(Answer(200, length, chunks: Array(repeating: chunk, count: 10)))
        try server.run(#""capacity": "500KB""#) { simulated async throws in
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.code == .failed)
            #expect(error?.message == "the answer is larger than the capacity that the policy allows")
        }
    }

    @Test func largeAnswerIsPutIntoAFile() throws {
        let chunk = Data(repeating: 7, count: 60_000)
        let server = ScriptedTransport(Answer(200, [], chunks: Array(repeating: chunk, count: 10)))
        let isFile = Locked<[Bool]>([])
        let probe = Plugin.wrapper("probe", "Looks at payloads.") { _, inner in
            Probe(inner: inner) { entry in isFile.withLock { $0.append(entry.payload.isFile) } }
        }
        try server.run(more: #""around": ["probe"], "store": "file""#, plugins: [probe]) { simulated async throws in
            let loaded = try await simulated.resource.load()
            #expect(loaded.value.count == 600_000 && loaded.value.allSatisfy { $0 == 7 } && loaded.isStored)
        }
        #expect(isFile.withLock { $0 } == [true])
    }

    private struct Probe: Loader {
        let inner: any Loader
        let look: @Sendable (Entry) -> Void

        func load(_ call: Call) async throws -> Loaded<Entry> {
            let loaded = try await inner.load(call)
            look(loaded.value)
            return loaded
        }
    }

    @Test func limitHoldsForAllExchangesOfACallTogether() throws {
        let world = Locked<SimulatedWorld?>(nil)
        let server = ScriptedTransport { _ in
            try await world.withLock { $0 }?.sleep(for: .seconds(4))
            return Answer(302, [("Location", "/again")])
        }
        try server.run(#""limit": "9s", "firstByteLimit": "5s""#) { simulated async throws in
            world.withLock { $0 = simulated.world }
            let error = await failure { try await simulated.resource.load() }
            #expect(error?.code == .timeout && error?.message == "the answer took too long")
        }
        #expect(server.asked.map(\.limits.whole) == [.seconds(9), .seconds(5), .seconds(1)])
        #expect(server.asked.map(\.limits.firstByte) == [.seconds(5), .seconds(5), .seconds(1)])
    }

    @Test func cancelledLoadEndsTheExchange() throws {
        let (world, ended) = (Locked<SimulatedWorld?>(nil), Locked(0))
        let server = ScriptedTransport { _ in
            do {
                try await world.withLock { $0 }?.sleep(for: .seconds(60))
            } catch {
                ended.withLock { $0 += 1 }
                throw error
            }
            return Answer()
        }
        try server.run { simulated async throws in
            world.withLock { $0 = simulated.world }
            let load = simulated.world.spawn { _ = try? await simulated.resource.load() }
            try await simulated.world.sleep(for: .seconds(1))
            load.cancel()
            await load.value
            try await simulated.world.sleep(for: .seconds(1))
            #expect(ended.withLock { $0 } == 1)
        }
    }
}
