import Larder

/// A store in use, beside what it ought to hold.
struct StoreTrial {
    private let suite: StoreConformance
    private var stage: Stage?
    let world: SimulatedWorld
    let cache: TemporaryFolder
    private(set) var store: any Store
    private(set) var traits: Traits
    private(set) var findings = Findings()
    /// What it was given and said it keeps.
    var model: [Key: Entry] = [:]
    private var keys: [Key] = []
    /// What it forgot to make room before it was closed.
    private var evicted = 0

    init(_ suite: StoreConformance, _ world: SimulatedWorld, _ situation: String) async throws {
        self.suite = suite
        self.world = world
        cache = try TemporaryFolder()
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

    /// What was found, once nothing more is going on.
    mutating func end() async throws -> [BrokenPromise] {
        try await world.sleep(for: .seconds(7_200))
        let running = stage?.leftRunning ?? 0
        findings.expect(running == 0, .endsEverything, "nothing under way two hours later", got: "\(running) tasks")
        return findings.broken
    }

    mutating func expect(
        _ isKept: Bool, _ promise: Promise, _ expected: @autoclosure () -> String, got: @autoclosure () -> String
    ) {
        findings.expect(isKept, promise, expected(), got: got())
    }

    mutating func fail(_ error: any Error) {
        findings.expect(false, .composes, "that it can be used", got: "\(error)")
    }

    // MARK: Use

    /// Whether the store has no reason to refuse an entry: there is room for many of its size.
    func hasRoom(for entry: Entry) -> Bool {
        let keepsLongEnough = traits.keepsFor.map { $0 >= .seconds(1) } ?? true
        return !traits.keepsNothing && keepsLongEnough && (traits.capacity ?? .max) / 16 >= entry.weight + 256
    }

    /// Writes an entry and reads it again.
    mutating func write(_ entry: Entry, for key: Key, _ promise: Promise = .readsWrites) async throws {
        let evictions = await store.statistics().evictions
        let isKept = try await store.write(entry, for: key)
        // What is new may be what a full store forgets.
        let isForgotten = await store.statistics().evictions > evictions
        model[key] = isKept ? entry : nil
        if !keys.contains(key) { keys.append(key) }
        expect(
            isKept || isForgotten || !hasRoom(for: entry), .readsWrites, "that an entry is kept", got: "that it is not")
        if let found = try await store.read(key) {
            judge(found, for: key, isKept ? promise : .replaces)
            try await judgeTiersBelow(found, key)
        } else {
            expect(!isKept, .readsWrites, "the entry, which is said to be kept", got: "nothing")
        }
    }

    mutating func remove(_ selection: Selection) async throws {
        try await store.remove(selection)
        model = model.filter { !selection.contains($0.key, $0.value) }
    }

    /// Reads every key there ever was an entry for: all that is missing was forgotten to make room.
    ///
    /// - Returns: what was found.
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
            judge(found, for: key, promise)
            try await judgeTiersBelow(found, key)
        }
        let forgotten = evicted + (await store.statistics().evictions)
        let count = model.count
        expect(
            missing <= forgotten, promise, "everything that is kept, but for \(forgotten) evictions",
            got: "\(missing) of \(count) missing")
        return all
    }

    /// Holds what was found against what was written last.
    mutating func judge(_ found: Found, for key: Key, _ promise: Promise) {
        guard let entry = model[key] else {
            expect(false, promise, "nothing", got: found.entry.inWords)
            return
        }
        expect(
            found.entry.payload.bytes == entry.payload.bytes, promise, entry.inWords, got: found.entry.inWords)
        if found.entry.payload.bytes == entry.payload.bytes {
            expect(
                found.entry.metadata == entry.metadata, .metadata, "\(entry.metadata)", got: "\(found.entry.metadata)")
        }
    }

    /// What lies in lower tiers is not older, and copying it up changes nothing.
    private mutating func judgeTiersBelow(_ top: Found, _ key: Key) async throws {
        var last = top
        for _ in 1...8 {
            guard let below = try await store.read(key, below: last) else { break }
            judge(below, for: key, .replaces)
            last = below
        }
        if top.depth == 0 { return }
        try await store.promote(top, for: key)
        if let found = try await store.read(key) { judge(found, for: key, .replaces) }
    }
}

extension Entry {
    /// The payload, if it is short.
    var inWords: String {
        let text = String(decoding: payload.bytes.prefix(40), as: UTF8.self)
        return payload.bytes.count > 40 ? "\(payload.bytes.count) bytes" : "'\(text)'"
    }
}
