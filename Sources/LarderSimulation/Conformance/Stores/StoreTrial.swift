import LarderSystem
import Larder

/// A store under test, with a model of its entries.
struct StoreTrial {
    private let suite: StoreConformance
    private var stage: SimulatedPantry?
    let world: SimulatedWorld
    /// The folder around the cache folder. It contains nothing else unless the store writes outside its own folder.
    let surroundings: TemporaryFolder
    private let cache: TemporaryFolder
    private(set) var store: any Store
    private(set) var traits: StoreTraits
    private(set) var findings = BrokenPromises()
    /// The entries that were written and that the store said it keeps.
    var model: [Key: Entry] = [:]
    private var keys: [Key] = []
    /// The number of evictions before the last restart.
    private var evicted = 0

    init(_ suite: StoreConformance, in world: SimulatedWorld, situation: String) async throws {
        self.suite = suite
        self.world = world
        surroundings = try TemporaryFolder()
        cache = try TemporaryFolder("cache", in: surroundings)
        (stage, store, traits) = try await suite.opened(world, cache: cache)
        findings.situation = situation
    }

    /// Closes the store and composes it again over the same folder.
    mutating func restart() async throws {
        evicted += await store.statistics().evictions
        stage = nil
        store = FaultyStore(world: world)
        (stage, store, traits) = try await suite.opened(world, cache: cache)
    }

    /// Deletes the cache folder, as a system or a user may do at any time.
    func deleteCacheFolder() throws { try cache.delete() }

    /// Waits until all work has ended and returns the findings.
    mutating func end() async throws -> [BrokenPromise] {
        // A store that hears of changes by others listens as long as it is used.
        stage = nil
        store = FaultyStore(world: world)
        try await world.sleep(for: .seconds(7_200))
        let running = world.unfinished - 1
        findings.expectNothingLeft(running)
        return findings.broken
    }

    mutating func expect(
        _ isKept: Bool, promise: Promise, expected: @autoclosure () -> String, got: @autoclosure () -> String
    ) {
        findings.expect(isKept, promise: promise, expected: expected(), got: got())
    }

    mutating func fail(_ error: any Error) {
        findings.expect(false, promise: .composes, expected: "a plugin that works", got: "\(error)")
    }

    // MARK: Use

    /// Returns whether the store must accept an entry, because it has room for many of this size.
    func hasRoom(for entry: Entry) -> Bool {
        let keepsLongEnough = traits.keepsFor.map { $0 >= .seconds(1) } ?? true
        return !traits.keepsNothing && keepsLongEnough && (traits.capacity ?? .max) / 16 >= entry.weight + 256
    }

    /// Writes an entry and reads it again.
    mutating func write(_ entry: Entry, for key: Key, _ promise: Promise = .readsWrites) async throws {
        let evictions = await store.statistics().evictions
        let isKept = try await store.write(entry, for: key)
        // A full store may evict the new entry.
        let isForgotten = await store.statistics().evictions > evictions
        model[key] = isKept ? entry : nil
        note(key)
        expect(
            isKept || isForgotten || !hasRoom(for: entry), promise: .readsWrites, expected: "a kept entry",
            got: "an entry not kept")
        if let found = try await store.read(key) {
            check(found, for: key, isKept ? promise : .replaces)
            try await checkTiers(key)
        } else {
            expect(!isKept, promise: .readsWrites, expected: "the entry that the store said it keeps", got: "nothing")
        }
    }

    /// Remembers a key, so that ``compare(_:)`` reads it.
    mutating func note(_ key: Key) {
        if !keys.contains(key) { keys.append(key) }
    }

    mutating func remove(_ selection: Selection) async throws {
        try await store.remove(selection)
        model = model.filter { !selection.contains($0.key, $0.value) }
    }

    /// Reads every key that was ever written and compares the entries with the model. Missing entries must have been
    /// evicted.
    ///
    /// - Returns: the entries that were found.
    @discardableResult
    mutating func compare(_ promise: Promise) async throws -> [Key: Found] {
        var missing = 0
        var all: [Key: Found] = [:]
        for key in keys {
            guard let found = try await store.read(key) else {
                if model[key] != nil { missing += 1 }
                continue
            }
            all[key] = found
            check(found, for: key, promise)
            try await checkTiers(key)
        }
        let forgotten = evicted + (await store.statistics().evictions)
        let count = model.count
        expect(
            missing <= forgotten, promise: promise,
            expected: "at most \(forgotten) entries missing, because so many were evicted",
            got: "\(missing) of \(count) missing")
        return all
    }

    /// Compares an entry with the one that was written last.
    mutating func check(_ found: Found, for key: Key, _ promise: Promise) {
        guard let entry = model[key] else {
            expect(false, promise: promise, expected: "nothing", got: found.entry.inWords)
            return
        }
        expect(
            found.entry.payload.bytes == entry.payload.bytes, promise: promise, expected: entry.inWords,
            got: found.entry.inWords)
        if found.entry.payload.bytes == entry.payload.bytes {
            expect(
                found.entry.metadata == entry.metadata, promise: .metadata, expected: "\(entry.metadata)",
                got: "\(found.entry.metadata)")
        }
    }

    /// Checks that no tier has an older entry, and that copying the one of the lowest tier up changes nothing.
    private mutating func checkTiers(_ key: Key) async throws {
        let tiers = TierRecorder()
        guard let lowest = try await store.read(Reading(key, judge: tiers)) else { return }
        for found in tiers.found.withLock({ $0 }) { check(found, for: key, .replaces) }
        guard let repair = lowest.repair else { return }
        try await repair(lowest.entry)
        if let found = try await store.read(key) { check(found, for: key, .replaces) }
    }
}

/// Records the entries of all tiers. Lets the store return that of the lowest.
private final class TierRecorder: EntryJudge {
    let found = Locked<[Found]>([])

    func judge(_ found: inout Found, beside best: Found?) async throws -> Reading.Verdict {
        self.found.withLock { [found] in $0.append(found) }
        return .better
    }
}

extension Entry {
    /// The payload as text, if it is short.
    var inWords: String {
        let text = String(decoding: payload.bytes.prefix(40), as: UTF8.self)
        return payload.bytes.count > 40 ? "\(payload.bytes.count) bytes" : "'\(text)'"
    }
}
