import LarderFoundation
import Larder
import LarderSystem
import Testing

/// Large answers that break off and go on where they stopped, over real transports and files.
@Suite(.timeLimit(.minutes(20))) struct ResumingTests {
    private static let policy =
        #""strategy": { "use": "cache-first", "rest": "0s" }, "validators": ["http", "checksum"], "store": "file""#

    private static func pantry(
        _ download: DownloadServer, over transport: TestedTransport = .allCases[0], settings: String = "",
        around: String = "", cache: Folder? = nil
    ) async throws -> ServedPantry {
        try await ServedPantry(
            download.server, settings: settings, policy: around + policy,
            registry: Registry.standard.replacing(transport.plugin), cache: cache)
    }

    /// The files below the cache folder in which something is left of answers that broke off.
    private static func parts(of served: ServedPantry) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: served.cache.path)
            .filter { $0.contains("@payloads/") && $0.hasSuffix(".part") }
    }

    @Test(arguments: TestedTransport.allCases)
    func nextLoadAsksForTheRest(_ transport: TestedTransport) async throws {
        let download = try DownloadServer()
        let served = try await Self.pantry(download, over: transport)
        await #expect(throws: LoadError.self) { try await served.feed.load(["id": "1"]) }
        #expect(try Self.parts(of: served).count == 1)
        let loaded = try await served.feed.load(["id": "1"])
        #expect(loaded.value == download.content && loaded.source == .origin && loaded.isStored)
        #expect(download.ranges == [nil, "bytes=400000-"])
        #expect(download.server.requests.last?["If-Range"] == "\"1\"")
        #expect(download.server.requests.last?["Accept-Encoding"] == "identity")
        #expect(try Self.parts(of: served) == [])
        #expect(loaded.trail.steps.contains { $0.event.description == "the answer goes on after 400000 bytes" })
        let copy = try await served.feed.load(["id": "1"], mode: .cachedOnly)
        #expect(copy.value == download.content)
    }

    @Test func answerThatBreaksOffOftenIsLoadedOnce() async throws {
        let download = try DownloadServer(breaks: [300_000, 200_000, 1, 150_000])
        let served = try await Self.pantry(
            download, around: #""around": [{ "use": "retry", "retries": 4, "backoff": "1ms" }], "#)
        #expect(try await served.feed.load().value == download.content)
        #expect(
            download.ranges == [nil, "bytes=300000-", "bytes=500000-", "bytes=500001-", "bytes=650001-"])
        #expect(download.server.sent < 1_010_000)
    }

    @Test func nextProcessAsksForTheRest() async throws {
        let download = try DownloadServer()
        let cache = try Folder()
        let first = try await Self.pantry(download, cache: cache)
        await #expect(throws: LoadError.self) { try await first.feed.load() }
        await first.pantry.close()
        let second = try await Self.pantry(download, cache: cache)
        #expect(try await second.feed.load().value == download.content)
        #expect(download.ranges == [nil, "bytes=400000-"])
    }

    @Test func answerOfAnotherURLDoesNotGoOn() async throws {
        let download = try DownloadServer()
        let cache = try Folder()
        for (url, range) in [("/v1{/id}", nil), ("/v2{/id}", nil), ("/v2{/id}", "bytes=400000-")] {
            download.state.withLock { $0.breaks = [400_000] }
            let served = try await ServedPantry(
                download.server, url: url, policy: Self.policy, cache: cache)
            await #expect(throws: LoadError.self) { try await served.feed.load() }
            #expect(download.ranges.last == range)
            await served.pantry.close()
        }
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func cancelledLoadGoesOnLater(_ transport: TestedTransport) async throws {
        let (half, gate) = (Gate(), Gate())
        let content = DownloadServer.content(20_000_000)
        let server = try ScriptedServer { request in
            let start = request["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
            guard let start else {
                return .steps(
                    .send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(content.count)\r\n\r\n"),
                    .body(content.prefix(10_000_000)), .open(half), .wait(gate))
            }
            return .answer(
                206, ["ETag": "\"1\"", "Content-Range": "bytes \(start)-19999999/20000000"], data: content[start...])
        }
        let served = try await ServedPantry(
            server, policy: Self.policy, registry: Registry.standard.replacing(transport.plugin))
        let task = Task { try await served.feed.load() }
        // All but what buffers hold has been read then.
        try await half.opened()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await served.feed.load().value == content)
        let start = server.requests.last?["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
        #expect(start ?? 0 > 1_000_000)
        gate.open()
    }

    // MARK: Versions

    @Test func anotherVersionIsLoadedWhole() async throws {
        let download = try DownloadServer()
        let served = try await Self.pantry(download)
        await #expect(throws: LoadError.self) { try await served.feed.load() }
        download.state.withLock { ($0.content, $0.tag) = (DownloadServer.content(900_000, version: 2), "\"2\"") }
        let loaded = try await served.feed.load()
        #expect(loaded.value == download.content && loaded.metadata?.etag == "\"2\"")
        #expect(download.ranges == [nil, "bytes=400000-"])
        #expect(try Self.parts(of: served) == [])
    }

    @Test func anotherVersionThatBreaksOffReplacesTheFirst() async throws {
        let download = try DownloadServer(breaks: [400_000, 300_000])
        let served = try await Self.pantry(download)
        await #expect(throws: LoadError.self) { try await served.feed.load() }
        download.state.withLock { ($0.content, $0.tag) = (DownloadServer.content(900_000, version: 2), "\"2\"") }
        await #expect(throws: LoadError.self) { try await served.feed.load() }
        #expect(try Self.parts(of: served).count == 1)
        #expect(try await served.feed.load().value == download.content)
        #expect(download.server.requests.last?["If-Range"] == "\"2\"")
        #expect(download.ranges == [nil, "bytes=400000-", "bytes=300000-"])
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT", true),
        // The version may have changed within the minute after which it was sent.
        ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:36 GMT", false),
        ("Sun, 06 Nov 1994 08:49:37 GMT", nil, false), ("yesterday", "Sun, 06 Nov 1994 08:50:37 GMT", false),
    ])
    func dateNamesTheVersionOnlyIfItIsStrong(_ date: String, _ sent: String?, isStrong: Bool) async throws {
        let download = try DownloadServer()
        download.state.withLock { state in
            state.tag = nil
            state.fields = [("Last-Modified", date)] + (sent.map { [("Date", $0)] } ?? [])
        }
        let served = try await Self.pantry(download)
        await #expect(throws: LoadError.self) { try await served.feed.load() }
        #expect(try await served.feed.load().value == download.content)
        #expect(download.ranges == [nil, isStrong ? "bytes=400000-" : nil])
        if isStrong { #expect(download.server.requests.last?["If-Range"] == date) }
    }

    @Test(arguments: [
        [("ETag", "W/\"1\"")], [("ETag", "1")], [("ETag", "\"1\""), ("Accept-Ranges", "none")],
        [("ETag", "\"1\""), ("Cache-Control", "no-store")], [("ETag", "\"1\""), ("Cache-Control", "private")],
        [("ETag", "\"1\""), ("Set-Cookie", "a=b")], [("ETag", "\"1\""), ("Vary", "*")], [],
    ])
    func answerThatCannotGoOnLeavesNothing(_ fields: [(String, String)]) async throws {
        let download = try DownloadServer()
        download.state.withLock { ($0.tag, $0.fields) = (nil, fields.map { (name: $0.0, value: $0.1) }) }
        let served = try await Self.pantry(download)
        await #expect(throws: LoadError.self) { try await served.feed.load() }
        #expect(try Self.parts(of: served) == [])
        #expect(try await served.feed.load().value == download.content)
        #expect(download.ranges == [nil, nil])
    }

    @Test func compressedAnswerLeavesNothing() async throws {
        let packed = Compressed.gzip(DownloadServer.content(300_000))
        let server = try ScriptedServer { request in
            .steps(
                .send(
                    ScriptedReply.head(
                        200,
                        [("ETag", "\"1\""), ("Content-Encoding", "gzip"), ("Content-Length", "\(packed.count)")])),
                .body(request.number == 1 ? packed.prefix(200_000) : packed), request.number == 1 ? .close : .send(""))
        }
        let served = try await ServedPantry(server, policy: Self.policy)
        await #expect(throws: LoadError.self) { try await served.feed.load() }
        #expect(try Self.parts(of: served) == [])
        #expect(try await served.feed.load().value == DownloadServer.content(300_000))
        #expect(server.requests.map { $0["Range"] } == [nil, nil])
    }

    @Test func answerToOtherFieldsIsLoadedWhole() async throws {
        let download = try DownloadServer()
        download.state.withLock { $0.fields = [("Vary", "X-Kind")] }
        let served = try await Self.pantry(download)
        func request(_ kind: String) -> Request { Request("feed", fields: ["X-Kind": kind]) }
        await #expect(throws: LoadError.self) { try await served.feed.load(request("a")) }
        #expect(try await served.feed.load(request("b")).value == download.content)
        #expect(try await served.feed.load(request("a")).value == download.content)
        #expect(download.ranges == [nil, nil, "bytes=400000-"])
    }

    @Test func nothingIsKeptIfThePolicySaysSo() async throws {
        let download = try DownloadServer()
        let served = try await Self.pantry(download, settings: #""resume": false"#)
        await #expect(throws: LoadError.self) { try await served.feed.load() }
        #expect(try Self.parts(of: served) == [])
        #expect(try await served.feed.load().value == download.content)
        #expect(download.ranges == [nil, nil])
    }

    @Test func restComesFromTheServerToWhichARedirectLeads() async throws {
        let download = try DownloadServer()
        let url = download.server.url
        let first = try ScriptedServer { _ in .answer(302, ["Location": "\(url)/file"]) }
        let served = try await ServedPantry(first, policy: Self.policy)
        await #expect(throws: LoadError.self) { try await served.feed.load() }
        #expect(try await served.feed.load().value == download.content)
        #expect(first.requests.map { $0["Range"] } == [nil, nil])
        #expect(download.ranges == [nil, "bytes=400000-"])
    }

    // MARK: Hostile servers

    @Test(arguments: DownloadServer.Flaw.allCases.filter { $0 != .breaksOff && $0 != .tooMany })
    func partThatIsNotTheRestIsNotUsed(_ flaw: DownloadServer.Flaw) async throws {
        let download = try DownloadServer()
        download.state.withLock { $0.flaw = flaw }
        let served = try await Self.pantry(download)
        await #expect(throws: LoadError.self) { try await served.feed.load() }
        #expect(try await served.feed.load().value == download.content)
        // A server that ignores the wish answers at once. All others are asked again.
        #expect(download.ranges == [nil, "bytes=400000-"] + (flaw == .whole ? [] : [nil]))
        #expect(try Self.parts(of: served) == [])
    }

    @Test func moreBytesThanStatedAreAFailure() async throws {
        let download = try DownloadServer()
        download.state.withLock { ($0.flaw, $0.isChunked) = (.tooMany, true) }
        let served = try await Self.pantry(download)
        await #expect(throws: LoadError.self) { try await served.feed.load() }
        let error = await #expect(throws: LoadError.self) { try await served.feed.load() }
        #expect(error?.cause == .malformed)
        #expect(try Self.parts(of: served) == [])
        #expect(try await served.feed.load().value == download.content)
        #expect(download.ranges == [nil, "bytes=400000-", nil])
    }

    @Test func serverThatMixesVersionsIsFoundOutByItsTag() async throws {
        let download = try DownloadServer()
        let served = try await Self.pantry(download)
        await #expect(throws: LoadError.self) { try await served.feed.load() }
        download.state.withLock { state in
            (state.content, state.tag, state.comparesVersion) = (
                DownloadServer.content(1_000_000, version: 2), "\"2\"", false
            )
        }
        #expect(try await served.feed.load().value == download.content)
        #expect(download.ranges == [nil, "bytes=400000-", nil])
    }

    @Test func damagedEndIsLoadedAgain() async throws {
        let download = try DownloadServer()
        let served = try await Self.pantry(download)
        await #expect(throws: LoadError.self) { try await served.feed.load() }
        let part = try #require(try Self.parts(of: served).first)
        let path = served.cache.url.appending(path: part).path
        var bytes = try Disk.read(path, limit: .max)
        bytes[300_000] ^= 1
        try Disk.replace(path, with: [bytes + [1, 2, 3]])
        #expect(try await served.feed.load().value == download.content)
        let start = download.ranges.last??.dropFirst("bytes=".count).dropLast()
        #expect(start.flatMap { Int($0) } ?? .max <= 300_000)
    }

    // MARK: Failures

    @Test(arguments: [503, 429, 401, 403])
    func failureLeavesTheBeginning(_ status: Int) async throws {
        let content = DownloadServer.content(1_000_000)
        let download = try DownloadServer()
        let server = try ScriptedServer { request in
            switch request.number {
            case 1:
                .steps(
                    .send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 1000000\r\n\r\n"),
                    .body(content.prefix(400_000)), .close)
            case 2: .answer(status)
            default:
                .answer(
                    206, ["ETag": "\"1\"", "Content-Range": "bytes 400000-999999/1000000"], data: content[400_000...])
            }
        }
        withExtendedLifetime(download) {}
        let served = try await ServedPantry(server, policy: Self.policy)
        for _ in 1...2 { await #expect(throws: LoadError.self) { try await served.feed.load() } }
        #expect(try await served.feed.load().value == content)
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=400000-", "bytes=400000-"])
    }

    @Test func answerOfAnotherServerLeavesTheBeginning() async throws {
        let download = try DownloadServer()
        let other = try ScriptedServer { _ in .answer(200, ["ETag": "\"9\""], "in its place") }
        let served = try await ServedPantry(
            download.server,
            policy: #""fallbacks": [{ "use": "http", "url": "\#(other.url)/other" }], "# + Self.policy)
        #expect(try await served.feed.load().value == Data("in its place".utf8))
        #expect(try await served.feed.load().value == download.content)
        #expect(download.ranges == [nil, "bytes=400000-"] && other.requests.map { $0["Range"] } == [nil])
        #expect(try Self.parts(of: served) == [])
    }

    @Test(arguments: [404, 410])
    func goneAnswerLeavesNothing(_ status: Int) async throws {
        let content = DownloadServer.content(1_000_000)
        let server = try ScriptedServer(
            .steps(
                .send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 1000000\r\n\r\n"),
                .body(content.prefix(400_000)), .close), .answer(status))
        let served = try await ServedPantry(server, policy: Self.policy)
        for _ in 1...2 { await #expect(throws: LoadError.self) { try await served.feed.load() } }
        #expect(try Self.parts(of: served) == [])
    }
}
