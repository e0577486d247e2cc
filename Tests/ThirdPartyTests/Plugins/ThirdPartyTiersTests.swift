import Foundation
import Larder
import LarderSimulation
import Synchronization
import Testing

/// A store of another package: a near and a far place, of which the far one is asked for payloads that the near one lacks.
private final class TwoPlaces: Store {
    private let near: any Store
    private let far: any Store

    init(near: any Store, far: any Store) {
        self.near = near
        self.far = far
    }

    func read(_ reading: Reading) async throws -> Found? {
        var best: Found?
        var worse: [any Store] = []
        for (number, place) in [near, far].enumerated() {
            guard var found = try await place.read(reading) else {
                worse.append(place)
                continue
            }
            switch try await reading.judge(&found, beside: best) {
            case .best: return repairing(found, in: Array([near, far].prefix(number)), under: reading.key)
            case .better: best = found
            case .passed: break
            case .refused: worse.append(place)
            }
        }
        return best.map { repairing($0, in: worse, under: reading.key) }
    }

    private func repairing(_ found: Found, in places: [any Store], under key: Key) -> Found {
        var found = found
        found.repair = { entry in for place in places { _ = try await place.write(entry, for: key) } }
        return found
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        let isNear = try await near.write(entry, for: key)
        return try await far.write(entry, for: key) || isNear
    }

    func remove(_ selection: Selection) async throws {
        try await near.remove(selection)
        try await far.remove(selection)
    }

    func statistics() async -> StoreStatistics { await far.statistics() }
}

/// A store around another one that keeps each payload backwards.
private struct Backwards: WrappingStore {
    let wrapped: any Store

    private func turned(_ entry: Entry) -> Entry {
        Entry(Data(entry.payload.bytes.reversed()), entry.metadata)
    }

    func read(_ reading: Reading) async throws -> Found? {
        try await wrapped.read(
            reading,
            opening: {
                var found = $0
                found.entry = turned($0.entry)
                return found
            }, sealing: turned)
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool { try await wrapped.write(turned(entry), for: key) }
}

extension Plugin {
    fileprivate static let twoPlaces = Plugin.store(
        "two-places", "Keeps entries in two places.", Setting("near", .part(.store), help: "The near place"),
        Setting("far", .part(.store), help: "The far place")
    ) { context, near, far in
        TwoPlaces(near: try near.store(in: context), far: try far.store(in: context))
    }

    fileprivate static let backwards = Plugin.store(
        "backwards", "Keeps payloads backwards.", Setting("store", .part(.store), help: "The store")
    ) { context, store in Backwards(wrapped: try store.store(in: context)) }
}

@Suite struct ThirdPartyTiersTests {
    /// Loads from a store whose two places are called near and far.
    private static func run(
        _ store: String = #"{ "use": "two-places", "near": "near", "far": "far" }"#,
        _ test: @escaping @Sendable (SimulatedPantry, _ near: FaultyStore, _ far: FaultyStore) async throws -> Void
    ) throws {
        let made = Mutex<[String: FaultyStore]>([:])
        let places = ["near", "far"].map { name in
            Plugin.store(name, "A place.", traits: { .with { $0.isForeign = true } }) { context in
                let place = FaultyStore(name, world: context.world)
                made.withLock { $0[name] = place }
                return place
            }
        }
        let feed = """
            { "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": \(store),
              "validators": [{ "use": "age", "fresh": "1m" }, "checksum"] }
            """
        try SimulatedPantry.run(["feed": feed], plugins: [.twoPlaces, .backwards] + places) { simulated in
            _ = try await simulated.resource.load()
            let (near, far) = made.withLock { ($0["near"], $0["far"]) }
            try await test(simulated, try #require(near), try #require(far))
        }
    }

    @Test func freshCopyOfLowerTierIsShownAndCopiedUp() throws {
        try Self.run { simulated, near, far in
            let key = simulated.key()
            var older = try #require(near.entries[key])
            older.metadata.fetchedAt = Timestamp(nanoseconds: older.metadata.fetchedAt.nanoseconds - 70_000_000_000)
            near.put(older, for: key)
            let loaded = try await simulated.resource.load()
            #expect(loaded.source == .store("far") && loaded.freshness == .fresh)
            #expect(near.entries[key]?.metadata == far.entries[key]?.metadata)
            #expect(simulated.origin.calls.count == 1)
        }
    }

    @Test func damagedCopyOfUpperTierIsReplacedByThatOfLower() throws {
        try Self.run { simulated, near, far in
            let key = simulated.key()
            let sound = try #require(near.entries[key])
            near.put(Entry(Data("broken".utf8), sound.metadata), for: key)
            #expect(try await simulated.resource.load().source == .store("far"))
            #expect(near.entries[key]?.payload.bytes == sound.payload.bytes)
            #expect(simulated.origin.calls.count == 1 && simulated.resource.metrics["corrupt"] == 1)
        }
    }

    @Test func missingCopyIsRestoredAsTheWrapperKeepsIt() throws {
        let store = """
            { "use": "backwards", "store": { "use": "two-places", "near": "near", "far": "far" } }
            """
        try Self.run(store) { simulated, near, far in
            let key = simulated.key()
            let kept = try #require(far.entries[key])
            try await near.lose(key)
            let loaded = try await simulated.resource.load()
            #expect(loaded.source == .store("far") && kept.payload.bytes == Data(loaded.value.reversed()))
            #expect(near.entries[key]?.payload.bytes == kept.payload.bytes)
            #expect(simulated.origin.calls.count == 1)
        }
    }
}
