import LarderSystem
import LarderCore

extension Plugin {
    /// A store made of several stores.
    static let tieredStore = Plugin.store(
        "tiered",
        "Combines several stores, the fastest first. Reads copy entries to the faster tiers, writes go to all tiers, and a "
            + "tier that fails is skipped.",
        Setting(
            "tiers", .list(of: .part(.store), atLeast: 1),
            help: "The stores, the fastest first; each may have a limit of its own"),
        traits: { tiers in
            Traits().with { traits in
                // If one tier has no capacity limit, the whole store has none.
                traits.capacity = tiers.reduce(Int?(0)) { sum, tier in
                    guard let sum, let capacity = tier.traits.keepsNothing ? 0 : tier.traits.capacity else {
                        return nil
                    }
                    return sum + min(capacity, .max - sum)
                }
                // A tier that declares no limit keeps its entries for ever.
                let lifetimes = tiers.map { $0.traits.keepsNothing ? .zero : $0.traits.keepsFor ?? .forever }
                traits.keepsFor =
                    tiers.contains(where: \.traits.isForeign)
                    ? zip(tiers, lifetimes).filter { $0.0.traits.isForeign }.map(\.1).max() : lifetimes.max()
                traits.keepsNothing = tiers.allSatisfy(\.traits.keepsNothing)
                traits.isForeign = tiers.contains(where: \.traits.isForeign)
                traits.borders = []
            }
        }
    ) { context, tiers in
        TieredStore(
            try tiers.map { (name: $0.plugin.name, store: try $0.store(in: context)) }, world: context.world)
    }
}

/// A store made of several tiers, the fastest first.
struct TieredStore: Store {
    let tiers: [(name: String, store: any Store)]
    let world: any World

    init(_ tiers: [(name: String, store: any Store)], world: any World) {
        self.tiers = tiers
        self.world = world
    }

    func use(_ key: Key, if accept: (Entry) -> Bool) -> Bool { tiers.first?.store.use(key, if: accept) ?? false }

    var peekedTier: String { tiers.first?.store.peekedTier ?? "tiered" }

    /// Returns whether any tier has an entry. A tier that fails is skipped if another one has.
    func contains(_ key: Key) async throws -> Bool {
        var failures: [(tier: String, error: any Error)] = []
        for tier in tiers {
            do {
                if try await tier.store.contains(key) { return true }
            } catch {
                failures.append((tier.name, error))
            }
        }
        if !failures.isEmpty { throw StoreError("not every tier could be asked", failures: failures) }
        return false
    }

    /// Returns the copy of the first tier that has one. A tier that fails is skipped and named in ``Found/faults``.
    func read(_ key: Key) async throws -> Found? {
        try await read(key, from: 0)
    }

    func read(_ key: Key, below found: Found) async throws -> Found? {
        try await read(key, from: found.depth + 1)
    }

    private func read(_ key: Key, from top: Int) async throws -> Found? {
        var failures: [(tier: String, error: any Error)] = []
        for (depth, tier) in tiers.enumerated().dropFirst(top) {
            do {
                guard var found = try await tier.store.read(key) else { continue }
                found.depth = depth
                if !failures.isEmpty { found.faults = StoreError("", failures: failures).faults + found.faults }
                return found
            } catch let error as CancellationError where Task.isCancelled {
                throw error
            } catch {
                failures.append((tier.name, error))
            }
        }
        if failures.isEmpty { return nil }
        throw StoreError("not every tier could be read", failures: failures)
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await write(entry, for: key, to: tiers)
    }

    /// Renews the entry in each tier. A tier that does not keep the payload gets the whole entry.
    func renew(_ entry: Entry, for key: Key) async throws -> Bool {
        try await keep(in: tiers) { try await $0.renewOrExpire(entry, for: key, in: world) }
    }

    func promote(_ found: Found, for key: Key) async throws {
        _ = try await write(found.entry, for: key, to: tiers.prefix(found.depth))
    }

    private func write(
        _ entry: Entry, for key: Key, to tiers: some Collection<(name: String, store: any Store)>
    ) async throws -> Bool {
        try await keep(in: tiers) { try await $0.writeOrExpire(entry, for: key, in: world) }
    }

    /// Runs `work`, which returns whether a tier keeps the entry, for some tiers, also after one has failed.
    private func keep(
        in tiers: some Collection<(name: String, store: any Store)>, _ work: (any Store) async throws -> Bool
    ) async throws -> Bool {
        var isKept = false
        var failures: [(tier: String, error: any Error)] = []
        for tier in tiers {
            do {
                if try await work(tier.store) { isKept = true }
            } catch {
                failures.append((tier.name, error))
            }
        }
        if failures.isEmpty { return isKept }
        throw StoreError("not every tier could be written", failures: failures, isStored: isKept)
    }

    func expire(_ selection: Selection) async throws {
        try await forEachTier("not every tier could mark its entries as expired") { try await $0.expire(selection) }
    }

    func remove(_ selection: Selection) async throws {
        try await forEachTier("not every tier could be cleared") { try await $0.remove(selection) }
    }

    /// Runs `work` for every tier, also after one has failed.
    func forEachTier(_ message: String, _ work: (any Store) async throws -> Void) async throws {
        var failures: [(tier: String, error: any Error)] = []
        for tier in tiers {
            do {
                try await work(tier.store)
            } catch {
                failures.append((tier.name, error))
            }
        }
        if !failures.isEmpty { throw StoreError(message, failures: failures) }
    }

    func relieve() {
        for tier in tiers { tier.store.relieve() }
    }

    /// Closes all tiers at the same time.
    func close() async {
        await withTaskGroup { group in
            for tier in tiers { group.addTask { await tier.store.close() } }
        }
    }

    /// Returns the entries and bytes of the largest tier. A hit is a copy found in any tier, a miss is one found in
    /// none.
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
}
