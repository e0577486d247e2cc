import LarderFoundation
import Larder
import LarderSystem
import Testing

/// Answers that break off around a logout.
@Suite(.timeLimit(.minutes(20))) struct ResumingClearingTests {
    private static let policy =
        #""strategy": { "use": "cache-first", "rest": "0s" }, "validators": ["http"], "store": "file""#

    private static func parts(of served: ServedPantry) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: served.cache.path).filter { $0.hasSuffix(".part") }
    }

    private static let half: [ScriptedReply.Step] = [
        .send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 1000000\r\n\r\n"),
        .body(DownloadServer.content(400_000)), .close,
    ]

    @Test func answerToALoadBeforeALogoutLeavesNothing() async throws {
        let (asked, gate) = (Gate(), Gate())
        let server = try ScriptedServer { request in
            request.number == 1 ? ScriptedReply(steps: [.open(asked), .wait(gate)] + Self.half) : .answer(503)
        }
        let served = try await ServedPantry(server, policy: Self.policy)
        let feed = served.feed
        let task = Task { try await feed.load(["id": "1"], scope: "alice") }
        try await asked.opened()
        try await served.pantry.clear(.scope("alice"))
        gate.open()
        await #expect(throws: LoadError.self) { try await task.value }
        #expect(try Self.parts(of: served) == [])
    }

    @Test func nextTryOfALoadBeforeALogoutLeavesNothing() async throws {
        let (asked, gate) = (Gate(), Gate())
        let server = try ScriptedServer { request in
            switch request.number {
            case 1: ScriptedReply(steps: Self.half)
            case 2: ScriptedReply(steps: [.open(asked), .wait(gate)] + Self.half)
            default: ScriptedReply(steps: Self.half)
            }
        }
        let served = try await ServedPantry(
            server, policy: #""around": [{ "use": "retry", "retries": 2, "backoff": "1ms" }], "# + Self.policy)
        let feed = served.feed
        let task = Task { try await feed.load(["id": "1"], scope: "alice") }
        try await asked.opened()
        try await served.pantry.clear(.scope("alice"))
        gate.open()
        await #expect(throws: LoadError.self) { try await task.value }
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=400000-", nil])
        #expect(try Self.parts(of: served) == [])
    }

    @Test func accountsShareNothing() async throws {
        let server = try ScriptedServer { request in
            request.number == 1
                ? ScriptedReply(steps: Self.half)
                : .answer(
                    200, ["ETag": "\"1\"", "Cache-Control": "max-age=60"], data: DownloadServer.content(1_000_000))
        }
        let served = try await ServedPantry(server, policy: Self.policy)
        await #expect(throws: LoadError.self) { try await served.feed.load(["id": "1"], scope: "alice") }
        _ = try await served.feed.load(["id": "1"], scope: "bob")
        #expect(server.requests.map { $0["Range"] } == [nil, nil])
    }
}
