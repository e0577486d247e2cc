import LarderFoundation
import Larder
import Testing

/// Answers of which it is not certain that they are whole or may be kept. In doubt, they are not.
@Suite(.timeLimit(.minutes(20))) struct HTTPDoubtfulAnswerTests {
    @Test(arguments: [CompressedSample.gzip, .deflate, .brotli, .zstd])
    func bodyThatEndsEarlyIsNeitherDeliveredNorKept(_ sample: CompressedSample) async throws {
        let (packed, name) = (sample.packed, sample.name ?? "")
        let fields: KeyValuePairs = ["Content-Encoding": name, "Cache-Control": "max-age=60"]
        let server = try ScriptedServer(
            .answer(200, fields, data: packed.dropLast(5)), .answer(200, fields, data: packed))
        let served = try await ServedPantry(server)
        let error = await failure { try await served.feed.load() }
        #expect(error?.code == .failed && error?.cause == .reset)
        #expect(error?.message == "the answer ended before it was complete")
        await #expect(throws: LoadError.self) { try await served.feed.load(mode: .cachedOnly) }
        #expect(try await served.feed.load().value == CompressedSample.content)
        #expect(try await served.feed.load().value == CompressedSample.content && server.requests.count == 2)
    }

    @Test func largeBodyThatEndsEarlyIsNeitherDeliveredNorKept() async throws {
        let packed = Compressed.gzip(DownloadServer.content(400_000))
        let fields: KeyValuePairs = ["Content-Encoding": "gzip", "Cache-Control": "max-age=60", "ETag": "\"1\""]
        for body in [packed.prefix(200_000), packed.dropLast(8)] {
            let server = try ScriptedServer(.answer(200, fields, data: body))
            let policy = ServedPantry.keeping.with(#""memory""#, #""file""#)
            let served = try await ServedPantry(server, policy: policy)
            #expect(await failure { try await served.feed.load() }?.cause == .reset)
            await #expect(throws: LoadError.self) { try await served.feed.load(mode: .cachedOnly) }
            await served.pantry.close()
            let files = try FileManager.default.subpathsOfDirectory(atPath: served.cache.path)
            #expect(files.filter { $0.hasSuffix(".part") } == [])
        }
    }

    @Test(arguments: [
        "max-age=60; no-store", "max-age=60, x=\"a, no-store", "max-age=60, \"no-store\"", "max-age=60 no-store",
    ])
    func answerWhoseNoStoreIsHardToReadIsNotKept(_ control: String) async throws {
        let server = try ScriptedServer { .answer(200, ["Cache-Control": control], "\($0.number)") }
        let served = try await ServedPantry(server)
        #expect(try await served.feed.load().text == "1")
        #expect(try await served.feed.load().text == "2")
        await #expect(throws: LoadError.self) { try await served.feed.load(mode: .cachedOnly) }
    }

    @Test func tagThatIsNotValidIsNotSentBack() async throws {
        let server = try ScriptedServer { request in
            request["If-None-Match"] == nil ? .answer(200, ["ETag": "*"], "\(request.number)") : .answer(304)
        }
        let served = try await ServedPantry(server)
        #expect(try await served.feed.load().text == "1")
        #expect(try await served.feed.load(mode: .refresh).text == "2")
        #expect(server.requests.map { $0["If-None-Match"] } == [nil, nil])
    }
}
