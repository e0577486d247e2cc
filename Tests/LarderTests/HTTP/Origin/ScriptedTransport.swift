import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation

@testable import LarderPlugins

/// A transport that answers in memory as a test says, and records what it was asked.
final class ScriptedTransport: HTTPTransport {
    static var limitsConnecting: Bool { true }
    var keepsLimits: Bool { true }

    struct Answer: Sendable {
        var status: Int
        var fields: [(String, String)]
        var chunks: [Data]
        /// The failure after the chunks.
        var failure: HTTPFailure?
        /// Whether the body has no end after the chunks.
        var isOpen = false

        init(_ status: Int = 200, _ fields: [(String, String)] = [], _ body: String = "") {
            self.init(status, fields, chunks: [Data(body.utf8)])
        }

        init(
            _ status: Int, _ fields: [(String, String)], chunks: [Data], failure: HTTPFailure? = nil,
            isOpen: Bool = false
        ) {
            (self.status, self.fields, self.chunks, self.failure) = (status, fields, chunks, failure)
            self.isOpen = isOpen
        }
    }

    struct Asked: Sendable {
        let request: HTTPRequest
        let limits: HTTPLimits
        let trust: HTTPTrust

        func field(_ name: String) -> String? { request.fields.first { $0.name == name }?.value }
    }

    private let handler: @Sendable (HTTPRequest) async throws -> Answer
    private let record = Locked<[Asked]>([])
    private let cancelled = Locked(0)

    init(_ handler: @escaping @Sendable (HTTPRequest) async throws -> Answer) { self.handler = handler }

    /// Answers with these in order, and then with the last one again.
    convenience init(_ answers: Answer...) {
        let place = Locked(0)
        self.init { _ in
            answers[
                place.withLock { place in
                    defer { place = min(place + 1, answers.count - 1) }
                    return place
                }]
        }
    }

    var asked: [Asked] { record.withLock { $0 } }
    var urls: [String] { asked.map(\.request.url) }
    /// The number of exchanges that were ended before their bodies were.
    var cancellations: Int { cancelled.withLock { $0 } }

    /// The origin `http` over this transport.
    var plugin: Plugin { .http { _, _ in self } }

    func send(_ request: HTTPRequest, within limits: HTTPLimits, trusting trust: HTTPTrust) async throws -> HTTPAnswer {
        record.withLock { $0.append(Asked(request: request, limits: limits, trust: trust)) }
        let answer = try await handler(request)
        let body = HTTPBody(
            capacity: limits.capacity,
            HTTPBody.Control {
            } cancel: { [weak self] in
                self?.cancelled.withLock { $0 += 1 }
            })
        for chunk in answer.chunks { _ = chunk.withUnsafeBytes { body.append($0) } }
        if !answer.isOpen { body.finish(answer.failure) }
        return HTTPAnswer(
            status: answer.status, fields: answer.fields.compactMap { Fields.Field($0, $1) }, version: "1.1", body: body
        )
    }

    /// Runs a test with a resource `feed` over this transport.
    func run<Value: Sendable>(
        _ settings: String = "", strategy: String = #""network-first""#,
        more: String = #""validators": [{ "use": "age", "fresh": "1m", "onError": "1h" }], "store": "memory""#,
        url: String = "https://api.example/items{/id}{?page}", plugins: [Plugin] = [],
        environment: [String: String] = [:], leaving: SimulatedWorld.Leaving = .nothing,
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Value
    ) throws -> Value {
        let policy = #"""
            { "resource": "feed", "origin": { "use": "http", "url": "\#(url)"\#(settings.isEmpty ? "" : ", " + settings) },
              "strategy": \#(strategy)\#(more.isEmpty ? "" : ", " + more) }
            """#
        return try SimulatedPantry.run(
            ["feed": policy], plugins: [plugin] + plugins, environment: environment, leaving: leaving, test)
    }
}

/// The error that `work` throws.
func failure(_ work: () async throws -> some Sendable) async -> LoadError? {
    do {
        _ = try await work()
        return nil
    } catch {
        return error as? LoadError
    }
}
