import Foundation
import Larder
import LarderSimulation
import Synchronization
import Testing

/// A store that writes only while its folder is there.
private struct CarelessCupboard: WrappingStore {
    let wrapped: any Store
    let path: String

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { throw StoreError("the folder is gone") }
        return try await wrapped.write(entry, for: key)
    }
}

@Suite struct YourOwnStoreTests {
    @Test func storeThatKeepsEncodedEntriesKeepsItsPromises() {
        #expect(StoreConformance(.cupboard).brokenPromises() == [])
    }

    @Test func storeThatWasNotClosedHasItsEntriesWhenItIsOpenedAgain() throws {
        let cache = try TemporaryFolder()
        let policy = #"""
            { "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "cupboard",
              "validators": [{ "use": "age", "fresh": "1h", "onError": "7d" }] }
            """#
        let world = SimulatedWorld()
        // The first pantry is never closed.
        let first = try world.run { world in
            let simulated = try await SimulatedPantry(["feed": policy], in: world, plugins: [.cupboard], cache: cache)
            simulated.origin.play(.value("one", etag: "e1"), .unchanged())
            for id in ["1", "2"] {
                _ = try await simulated.resource.save(Data("one".utf8), for: simulated.resource.request(["id": id]))
            }
            try await world.sleep(for: .seconds(7_200))
            _ = try await simulated.resource.load()
            try await simulated.resource.expire(["id": "2"])
            return simulated
        }
        // A process that is killed while it writes leaves a part of a file under another name.
        let folder = cache.url.appending(path: "feed/cupboard")
        try Data("larder1".utf8).write(to: folder.appending(path: "half.tmp"))
        try world.run { world in
            let simulated = try await SimulatedPantry(["feed": policy], in: world, plugins: [.cupboard], cache: cache)
            simulated.origin.play(then: .failure(.status(503)))
            #expect(try await simulated.resource.load().freshness == .fresh)
            let expired = try await simulated.resource.load(["id": "2"])
            #expect(expired.value == Data("one".utf8) && expired.freshness == .stale && expired.fellBack)
            #expect(try await simulated.resource.list().entries.compactMap(\.key).count == 3)
            try await simulated.pantry.clear()
            #expect(try await simulated.resource.list().entries.isEmpty)
        }
        withExtendedLifetime(first) {}
    }

    @Test func storeIsClosedWhenAReloadReplacesIt() throws {
        let made = Made()
        let plugin = Plugin.store("cupboard", "Keeps each entry in a file.") { context in
            made.add(try Cupboard(place: context.place("cupboard"), world: context.world))
        }
        let policy = #"{ "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "cupboard" }"#
        try SimulatedPantry.run(["feed": policy], plugins: [plugin]) { simulated in
            _ = try await simulated.resource.load()
            #expect(made.closed == [false])
            try await simulated.pantry.replace(policies: ["feed": policy.replacing("cupboard", with: "memory")])
            try await simulated.world.sleep(for: .seconds(1))
            #expect(made.closed == [true])
        }
    }

    private final class Made: Sendable {
        private let all = Mutex<[Cupboard]>([])

        var closed: [Bool] { all.withLock { $0.map(\.isClosed) } }

        func add(_ store: Cupboard) -> Cupboard {
            all.withLock { $0.append(store) }
            return store
        }
    }

    @Test func storeThatDoesNotMakeItsFolderAgainIsCaught() {
        let careless = Plugin.store(
            "careless", "Expects that its folder stays.",
            traits: { .with { ($0.isForeign, $0.writesTo) = (true, "careless") } }
        ) { context in
            let place = try context.place("careless")
            return CarelessCupboard(wrapped: try Cupboard(place: place, world: context.world), path: place.path)
        }
        #expect(StoreConformance(careless).brokenPromises().map(\.promise) == [.restoresFolder])
    }

    @Test func validatorWithANoteKeepsItsPromises() {
        #expect(ValidatorConformance(.pictureQuality).brokenPromises() == [])
    }

    @Test func notesSurviveARestartInAStoreThatDoesNotKnowThem() throws {
        let cache = try TemporaryFolder()
        for run in 1...2 {
            try SimulatedWorld().run { world in
                let policies = try TemporaryFolder()
                try policies.write(
                    """
                    { "resource": "pictures", "origin": "camera", "strategy": "cache-first",
                      "validators": ["picture-quality", "checksum", { "use": "entry-version", "version": 3 },
                                     { "use": "age", "fresh": "1h", "onError": "1h" }],
                      "store": "cupboard" }
                    """, to: "pictures.json")
                var registry = Registry.standard
                for plugin in [Plugin.cupboard, .pictureQuality] { try registry.register(plugin) }
                try registry.register(
                    .origin("camera") { call in
                        Data(repeating: 1, count: call.request.parameters["size"].flatMap { Int($0) } ?? 0)
                    })
                let pantry = try await Pantry(
                    policies: policies.url, registry: registry, cache: cache.url, world: world)
                let pictures = pantry.resource("pictures")
                let full = try await pictures.load(["size": "1000"])
                #expect(full.source == (run == 1 ? .origin : .store("cupboard")))
                let preview = try await pictures.load(["size": "10"])
                #expect(preview.source == .origin)
                #expect(pictures.metrics["origin_calls"] == (run == 1 ? 2 : 1) && pictures.metrics["corrupt"] == 0)
                await pantry.close()
            }
        }
    }

    @Test func failureOfSeveralStoresNamesEachTierAndIsDamagedIfOneIs() {
        var damage = StoreError("the entry is damaged")
        damage.isDamaged = true
        let inner = StoreError(
            "not every tier could be read", failures: [("disk", damage), ("net", CancellationError())])
        #expect(inner.isDamaged && !inner.isStored && inner.faults.map(\.tier) == ["disk", "net"])
        let outer = StoreError(
            "not every tier could be written", failures: [("both", inner), ("last", StoreError("full"))], isStored: true
        )
        #expect(outer.isDamaged && outer.isStored && outer.faults.map(\.tier) == ["disk", "net", "last"])
        #expect(outer.faults.last?.description == "last: full")
        #expect(!StoreError("one", failures: [("last", StoreError("full"))]).isDamaged)
    }
}
