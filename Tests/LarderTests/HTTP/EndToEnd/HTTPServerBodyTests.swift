import LarderFoundation
import Larder
import LarderSystem
import Testing

/// Bodies of answers and changes, over the real transport.
@Suite(.timeLimit(.minutes(20))) struct HTTPServerBodyTests {
    @Test func compressedBodyIsDecodedAndKeptDecoded() async throws {
        let text = String(repeating: "Hello, wörld. ", count: 100)
        let fields: KeyValuePairs = ["Content-Encoding": "gzip", "Cache-Control": "max-age=60"]
        let server = try ScriptedServer(.answer(200, fields, data: Compressed.gzip(Data(text.utf8))))
        let served = try await ServedPantry(server)
        for _ in 1...2 {
            let loaded = try await served.feed.load()
            #expect(loaded.text == text && loaded.metadata?.fields["content-encoding"] == nil)
        }
        #expect(server.requests.count == 1 && server.requests[0]["Accept-Encoding"]?.contains("gzip") == true)
    }

    @Test(arguments: ["64KB", "4MB"], ["gzip", "br", "zstd"])
    func bombIsRefusedAtTheCapacity(_ capacity: String, _ coding: String) async throws {
        let left = Gate()
        let bomb: [ScriptedReply.Step] =
            switch coding {
            case "gzip":
                [
                    .bytes(Compressed.bombHead),
                    .repeated(Data(repeating: Compressed.bombByte, count: 4_096), times: .max),
                ]
            case "br": [.bytes(Compressed.brotliBomb(blocks: 600)), .silence]
            default: [.bytes(Compressed.zstdBomb(blocks: 80_000)), .silence]
            }
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nConnection: close\r\n\r\n"
        let server = try ScriptedServer { _ in ScriptedReply(steps: [.send(head)] + bomb, clientLeft: left) }
        let served = try await ServedPantry(server, settings: #""capacity": "\#(capacity)""#)
        let error = await failure { try await served.feed.load() }
        #expect(error?.code == .failed)
        #expect(error?.message == "the answer is larger than the capacity that the policy allows")
        try await left.opened()
        await served.pantry.close()
        // The file that it was written to is gone.
        let files = try FileManager.default.subpathsOfDirectory(atPath: served.cache.path)
        let sizes = files.compactMap { try? Data(contentsOf: served.cache.url.appending(path: $0)).count }
        #expect(sizes.allSatisfy { $0 < 64_000 })
    }

    /// Looks at each entry that the origin returns.
    private struct Probe: Loader {
        let inner: any Loader
        let look: @Sendable (Entry) -> Void

        func load(_ call: Call) async throws -> Loaded<Entry> {
            let loaded = try await inner.load(call)
            look(loaded.value)
            return loaded
        }
    }

    @Test(arguments: [(131_072, false), (131_073, true), (3_000_000, true)])
    func answerOfMoreThan128KilobytesIsPutIntoAFile(_ size: Int, _ expected: Bool) async throws {
        let body = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let server = try ScriptedServer(.answer(200, ["Cache-Control": "max-age=60"], data: body))
        let isFile = Locked<[Bool]>([])
        let probe = Plugin.wrapper("probe", "Looks at payloads.") { _, inner in
            Probe(inner: inner) { entry in isFile.withLock { $0.append(entry.payload.isFile) } }
        }
        let policy = #""around": ["probe"], "# + ServedPantry.keeping.with(#""memory""#, #""file""#)
        let served = try await ServedPantry(server, policy: policy, plugins: [probe])
        let live = try await served.feed.load()
        #expect(live.value == body && live.isStored && isFile.withLock { $0 } == [expected])
        let copy = try await served.feed.load()
        #expect(copy.value == body && copy.source == .store("file") && server.requests.count == 1)
    }

    @Test(arguments: [false, true])
    func cancelledLoadEndsTheExchange(_ hasBegun: Bool) async throws {
        let (asked, left) = (Gate(), Gate())
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHel"
        let server = try ScriptedServer(
            .steps(hasBegun ? .send(head) : .send(""), .open(asked), .silence, clientLeft: left))
        let served = try await ServedPantry(server)
        let load = Task { [feed = served.feed] in try await feed.load() }
        try await asked.opened()
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        try await left.opened()
        #expect(server.requests.count == 1)
    }

    @Test func callGoesOnWhileOneOfItsCallersWaits() async throws {
        let (asked, gate, left) = (Gate(), Gate(), Gate())
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        let server = try ScriptedServer(
            .steps(.open(asked), .wait(gate), .send(head + "Hello"), clientLeft: left))
        let served = try await ServedPantry(server)
        let first = Task { [feed = served.feed] in try await feed.load() }
        try await asked.opened()
        let second = Task { [feed = served.feed] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await feed.load()
        }
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.open()
        #expect(try await first.value.text == "Hello")
        #expect(server.requests.count == 1 && !left.isOpen)
    }

    @Test func changeIsSentWithItsBody() async throws {
        let server = try ScriptedServer { request in
            request.method == "GET"
                ? .answer(200, ["Cache-Control": "max-age=60", "ETag": "\"\(request.number)\""], "\(request.number)")
                : .answer(201, ["Location": "/items/7"], "made")
        }
        let served = try await ServedPantry(server)
        let feed = served.feed
        #expect(try await feed.load(["id": "7"]).text == "1")
        let change = feed.request(["id": "7"], fields: ["content-type": "text/plain"], body: Data("change".utf8))
        let answer = try await feed.send(change, invalidating: [.key(feed.request(["id": "7"]).key)])
        #expect(answer.text == "made" && answer.metadata?.status == 201)
        let sent = server.requests[1]
        #expect(sent.method == "POST" && sent.target == "/items/7" && sent.body == Data("change".utf8))
        #expect(sent["Content-Type"] == "text/plain" && sent["If-None-Match"] == nil)
        #expect(try await feed.load(["id": "7"]).text == "3")
        #expect(server.requests.map(\.method) == ["GET", "POST", "GET"])
    }

    @Test func changeIsSentOnceWhenTheConnectionEnds() async throws {
        let server = try ScriptedServer { $0.method == "GET" ? .answer(200, [:], "ok") : .steps(.close) }
        let policy = #""around": [{ "use": "retry", "retries": 3, "backoff": "1ms" }], "strategy": "network-only""#
        let served = try await ServedPantry(server, policy: policy)
        // The connection is kept and used again.
        _ = try await served.feed.load()
        let error = await failure {
            try await served.feed.send(served.feed.request(body: Data("change".utf8)))
        }
        #expect(error?.code == .failed)
        #expect(server.requests.map(\.method) == ["GET", "POST"])
    }
}
