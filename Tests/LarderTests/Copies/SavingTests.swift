import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderPlugins

/// Saving what the origin sent, asking it under a condition, and what stands in when all fails.
@Suite struct SavingTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "onError": "7d" }]"#

    // MARK: Saving on success

    @Test(arguments: [#""network-first""#, #""cache-first""#, #""stale-while-revalidate""#])
    func successfulAnswerIsSavedOnce(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: strategy, validators: Self.windows)
            simulated.origin.play(
                .value("one", after: .milliseconds(20), etag: "e1", tags: ["a"], contentType: "text/plain"))
            let loaded = try await simulated.feed.load()
            #expect(loaded.text == "one" && loaded.source == .origin && loaded.isStored && loaded.age == .zero)
            let entry = try #require(simulated.store.entries[simulated.key()])
            #expect(simulated.held() == "one" && simulated.store.bodyWrites == 1)
            #expect(entry.metadata.fetchedAt == world.now && entry.metadata.validatedAt == nil)
            #expect(entry.metadata.etag == "e1" && entry.metadata.tags == ["a"])
            #expect(entry.metadata.contentType == "text/plain")
        }
    }

    @Test func failureSavesNothing() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#, validators: Self.windows)
            simulated.stock("old", age: .seconds(60))
            simulated.origin.play(then: .failure(.status(500)))
            _ = try await simulated.feed.load()
            #expect(simulated.held() == "old" && simulated.store.count(of: .write) == 0)
        }
    }

    // MARK: Conditional requests

    @Test func unchangedAnswerResetsAgeWithoutWritingPayload() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.windows)
            simulated.stock("old", age: .seconds(600), etag: "e1")
            let fetched = try #require(simulated.store.entries[simulated.key()]).metadata.fetchedAt
            simulated.origin.play(.unchanged(after: .milliseconds(20)))
            let loaded = try await simulated.feed.load()
            #expect(simulated.origin.calls.map(\.known?.metadata.etag) == ["e1"])
            #expect(loaded.text == "old" && loaded.source == .revalidated && loaded.freshness == .fresh)
            #expect(loaded.age == .zero && loaded.isStored && !loaded.fellBack)
            let metadata = try #require(simulated.store.entries[simulated.key()]).metadata
            #expect(metadata.validatedAt == world.now && metadata.fetchedAt == fetched && metadata.etag == "e1")
            #expect(simulated.store.count(of: .renew) == 1 && simulated.store.count(of: .write) == 0)
            #expect(simulated.feed.metrics.unchanged == 1)
        }
    }

    @Test func copyWithoutETagIsNotSentWithCall() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#, validators: Self.windows)
            simulated.stock("old", age: .seconds(60))
            _ = try await simulated.feed.load()
            #expect(simulated.origin.calls.count == 1 && simulated.origin.calls[0].known == nil)
        }
    }

    @Test func unchangedWithoutKnownCopyIsFailure() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#, validators: Self.windows)
            simulated.origin.play(.unchanged())
            #expect(try await simulated.start().failure().code == .failed)
            #expect(simulated.held() == nil)
        }
    }

    // MARK: Damage and versions

    @Test func corruptCopyIsRemovedCountedAndNotUsed() throws {
        for strategy in [#""cache-first""#, #""network-first""#, #""stale-while-revalidate""#, #""cache-only""#] {
            try SimulatedWorld().run { world in
                let simulated = try await SimulatedPantry(world, strategy: strategy, validators: #"["checksum"]"#)
                let first = try await simulated.feed.load(mode: .refresh)
                #expect(first.isStored)
                simulated.origin.play(then: .failure(.status(503)))
                simulated.store.set(.corrupts, for: .read)
                let failure = try await simulated.start().failure()
                #expect(failure.code == (strategy.contains("cache-only") ? .notCached : .failed))
                #expect(simulated.held() == nil && simulated.feed.metrics.corrupt == 1)
                #expect(simulated.origin.calls.allSatisfy { $0.known == nil })
            }
        }
    }

    @Test func copyWithoutChecksumIsNotServed() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-only""#, validators: #"["checksum"]"#)
            let metadata = Metadata(fetchedAt: world.now)
            simulated.store.put(Entry(Data("old".utf8), metadata), for: simulated.key())
            #expect(try await simulated.start().failure().code == .notCached)
            #expect(simulated.held() == nil)
        }
    }

    @Test func undamagedCopyPassesChecksum() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: #"["checksum"]"#)
            _ = try await simulated.feed.load()
            #expect(try await simulated.feed.load().source == .store("faulty"))
            #expect(simulated.feed.metrics.corrupt == 0)
        }
    }

    @Test func copyOfOtherVersionIsNotUsed() throws {
        for (version, isShown) in [(2, true), (1, false), (3, false), (nil, false)] as [(Int?, Bool)] {
            try SimulatedWorld().run { world in
                let simulated = try await SimulatedPantry(
                    world, strategy: #""cache-first""#, validators: #"[{ "use": "entry-version", "version": 2 }]"#)
                let metadata = Metadata(
                    fetchedAt: world.now, etag: "e1", notes: version.map { ["entry-version": $0.note] } ?? [:])
                simulated.store.put(Entry(Data("old".utf8), metadata), for: simulated.key())
                let loaded = try await simulated.feed.load()
                #expect(loaded.source == (isShown ? .store("faulty") : .origin))
                #expect(simulated.origin.calls.allSatisfy { $0.known == nil })
                #expect(simulated.store.entries[simulated.key()]?.metadata[.entryVersion] == 2)
            }
        }
    }
}
