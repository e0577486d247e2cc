import Foundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderCore

/// Variants in a store that outlives the process.
@Suite struct VariantRestartTests {
    private static let policy = """
        { "resource": "feed", "origin": "scripted", "strategy": "cache-first",
          "validators": ["checksum", { "use": "age", "fresh": "5m", "onError": "7d" }],
          "store": { "use": "tiered", "tiers": ["memory", "file"] } }
        """

    /// Runs a test with a pantry that starts with the files in `cache`.
    private func run<Value: Sendable>(
        _ cache: TemporaryFolder, seed: UInt64 = 1,
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Value
    ) throws -> Value {
        try SimulatedWorld(seed: seed).run { world in
            let simulated = try await SimulatedPantry(["feed": Self.policy], in: world, cache: cache)
            simulated.origin.play(then: .language())
            let value = try await test(simulated)
            await simulated.pantry.close()
            return value
        }
    }

    private func files(_ cache: TemporaryFolder) throws -> [String] {
        let paths = FileManager.default.enumerator(atPath: cache.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".entry") }.sorted()
    }

    private func save(_ cache: TemporaryFolder) throws {
        try run(cache) { simulated in
            for language in ["de", "fr"] { _ = try await simulated.feed.load(simulated.request(in: language)) }
        }
        #expect(try files(cache).count == 3)
    }

    @Test func eachLanguageIsServedAfterRestart() throws {
        let cache = try TemporaryFolder()
        try save(cache)
        try run(cache, seed: 2) { simulated in
            for language in ["fr", "de"] {
                let loaded = try await simulated.feed.load(simulated.request(in: language))
                #expect(loaded.text == language && loaded.source == .store("file"))
                #expect(simulated.feed.answer(simulated.request(in: language))?.text == language)
            }
            #expect(
                try await simulated.start(simulated.request(in: "it", mode: .cachedOnly)).failure().code == .notCached)
            #expect(simulated.origin.calls.isEmpty)
        }
    }

    @Test func clearingKeyAfterRestartDeletesFilesOfItsVariants() throws {
        let cache = try TemporaryFolder()
        try save(cache)
        try run(cache, seed: 2) { simulated in
            try await simulated.feed.clear([:])
            for language in ["fr", "de"] {
                let error = try await simulated.start(simulated.request(in: language, mode: .cachedOnly)).failure()
                #expect(error.code == .notCached)
            }
        }
        #expect(try files(cache).isEmpty)
    }

    @Test func variantsAreUnreachableWithoutTheirMarkerAndClearedWithTheNextOnes() throws {
        let cache = try TemporaryFolder()
        try save(cache)
        let marker = try #require(try files(cache).first { $0.contains(Request("feed").key.digest) })
        try FileManager.default.removeItem(atPath: cache.path + "/" + marker)
        try run(cache, seed: 2) { simulated in
            let error = try await simulated.start(simulated.request(in: "de", mode: .cachedOnly)).failure()
            #expect(error.code == .notCached)
            #expect(try await simulated.feed.load(simulated.request(in: "it")).isStored)
            #expect(try await simulated.feed.contains(simulated.request(in: "de")) == false)
        }
        #expect(try files(cache).count == 4)
        try run(cache, seed: 3) { try await $0.feed.clear([:]) }
        #expect(try files(cache).isEmpty)
    }

    @Test func fileNamesAndKeysHoldNoFieldValues() throws {
        let cache = try TemporaryFolder()
        try run(cache) { simulated in
            var request = simulated.feed.request(fields: ["Accept-Language": "secret-language"])
            request.mode = .refresh
            let loaded = try await simulated.feed.load(request)
            #expect(!"\(loaded.trail)".contains("secret") && !request.key.text.contains("secret"))
            #expect(!"\(request)".contains("secret-language"))
        }
        for file in try files(cache) { #expect(!file.contains("secret")) }
    }

    @Test func markerThatWasEvictedIsWrittenAgainWithTheNextAnswer() throws {
        let cache = try TemporaryFolder()
        try run(cache) { simulated in
            _ = try await simulated.feed.load(simulated.request(in: "de"))
            let marker = try #require(try files(cache).first { $0.contains(Request("feed").key.digest) })
            try FileManager.default.removeItem(atPath: cache.path + "/" + marker)
            simulated.pantry.relieve()
            _ = try await simulated.feed.load(simulated.request(in: "fr"))
        }
        try run(cache, seed: 2) { simulated in
            for language in ["fr", "de"] {
                let loaded = try await simulated.feed.load(simulated.request(in: language))
                #expect(loaded.text == language && loaded.source == .store("file"))
            }
        }
    }

    @Test func clearingOfKeyThatIsMadeGoodAtTheNextStartReachesItsVariants() throws {
        let cache = try TemporaryFolder()
        try save(cache)
        try run(cache, seed: 2) { simulated in
            let clearing = Clearing(.key(Request("feed").key), resource: "feed")
            _ = try simulated.pantry.composer.places.begin(clearing)
        }
        try run(cache, seed: 3) { simulated in
            _ = try? await simulated.feed.load(simulated.request(in: "de", mode: .cachedOnly))
        }
        #expect(try files(cache).isEmpty)
    }
}
