import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// The origin's answer that a copy is unchanged.
@Suite struct UnchangedTests {
    /// A validator that records how entries arrive, and counts the confirmations in a note.
    private final class Counting: Validator {
        let arrivals = Locked<[Arrival]>([])

        func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) -> Admission {
            arrivals.withLock { $0.append(arrival) }
            if arrival == .unchanged { entry.metadata[Self.count] = (entry.metadata[Self.count] ?? 0) + 1 }
            return .keep
        }

        static let count = NoteKey<Int>("confirmations")
    }

    private func run(
        _ test: @escaping @Sendable (SimulatedPantry, Counting) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            let counting = Counting()
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#,
                validators: #"["counting", { "use": "age", "fresh": "5m", "onError": "1h" }, "checksum"]"#,
                isStoreForeign: false, plugins: [.validator("counting", "Counts.") { _ in counting }])
            try await test(simulated, counting)
        }
    }

    @Test func confirmationWritesNoPayload() throws {
        try run { simulated, _ in
            simulated.origin.play(.value("a", etag: "e1"), .unchanged())
            _ = try await simulated.feed.load()
            try await simulated.world.sleep(for: .seconds(300))
            #expect(try await simulated.feed.load().source == .revalidated)
            #expect(simulated.store.count(of: .write) == 1 && simulated.store.count(of: .renew) == 1)
        }
    }

    @Test func confirmationUpdatesFactsAndKeepsTheOthers() throws {
        try run { simulated, counting in
            let world = simulated.world
            simulated.origin.play(
                .answering { _ in
                    Entry(
                        Data("a".utf8),
                        Metadata(
                            initialAge: .seconds(100), etag: "e1", contentType: "text/plain",
                            fields: ["kept": "1", "changed": "1"], tags: ["t"], notes: ["elsewhere": .text("x")]))
                },
                .unchanged { metadata in
                    metadata.etag = "e2"
                    metadata.fields["changed"] = "2"
                },
                .unchanged { $0.initialAge = .seconds(30) })
            func kept() throws -> Metadata { try #require(simulated.store.entries[simulated.key()]).metadata }
            _ = try await simulated.feed.load()
            let first = try kept()
            try await world.sleep(for: .seconds(200))
            let second = try await simulated.feed.load()
            let metadata = try kept()
            #expect(second.source == .revalidated && second.age == .zero && second.freshness == .fresh)
            #expect(metadata.etag == "e2" && metadata.fields == ["kept": "1", "changed": "2"])
            #expect(metadata.contentType == "text/plain" && metadata.tags == ["t"] && metadata.initialAge == .zero)
            #expect(metadata.fetchedAt == first.fetchedAt && metadata.validatedAt == world.now)
            #expect(metadata.spread == first.spread && metadata.notes["elsewhere"] == .text("x"))
            #expect(metadata[Counting.count] == 1)
            #expect(second.metadata?.etag == "e2" && second.metadata?.fields == metadata.fields)
            try await world.sleep(for: .seconds(300))
            let third = try await simulated.feed.load()
            #expect(third.age == .seconds(30) && third.metadata?[Counting.count] == 2)
            #expect(counting.arrivals.withLock { $0 } == [.origin, .unchanged, .unchanged])
            #expect(simulated.store.bodyWrites == 1)
        }
    }

    @Test func confirmationCannotChangeTimes() throws {
        try run { simulated, _ in
            let world = simulated.world
            simulated.stock("a", age: .seconds(400), etag: "e")
            let fetched = world.now - .seconds(400)
            simulated.origin.play(
                .unchanged { metadata in
                    metadata.fetchedAt = Timestamp(seconds: 1)
                    metadata.validatedAt = Timestamp(seconds: 1 << 40)
                    metadata.askedAt = nil
                    metadata.spread = 0.99
                    metadata.isExpired = true
                })
            _ = try await simulated.feed.load()
            let metadata = try #require(simulated.store.entries[simulated.key()]).metadata
            #expect(metadata.fetchedAt == fetched && metadata.validatedAt == world.now && metadata.askedAt == world.now)
            #expect(metadata.spread == 0 && !metadata.isExpired)
        }
    }

    @Test func confirmationWithAnotherPayloadIsANewPayload() throws {
        try SimulatedWorld().run { world in
            let counting = Counting()
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: #"["counting", "checksum"]"#, isStoreForeign: false,
                plugins: [
                    .validator("counting", "Counts.") { _ in counting },
                    .origin("odd", "Confirms another payload.") { (_: Context) in Odd() },
                ], origin: #""odd""#)
            simulated.stock("old", age: .seconds(400), etag: "e")
            counting.arrivals.withLock { $0 = [] }
            let loaded = try await simulated.feed.load(mode: .refresh)
            #expect(loaded.text == "new" && counting.arrivals.withLock { $0 } == [.origin])
            #expect(loaded.metadata?.fetchedAt == world.now && loaded.metadata?.validatedAt == nil)
            #expect(loaded.source == .origin && simulated.feed.metrics[.unchanged] == 0)
            #expect(!loaded.trail.steps.contains { $0.event.kind == .unchanged })
        }
    }

    /// An origin that wrongly calls a new payload unchanged.
    private struct Odd: Loader {
        func load(_ call: Call) async throws -> Loaded<Entry> {
            Loaded(Entry(Data("new".utf8), Metadata(etag: "e")), from: .revalidated)
        }
    }
}
