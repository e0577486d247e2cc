import Foundation
import Larder
import LarderSimulation
import Testing

@Suite struct LargeAnswersTests {
    /// A service whose films are 16 MB of one byte. It loses the connection in the middle of the film `torn`.
    private struct Service: FilmService {
        func pieces(of film: String) -> AsyncThrowingStream<Data, any Error> {
            AsyncThrowingStream { continuation in
                for _ in 0..<(film == "torn" ? 8 : 16) { continuation.yield(Data(repeating: 7, count: 1_000_000)) }
                continuation.finish(throwing: film == "torn" ? LoadError.status(503) : nil)
            }
        }
    }

    private static let film = Data(repeating: 7, count: 16_000_000)

    private static func policy(store: String) -> String {
        """
        { "resource": "films", "origin": "films", "strategy": "cache-first", "store": \(store),
          "validators": [{ "use": "age", "fresh": "1h" }] }
        """
    }

    private static func run(
        store: String, in cache: TemporaryFolder,
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            try await test(
                SimulatedPantry(
                    ["films": policy(store: store)], in: world, plugins: [.films(from: Service()), .filmShelf],
                    cache: cache))
        }
    }

    private static func payloads(in cache: TemporaryFolder) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: cache.path).filter {
            let attributes = try FileManager.default.attributesOfItem(atPath: cache.path + "/" + $0)
            return (attributes[.size] as? Int ?? 0) > 100_000
        }
    }

    @Test(arguments: [#""file""#, #""film-shelf""#, #"{ "use": "tiered", "tiers": ["memory", "file", "film-shelf"] }"#])
    func filmIsCollectedInFileAndFoundAfterRestart(_ store: String) throws {
        let cache = try TemporaryFolder()
        try Self.run(store: store, in: cache) { simulated in
            let first = try await simulated.resource.load(["id": "1"])
            #expect(first.source == .origin && first.isStored && first.value == Self.film)
        }
        try Self.run(store: store, in: cache) { simulated in
            let again = try await simulated.resource.load(["id": "1"])
            #expect(again.source != .origin && again.value == Self.film)
            // The value stays readable when its files are gone.
            for name in try Self.payloads(in: cache) {
                try FileManager.default.removeItem(atPath: cache.path + "/" + name)
            }
            #expect(again.value == Self.film)
            try await simulated.pantry.clear()
            #expect(again.value == Self.film)
        }
    }

    @Test func storesShareOneFile() throws {
        let cache = try TemporaryFolder()
        try Self.run(store: #"{ "use": "tiered", "tiers": ["file", "film-shelf"] }"#, in: cache) { simulated in
            _ = try await simulated.resource.load(["id": "1"])
        }
        let numbers = try Self.payloads(in: cache).map {
            try FileManager.default.attributesOfItem(atPath: cache.path + "/" + $0)[.systemFileNumber] as? UInt64
        }
        #expect(numbers.count == 2 && Set(numbers).count == 1)
    }

    @Test func lostConnectionLeavesNoFile() throws {
        let cache = try TemporaryFolder()
        try Self.run(store: #""file""#, in: cache) { simulated in
            let error = await #expect(throws: LoadError.self) { try await simulated.resource.load(["id": "torn"]) }
            #expect(error?.status == 503)
        }
        #expect(try Self.payloads(in: cache) == [])
    }

    @Test func filmThatIsTooLargeForMemoryStoreIsServedAndLeavesNoFile() throws {
        let cache = try TemporaryFolder()
        try Self.run(store: #"{ "use": "memory", "capacity": "1MB" }"#, in: cache) { simulated in
            let film = try await simulated.resource.load(["id": "1"])
            #expect(!film.isStored && film.value == Self.film)
        }
        #expect(try Self.payloads(in: cache) == [])
    }

    @Test func storeThatAdoptsFilesKeepsItsPromises() {
        #expect(StoreConformance(.filmShelf).brokenPromises() == [])
    }

    @Test func articleShowsTestedOrigin() throws {
        let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        func body(_ text: String) throws -> String {
            let start = try #require(text.range(of: "struct Films: Loader {\n"))
            let end = try #require(text.range(of: "\n}\n", range: start.upperBound..<text.endIndex))
            return String(text[start.lowerBound..<end.upperBound])
        }
        let article = try String(
            contentsOf: root.appending(path: "Sources/Larder/Larder.docc/WritingAPlugin.md"), encoding: .utf8)
        let tested = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "LargeAnswers.swift")
        #expect(try body(article) == body(try String(contentsOf: tested, encoding: .utf8)))
    }
}
