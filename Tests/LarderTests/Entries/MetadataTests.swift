import LarderSystem
import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderCore

@Suite struct MetadataTests {
    private let start = Timestamp(seconds: 1_000)

    @Test func ageCountsTheInitialAge() {
        var metadata = Metadata(fetchedAt: start, initialAge: .seconds(40))
        #expect(metadata.age(at: start + .seconds(2)) == .seconds(42) && metadata.confirmedAt == start)
        metadata.validatedAt = start + .seconds(100)
        #expect(metadata.age(at: start + .seconds(101)) == .seconds(41) && metadata.fetchedAt == start)
        metadata.initialAge = .zero
        #expect(metadata.age(at: start + .seconds(101)) == .seconds(1))
        metadata.validatedAt = nil
        #expect(metadata == Metadata(fetchedAt: start) && metadata.confirmedAt == start)
    }

    @Test func entryFromTheFutureHasANegativeAgeWhateverItsInitialAge() {
        let metadata = Metadata(fetchedAt: start, initialAge: .seconds(3_600))
        #expect(metadata.age(at: start - .seconds(1)) == .seconds(-1))
        #expect(!Validators([]).permit(metadata, for: Request("feed"), at: start - .seconds(1)).allows(.fresh))
    }

    @Test func extremeAgesAreClamped() {
        #expect(Metadata(initialAge: .seconds(-5)) == Metadata())
        let oldest = Metadata(fetchedAt: Timestamp(nanoseconds: .min), initialAge: .forever)
        #expect(oldest.age(at: Timestamp(nanoseconds: .max)) == .forever)
        #expect(Metadata(fetchedAt: start, initialAge: .seconds(Int64.max)).age(at: start) == .forever)
    }

    @Test func orderOfChangesDoesNotMatter() {
        let whole = Metadata(
            fetchedAt: start, validatedAt: start + .seconds(5), askedAt: start - .seconds(1), initialAge: .seconds(3),
            etag: "e", status: 200, fields: ["A": "1"], variesBy: ["Accept"], tags: ["t"])
        var metadata = Metadata()
        metadata.variesBy = ["ACCEPT"]
        metadata.initialAge = .seconds(3)
        metadata.validatedAt = start + .seconds(5)
        metadata.fields["a"] = "1"
        metadata.askedAt = start - .seconds(1)
        metadata.status = 200
        metadata.fetchedAt = start
        metadata.tags = ["t"]
        metadata.etag = "e"
        #expect(metadata == whole && metadata.hashValue == whole.hashValue && metadata.variesBy == ["accept"])
    }

    @Test func allTextsCountInTheWeightOfAnEntry() {
        let bare = Entry(Data()).weight
        let metadata = Metadata(
            askedAt: start, initialAge: .seconds(3), etag: "é", status: 200, fields: ["ab": "c"], variesBy: ["def"],
            tags: ["ghij"])
        #expect(Entry(Data(), metadata).weight == bare + 2 + 3 + 32 + 3 + 4)
    }

    @Test func ageOnArrivalShortensFreshness() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: #"[{ "use": "age", "fresh": "5m", "onError": "1h" }]"#)
            simulated.origin.play(
                .answering { _ in
                    Entry(Data("old".utf8), Metadata(initialAge: .seconds(240)))
                })
            _ = try await simulated.feed.load()
            try await world.sleep(for: .seconds(59))
            let hit = try await simulated.feed.load()
            #expect(hit.freshness == .fresh && hit.age == .seconds(299))
            try await world.sleep(for: .seconds(1))
            simulated.origin.play(.failure(.status(503)))
            let stale = try await simulated.feed.load()
            #expect(stale.freshness == .stale && stale.age == .seconds(300))
        }
    }

    @Test func graphNotesWhenTheCallBegan() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-first""#,
                around: #"[{ "use": "retry", "retries": 1, "backoff": "10s", "jitter": 0 }]"#)
            simulated.origin.play(
                .failure(.status(503), after: .seconds(1)), .value("a", after: .seconds(2), etag: "e"),
                .unchanged(after: .seconds(3)))
            let start = world.now
            _ = try await simulated.feed.load()
            let first = try #require(simulated.store.entries[simulated.key()]?.metadata)
            #expect(first.askedAt == start + .seconds(11) && first.fetchedAt == start + .seconds(13))
            try await world.sleep(for: .seconds(7))
            let seen = try #require(try await simulated.feed.load().metadata)
            let second = try #require(simulated.store.entries[simulated.key()]?.metadata)
            #expect(seen.askedAt == nil && seen.fetchedAt == second.fetchedAt && seen.validatedAt == second.validatedAt)
            #expect(second.askedAt == start + .seconds(20) && second.fetchedAt == start + .seconds(13))
            #expect(second.validatedAt == start + .seconds(23))
        }
    }
}
