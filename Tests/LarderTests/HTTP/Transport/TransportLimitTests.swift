import LarderFoundation
import Larder
import LarderSystem
import LarderCore
import Testing

@testable import LarderPlugins

/// Limits of time, cancelling, and readers that are slow.
@Suite(.timeLimit(.minutes(20))) struct TransportLimitTests {
    private static let short = Duration.milliseconds(200)

    @Test(arguments: TestedTransport.allCases)
    func limitOfFirstByteEndsRequest(_ tested: TestedTransport) async throws {
        let left = Gate()
        let server = try ScriptedServer(.steps(.silence, clientLeft: left))
        var limits = HTTPLimits.ample
        limits.firstByte = Self.short
        #expect(try await tested.make().failure(server.url, within: limits).cause == .firstByteTimeout)
        try await left.opened()
    }

    @Test(arguments: TestedTransport.allCases)
    func limitOfFirstByteDoesNotLimitBody(_ tested: TestedTransport) async throws {
        let (transport, gate) = (try tested.make(), Gate())
        let server = try ScriptedServer { request in
            request.path == "/silent"
                ? .steps(.silence)
                : .steps(.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), .wait(gate), .send("ok"))
        }
        var limits = HTTPLimits.ample
        limits.firstByte = Self.short
        let answer = try await transport.begin(server.url, within: limits)
        // The limit of a request that began later passes.
        #expect(try await transport.failure(server.url + "/silent", within: limits).cause == .firstByteTimeout)
        gate.open()
        #expect(try await answer.body.whole() == Data("ok".utf8))
    }

    @Test(arguments: TestedTransport.allCases)
    func limitOfWholeEndsBody(_ tested: TestedTransport) async throws {
        let left = Gate()
        let server = try ScriptedServer(
            .steps(.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHel"), .silence, clientLeft: left))
        var limits = HTTPLimits.ample
        limits.whole = Self.short
        let answer = try await tested.make().begin(server.url, within: limits)
        let failure = await #expect(throws: HTTPFailure.self) { try await answer.body.whole() }
        #expect(failure?.cause == .timeout)
        try await left.opened()
    }

    @Test(arguments: TestedTransport.with(.connectLimit))
    func limitOfConnectingEndsHandshake(_ tested: TestedTransport) async throws {
        let left = Gate()
        let server = try ScriptedServer(greeting: [.silence, .open(left)]) { _ in .answer() }
        var limits = HTTPLimits.ample
        limits.connect = Self.short
        let failure = try await tested.make().failure("https://127.0.0.1:\(server.port)/", within: limits)
        #expect(failure.cause == .connectTimeout)
    }

    /// A transport that cannot limit the time of connecting, as `URLSession` cannot.
    private struct WithoutConnectLimit: HTTPTransport {
        static var limitsConnecting: Bool { false }
        var keepsLimits: Bool { true }

        func send(
            _ request: HTTPRequest, within limits: HTTPLimits, trusting trust: HTTPTrust
        ) async throws -> HTTPAnswer { throw HTTPFailure(.other, "not sent") }
    }

    /// The problems of a policy whose origin is `http` over a transport, with further settings.
    private func problems(_ settings: String, over plugin: Plugin) throws -> [String] {
        let folder = try Folder()
        try folder.write(
            #"""
            { "resource": "feed", "origin": { "use": "http", "url": "https://api.example/"\#(settings) },
              "strategy": "network-only" }
            """#, to: "feed.json")
        let registry = try Registry.standard.replacing(plugin)
        return PolicyReader(registry: registry, folder: folder.path, environment: [:]).check("feed.json").problems
            .map(\.description)
    }

    @Test func limitOfConnectingIsRefusedIfTheTransportCannotKeepIt() throws {
        let plugin = Plugin.http { _, _ in WithoutConnectLimit() }
        #expect(try problems("", over: plugin) == [])
        let refused = try problems(#", "connectLimit": "2s""#, over: plugin)
        #expect(refused.count == 1)
        #expect(refused.first?.contains("connecting alone cannot be limited here") == true, "\(refused)")
        #expect(refused.first?.hasSuffix("[at $.origin.connectLimit]") == true, "\(refused)")
    }

    @Test(arguments: TestedTransport.with(.connectLimit))
    func limitOfConnectingIsAccepted(_ tested: TestedTransport) throws {
        #expect(try problems(#", "connectLimit": "2s""#, over: tested.plugin) == [])
    }

    @Test(arguments: TestedTransport.allCases)
    func cancelledTaskSendsNothing(_ tested: TestedTransport) async throws {
        let (transport, server) = (try tested.make(), try ScriptedServer(.answer()))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.fetch(server.url)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: TestedTransport.allCases)
    func cancellingBeforeAnswerEndsRequest(_ tested: TestedTransport) async throws {
        let (asked, left) = (Gate(), Gate())
        let (transport, server) = (
            try tested.make(), try ScriptedServer(.steps(.open(asked), .silence, clientLeft: left))
        )
        let task = Task { try await transport.fetch(server.url) }
        try await asked.opened()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await left.opened()
    }

    @Test(arguments: TestedTransport.allCases)
    func cancellingReaderEndsRequest(_ tested: TestedTransport) async throws {
        let (reading, left) = (Gate(), Gate())
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHel"
        let (transport, server) = (
            try tested.make(), try ScriptedServer(.steps(.send(head), .silence, clientLeft: left))
        )
        let task = Task {
            let answer = try await transport.begin(server.url)
            _ = try await answer.body.next()
            reading.open()
            return try await answer.body.whole()
        }
        try await reading.opened()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await left.opened()
    }

    @Test(arguments: TestedTransport.allCases)
    func bodyThatIsNotReadEndsRequest(_ tested: TestedTransport) async throws {
        let left = Gate()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHel"
        let server = try ScriptedServer(.steps(.send(head), .silence, clientLeft: left))
        let transport = try tested.make()
        #expect(try await transport.begin(server.url).status == 200)
        try await left.opened()
    }

    @Test(arguments: TestedTransport.allCases)
    func bodyArrivesAfterTransportIsReleased(_ tested: TestedTransport) async throws {
        let gate = Gate()
        let server = try ScriptedServer(
            .steps(.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHel"), .wait(gate), .send("lo")))
        let answer = try await tested.make().begin(server.url)
        gate.open()
        #expect(try await answer.body.whole() == Data("Hello".utf8))
    }

    @Test(arguments: TestedTransport.allCases)
    func randomCancellingLosesNoAnswer(_ tested: TestedTransport) async throws {
        let (transport, server) = (try tested.make(), try ScriptedServer { .answer(200, [:], $0.path) })
        var numbers = SystemRandomNumberGenerator()
        for round in 0..<20 {
            let path = "/\(round)"
            let tasks = (0..<10).map { _ in Task { try await transport.fetch(server.url + path).text } }
            for task in tasks where Bool.random(using: &numbers) { task.cancel() }
            for task in tasks {
                switch await task.result {
                case .success(let text): #expect(text == path)
                case .failure(let error): #expect(error is CancellationError, "\(error)")
                }
            }
        }
        #expect(try await transport.fetch(server.url + "/last").text == "/last")
    }
}
