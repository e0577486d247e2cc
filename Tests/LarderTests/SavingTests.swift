import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// Saving what the origin sent, asking it under a condition, and what stands in when all fails.
@Suite struct SavingTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "onError": "7d" }]"#

    // MARK: Saving on success

    @Test(arguments: [#""network-first""#, #""cache-first""#, #""stale-while-revalidate""#])
    func asSoonAsTheOriginSucceedsItsAnswerIsSavedOnce(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: strategy, validators: Self.windows)
            kitchen.origin.play(
                .value("one", after: .milliseconds(20), etag: "e1", tags: ["a"], contentType: "text/plain"))
            let loaded = try await kitchen.feed.load()
            #expect(loaded.text == "one" && loaded.source == .origin && loaded.isStored && loaded.age == .zero)
            let entry = try #require(kitchen.store.entries[kitchen.key()])
            #expect(kitchen.held() == "one" && kitchen.store.bodyWrites == 1)
            #expect(entry.metadata.fetchedAt == world.now && entry.metadata.validatedAt == nil)
            #expect(entry.metadata.etag == "e1" && entry.metadata.tags == ["a"])
            #expect(entry.metadata.contentType == "text/plain")
        }
    }

    @Test func aFailureSavesNothing() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#, validators: Self.windows)
            kitchen.stock("old", age: .seconds(60))
            kitchen.origin.play(then: .failure(.status(500)))
            _ = try await kitchen.feed.load()
            #expect(kitchen.held() == "old" && kitchen.store.count(of: .write) == 0)
        }
    }

    // MARK: Conditional requests

    @Test func theCopyIsNamedInTheCallAndUnchangedResetsItsAgeWithoutWritingTheBody() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#, validators: Self.windows)
            kitchen.stock("old", age: .seconds(600), etag: "e1")
            let fetched = try #require(kitchen.store.entries[kitchen.key()]).metadata.fetchedAt
            kitchen.origin.play(.unchanged(after: .milliseconds(20)))
            let loaded = try await kitchen.feed.load()
            #expect(kitchen.origin.calls.map(\.known?.metadata.etag) == ["e1"])
            #expect(loaded.text == "old" && loaded.source == .revalidated && loaded.freshness == .fresh)
            #expect(loaded.age == .zero && loaded.isStored && !loaded.fellBack)
            let metadata = try #require(kitchen.store.entries[kitchen.key()]).metadata
            #expect(metadata.validatedAt == world.now && metadata.fetchedAt == fetched && metadata.etag == "e1")
            #expect(kitchen.store.bodyWrites == 0 && kitchen.store.count(of: .write) == 1)
            #expect(kitchen.feed.metrics.unchanged == 1)
        }
    }

    @Test func aCopyWithoutAnEtagIsNotNamed() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#, validators: Self.windows)
            kitchen.stock("old", age: .seconds(60))
            _ = try await kitchen.feed.load()
            #expect(kitchen.origin.calls.count == 1 && kitchen.origin.calls[0].known == nil)
        }
    }

    @Test func unchangedToACallThatNamedNoCopyIsAFailure() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#, validators: Self.windows)
            kitchen.origin.play(.unchanged())
            #expect(try await kitchen.start().failure().code == .failed)
            #expect(kitchen.held() == nil)
        }
    }

    // MARK: Damage and versions

    @Test func aCorruptCopyIsRemovedCountedAndNeverServedNorNamed() throws {
        for strategy in [#""cache-first""#, #""network-first""#, #""stale-while-revalidate""#, #""cache-only""#] {
            try SimulatedWorld().run { world in
                let kitchen = try await Kitchen(world, strategy: strategy, validators: #"["checksum"]"#)
                let first = try await kitchen.feed.load(mode: .refresh)
                #expect(first.isStored)
                kitchen.origin.play(then: .failure(.status(503)))
                kitchen.store.set(.corrupts, for: .read)
                let failure = try await kitchen.start().failure()
                #expect(failure.code == (strategy.contains("cache-only") ? .notCached : .failed))
                #expect(kitchen.held() == nil && kitchen.feed.metrics.corrupt == 1)
                #expect(kitchen.origin.calls.allSatisfy { $0.known == nil })
            }
        }
    }

    @Test func aCopySavedWithoutAChecksumIsNotServed() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-only""#, validators: #"["checksum"]"#)
            kitchen.stock("old", age: .zero)
            #expect(try await kitchen.start().failure().code == .notCached)
            #expect(kitchen.held() == nil)
        }
    }

    @Test func aSoundCopyPassesItsChecksum() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#, validators: #"["checksum"]"#)
            _ = try await kitchen.feed.load()
            #expect(try await kitchen.feed.load().source == .store("faulty"))
            #expect(kitchen.feed.metrics.corrupt == 0)
        }
    }

    @Test func aCopyOfAnotherVersionIsNeitherShownNorNamed() throws {
        for (version, isShown) in [(2, true), (1, false), (3, false), (nil, false)] as [(Int?, Bool)] {
            try SimulatedWorld().run { world in
                let kitchen = try await Kitchen(
                    world, strategy: #""cache-first""#, validators: #"[{ "use": "entry-version", "version": 2 }]"#)
                let metadata = Metadata(fetchedAt: world.now, etag: "e1", version: version)
                kitchen.store.put(Entry(Data("old".utf8), metadata), for: kitchen.key())
                let loaded = try await kitchen.feed.load()
                #expect(loaded.source == (isShown ? .store("faulty") : .origin))
                #expect(kitchen.origin.calls.allSatisfy { $0.known == nil })
                #expect(kitchen.store.entries[kitchen.key()]?.metadata.version == 2)
            }
        }
    }
}
