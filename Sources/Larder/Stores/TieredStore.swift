extension Plugin {
    /// Several stores, one above the other.
    static let tieredStore = Plugin.store(
        "tiered", "Several stores, the fastest first: reads copy up, writes go to all, a failing tier fails no load.",
        Setting(
            "tiers", .list(of: .part(.store), atLeast: 1),
            help: "The stores, each with a limit of its own if it has one"),
        traits: { tiers in
            Traits().with { traits in
                // One tier without a limit, and there is none.
                traits.capacity = tiers.reduce(Int?(0)) { sum, tier in
                    guard let sum, let most = tier.traits.keepsNothing ? 0 : tier.traits.capacity else { return nil }
                    return sum + min(most, .max - sum)
                }
                // What one tier keeps for ever, or without saying how long, is kept.
                let kept = tiers.map { $0.traits.keepsNothing ? .zero : $0.traits.keepsFor ?? .forever }
                traits.keepsFor =
                    tiers.contains(where: \.traits.isForeign)
                    ? zip(tiers, kept).filter { $0.0.traits.isForeign }.map(\.1).max() : kept.max()
                traits.keepsNothing = tiers.allSatisfy(\.traits.keepsNothing)
                traits.isForeign = tiers.contains(where: \.traits.isForeign)
            }
        }
    ) { context, tiers in
        TieredStore(
            try tiers.map { (name: $0.plugin.name, store: try $0.store(in: context)) }, world: context.world)
    }
}

/// Several stores, one above the other.
struct TieredStore: Store {
    private let tiers: [(name: String, store: any Store)]
    private let world: any World

    init(_ tiers: [(name: String, store: any Store)], world: any World) {
        self.tiers = tiers
        self.world = world
    }

    func peek(_ key: Key, if accept: (Entry) -> Bool) -> Entry? { tiers.first?.store.peek(key, if: accept) }

    var nearest: String { tiers.first?.store.nearest ?? "tiered" }

    /// The first tier's copy that can be read. One that fails is passed over and named in ``Found/faults``.
    func read(_ key: Key) async throws -> Found? {
        try await read(key, from: 0)
    }

    func read(_ key: Key, below found: Found) async throws -> Found? {
        try await read(key, from: found.depth + 1)
    }

    private func read(_ key: Key, from top: Int) async throws -> Found? {
        var faults: [StoreFault] = []
        for (depth, tier) in tiers.enumerated().dropFirst(top) {
            do {
                guard var found = try await tier.store.read(key) else { continue }
                found.depth = depth
                found.faults = faults + found.faults
                return found
            } catch let error as CancellationError where Task.isCancelled {
                throw error
            } catch {
                faults += Self.faults(of: error, in: tier.name)
            }
        }
        if faults.isEmpty { return nil }
        throw Self.failure("not every tier could be read", faults)
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await write(entry, for: key, to: tiers)
    }

    func promote(_ found: Found, for key: Key) async throws {
        _ = try await write(found.entry, for: key, to: tiers.prefix(found.depth))
    }

    private func write(
        _ entry: Entry, for key: Key, to tiers: some Collection<(name: String, store: any Store)>
    ) async throws -> Bool {
        var isKept = false
        var leavesOlder = false
        var faults: [StoreFault] = []
        for tier in tiers {
            do {
                if try await tier.store.writeOrExpire(entry, for: key, in: world) { isKept = true }
            } catch {
                if (error as? StoreError)?.leavesOlder == true { leavesOlder = true }
                faults += Self.faults(of: error, in: tier.name)
            }
        }
        if faults.isEmpty { return isKept }
        var failure = Self.failure("not every tier could be written", faults)
        failure.isStored = isKept
        failure.leavesOlder = leavesOlder
        throw failure
    }

    func expire(_ key: Key) async throws {
        try await inEach("not every tier could mark its entry") { try await $0.expire(key) }
    }

    func remove(_ selection: Selection) async throws {
        try await inEach("not every tier could be cleared") { try await $0.remove(selection) }
    }

    /// Does something in every tier, even if it fails in one.
    private func inEach(_ complaint: String, _ work: (any Store) async throws -> Void) async throws {
        var faults: [StoreFault] = []
        for tier in tiers {
            do {
                try await work(tier.store)
            } catch {
                faults += Self.faults(of: error, in: tier.name)
            }
        }
        if !faults.isEmpty { throw Self.failure(complaint, faults) }
    }

    func relieve() {
        for tier in tiers { tier.store.relieve() }
    }

    /// Entries and bytes of the tier that keeps most; hits and misses of the whole: found in any tier, or in none.
    func statistics() async -> StoreStatistics {
        var total = StoreStatistics()
        for tier in tiers {
            let statistics = await tier.store.statistics()
            total.entries = max(total.entries, statistics.entries)
            total.bytes = max(total.bytes, statistics.bytes)
            total.hits += statistics.hits
            total.misses = statistics.misses
            total.evictions += statistics.evictions
        }
        return total
    }

    /// The failure of several tiers: damaged if one is, with everything that any of them has left unfinished.
    private static func failure(_ message: String, _ faults: [StoreFault]) -> StoreError {
        var failure = StoreError(message, faults: faults)
        let errors = faults.compactMap { $0.error as? StoreError }
        failure.isDamaged = errors.contains(where: \.isDamaged)
        failure.unfinished = errors.flatMap(\.unfinished)
        return failure
    }

    /// The faults of one tier, the first of which carries what the tier's own failure did.
    private static func faults(of error: any Error, in tier: String) -> [StoreFault] {
        guard let failure = error as? StoreError, let first = failure.faults.first else {
            return [StoreFault(tier: tier, error: error)]
        }
        var carrier = first.error as? StoreError ?? StoreError(failure.message)
        carrier.isDamaged = carrier.isDamaged || failure.isDamaged
        carrier.unfinished += failure.unfinished
        return [StoreFault(tier: first.tier, error: carrier)] + failure.faults.dropFirst()
    }
}
