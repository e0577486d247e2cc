import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// The entries that the graph keeps for itself, and the tags by which it finds variants.
@Suite struct VariantListingTests {
    private static let stores = [
        #""faulty""#, #""memory""#, #""file""#, #"{ "use": "tiered", "tiers": ["memory", "file"] }"#,
    ]

    private func run(
        store: String, plugins: [Plugin] = [], _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#,
                validators: #"[{ "use": "age", "fresh": "5m", "onError": "7d" }]"#, store: store, plugins: plugins)
            simulated.origin.play(then: .language(etag: "1-", tags: ["news"]))
            try await test(simulated)
        }
    }

    @Test(arguments: stores) func listHasOnlyCopiesAndTheirOwnTags(_ store: String) throws {
        try run(store: store) { simulated in
            for language in ["de", "fr"] { _ = try await simulated.feed.load(simulated.request(in: language)) }
            let listed = try await simulated.feed.list().entries
            #expect(listed.count == 2 && listed.allSatisfy { $0.size == 2 && $0.metadata.tags == ["news"] })
            #expect(listed.allSatisfy { $0.key?.isVariant == true && $0.key?.base == simulated.key() })
        }
    }

    @Test(arguments: stores) func loadedMetadataHasOnlyItsOwnTags(_ store: String) throws {
        try run(store: store) { simulated in
            simulated.origin.play(.language(etag: "1-", tags: ["news"]), .unchanged())
            let request = simulated.request(in: "de")
            #expect(try await simulated.feed.load(request).metadata?.tags == ["news"])
            #expect(try await simulated.feed.load(request).metadata?.tags == ["news"])
            if let hit = simulated.feed.answer(request) { #expect(hit.metadata?.tags == ["news"]) }
            let again = try await simulated.feed.load(simulated.request(in: "de", mode: .refresh))
            #expect(again.source == .revalidated && again.metadata?.tags == ["news"])
            #expect(try await simulated.feed.load(request).metadata?.tags == ["news"])
            try await simulated.feed.clear([:])
            #expect(try await simulated.feed.contains(request) == false)
            #expect(try await simulated.feed.list().entries.isEmpty)
        }
    }

    @Test(arguments: stores) func containsCountsNoMarker(_ store: String) throws {
        try run(store: store) { simulated in
            #expect(try await simulated.feed.contains() == false)
            _ = try await simulated.feed.load(simulated.request(in: "de"))
            #expect(try await simulated.feed.contains() == false, "there is no copy for a request without fields")
            #expect(try await simulated.feed.contains(simulated.request(in: "de")))
            _ = try await simulated.feed.load()
            #expect(try await simulated.feed.contains())
            #expect(try await simulated.feed.contains(["id": "1"]) == false)
        }
    }

    @Test func containsCountsNoMarkerAfterRestart() throws {
        let cache = try TemporaryFolder()
        for isFirst in [true, false] {
            try SimulatedWorld().run { world in
                let simulated = try await SimulatedPantry(
                    world, strategy: #""cache-first""#, store: #""file""#, cache: cache)
                simulated.origin.play(then: .language())
                if isFirst {
                    _ = try await simulated.feed.load(simulated.request(in: "de"))
                } else {
                    #expect(try await simulated.feed.contains() == false)
                    #expect(try await simulated.feed.contains(simulated.request(in: "de")))
                    #expect(try await simulated.feed.contains(simulated.request(in: "fr")) == false)
                    #expect(try await simulated.feed.statistics().hits == 0)
                }
                await simulated.pantry.close()
            }
        }
    }

    // MARK: Expiry

    @Test(arguments: stores) func expiryOfKeyReachesItsVariants(_ store: String) throws {
        try run(store: store) { simulated in
            for language in ["de", "fr"] { _ = try await simulated.feed.load(simulated.request(in: language)) }
            try await simulated.feed.expire([:])
            simulated.origin.play(then: .failure(.status(503)))
            for language in ["de", "fr"] {
                let copy = try await simulated.feed.load(simulated.request(in: language))
                #expect(copy.text == language && copy.freshness == .stale && copy.fellBack)
            }
        }
    }

    @Test func storeThatCannotExpireVariantsIsNamed() throws {
        let plain = Plugin.store("plain", "Keeps entries, and lists none.") { _ in PlainStore() }
        for store in [#""plain""#, #"{ "use": "tiered", "tiers": ["memory", "plain"] }"#] {
            try run(store: store, plugins: [plain]) { simulated in
                for language in ["de", "fr"] { _ = try await simulated.feed.load(simulated.request(in: language)) }
                let error = await #expect(throws: StoreError.self) { try await simulated.feed.expire([:]) }
                #expect(
                    error?.message.hasPrefix("answers vary by fields, so all copies with a tag must be expired: ")
                        == true)
            }
        }
    }

    private final class PlainStore: Store {
        private let entries = Locked<[Key: Entry]>([:])

        func read(_ reading: Reading) -> Found? {
            entries.withLock { $0[reading.key] }.map { Found($0, tier: "plain", isForeign: false) }
        }
        func write(_ entry: Entry, for key: Key) -> Bool {
            entries.withLock { $0[key] = entry }
            return true
        }
        func remove(_ selection: Selection) {
            entries.withLock { entries in entries = entries.filter { !selection.contains($0.key, $0.value) } }
        }
        func statistics() -> StoreStatistics { StoreStatistics() }
    }
}
