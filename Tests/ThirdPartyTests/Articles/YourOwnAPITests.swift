import Foundation
import Larder
import LarderSimulation
import Synchronization
import Testing

/// The code of the page "Your own API", against a server of this machine.
@Suite struct YourOwnAPITests {
    private static let policy = """
        {
          "resource": "prices",
          "origin": "price-service",
          "strategy": { "use": "network-first", "rest": "0s" },
          "validators": [{ "use": "age", "fresh": "0s", "onError": "1d" }],
          "store": "memory"
        }
        """

    /// An opened pantry, with the objects that must live as long as it is used.
    private struct Shop {
        let folder: TemporaryFolder
        let server: LoopbackServer
        let pantry: Pantry
        var prices: Resource<Data> { pantry.resource("prices") }

        init(
            _ policy: String = YourOwnAPITests.policy,
            _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Reply?
        )
            async throws
        {
            folder = try TemporaryFolder()
            try folder.write(policy, to: "prices.json")
            server = try LoopbackServer(answer)
            pantry = try await openPantry(
                policies: folder.url, service: server.url, cache: folder.url.appending(path: "cache"))
        }
    }

    @Test func pageShowsTestedCode() throws {
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        let root = (1...3).reduce(here) { url, _ in url.deletingLastPathComponent() }
        func lines(_ text: Substring) -> String {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        }
        let page = try String(
            contentsOf: root.appending(path: "Sources/Larder/Larder.docc/YourOwnAPI.md"), encoding: .utf8)
        let code = try String(contentsOf: here.appending(path: "YourOwnAPI.swift"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        #expect(blocks.count >= 4)
        for block in blocks {
            #expect(lines(code[...]).contains(lines(block[...])), "not in YourOwnAPI.swift:\n\(block)")
        }
    }

    @Test func answerIsKeptAndRevalidatedWithETag() async throws {
        let asked = Mutex<[String]>([])
        let shop = try await Shop { request in
            let etag = request.headers["if-none-match"]
            asked.withLock { $0.append("\(request.path) \(etag ?? "-")") }
            return etag == "\"v1\""
                ? .init(status: 304)
                : .init(status: 200, headers: ["ETag": "\"v1\"", "Content-Type": "text/plain"], body: "5")
        }
        let first = try await shop.prices.load(["id": "42"])
        #expect(first.source == .origin && first.value == Data("5".utf8))
        let second = try await shop.prices.load(["id": "42"])
        #expect(second.source == .revalidated && second.value == Data("5".utf8))
        #expect(asked.withLock { $0 } == ["/prices/42 -", "/prices/42 \"v1\""])
    }

    @Test func copyReplacesFailureButNotAnswer() async throws {
        let status = Mutex(200)
        let shop = try await Shop { _ in .init(status: status.withLock { $0 }, body: "5") }
        _ = try await shop.prices.load()
        for failure in [500, 503, 429, 408] {
            status.withLock { $0 = failure }
            let loaded = try await shop.prices.load()
            #expect(loaded.fellBack && loaded.freshness == .stale, "\(failure)")
        }
        status.withLock { $0 = 404 }
        let error = await #expect(throws: LoadError.self) { try await shop.prices.load() }
        #expect(error?.isAnswer == true && error?.status == 404)
        #expect(try await shop.prices.contains() == false)
    }

    @Test func retryAfterOfServiceIsRespected() async throws {
        let shop = try await Shop { _ in .init(status: 503, headers: ["Retry-After": "7"]) }
        let error = await #expect(throws: LoadError.self) { try await shop.prices.load() }
        #expect(error?.status == 503 && error?.retryAfter == .seconds(7) && error?.code == .failed)
    }

    @Test func unreachableServiceIsReportedByErrorCode() async throws {
        let shop = try await Shop { _ in nil }
        shop.server.stop()
        let error = await #expect(throws: LoadError.self) { try await shop.prices.load() }
        #expect(error?.message == "failed with URLError -1004" && error?.origin is URLError)
    }

    @Test func cancelledLoadEndsAtOnceAndServiceStaysUsable() async throws {
        let (requests, heard) = AsyncStream<Void>.makeStream()
        let answers = Mutex(false)
        let shop = try await Shop { _ in
            heard.yield()
            return answers.withLock { $0 } ? .init(status: 200, body: "5") : nil
        }
        var arrivals = requests.makeAsyncIterator()
        for number in 0..<20 {
            let load = Task { [prices = shop.prices] in try await prices.load(["id": "\(number)"]) }
            await arrivals.next()
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value }
            // Includes loads that are cancelled before or while they begin.
            let early = Task { [prices = shop.prices] in try await prices.load(["id": "early \(number)"]) }
            early.cancel()
            await #expect(throws: CancellationError.self) { try await early.value }
        }
        answers.withLock { $0 = true }
        #expect(try await shop.prices.load(["id": "last"]).source == .origin)
    }

    /// A client that returns values and knows one version.
    private struct Client: ShopClient {
        func price(_ id: String, unless etag: String?) async throws -> (price: Price, etag: String)? {
            etag == "v1" ? nil : (Price(cents: 5, since: Date(timeIntervalSince1970: 1_767_571_200)), "v1")
        }
    }

    @Test func valuesOfAnotherClientAreKeptAsJSON() async throws {
        let policy = Self.policy.replacing("price-service", with: "shop")
        let cache = try TemporaryFolder()
        var registry = Registry.standard
        try register(Client(), in: &registry)
        let pantry = try await Pantry(policies: ["prices": policy], registry: registry, cache: cache.url)
        #expect(try await loadPrice(from: pantry).source == .origin)
        let again = try await loadPrice(from: pantry)
        #expect(again.source == .revalidated && again.value.since.timeIntervalSince1970 == 1_767_571_200)
        let bytes = try await pantry.resource("prices").load(["id": "42"]).value
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"cents":5,"since":"2026-01-05T00:00:00Z"}"#)
    }
}
