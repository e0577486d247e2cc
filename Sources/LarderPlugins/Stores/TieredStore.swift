import LarderSystem
import LarderCore
import Synchronization

extension Plugin {
    /// A store made of several stores.
    static let tieredStore = Plugin.store(
        "tiered",
        "Combines several stores, the fastest first. Reads copy entries to the faster tiers, writes go to all tiers, and a "
            + "tier that fails is skipped.",
        Setting(
            "tiers", .list(of: .part(.store), atLeast: 1),
            help: "The stores, the fastest first; each may have a limit of its own"
        ).alsoCalled("stores", "layers", "levels"),
        traits: { tiers in
            .with { traits in
                // If one tier has no capacity limit, the whole store has none.
                traits.capacity = tiers.reduce(Int?(0)) { sum, tier in
                    guard let sum, let capacity = tier.storeTraits.keepsNothing ? 0 : tier.storeTraits.capacity else {
                        return nil
                    }
                    return sum + min(capacity, .max - sum)
                }
                // A tier that declares no limit keeps its entries for ever.
                let lifetimes = tiers.map { $0.storeTraits.keepsNothing ? .zero : $0.storeTraits.keepsFor ?? .forever }
                traits.keepsFor =
                    tiers.contains(where: \.storeTraits.isForeign)
                    ? zip(tiers, lifetimes).filter { $0.0.storeTraits.isForeign }.map(\.1).max() : lifetimes.max()
                traits.keepsNothing = tiers.allSatisfy(\.storeTraits.keepsNothing)
                traits.isForeign = tiers.contains(where: \.storeTraits.isForeign)
                traits.borders = []
            }
        }
    ) { context, tiers in
        TieredStore(try tiers.map { (name: $0.plugin.name, store: try $0.store(in: context)) }, world: context.world)
    }.alsoCalled("tiers", "layered", "multi")
}

/// A store made of several tiers, the fastest first.
final class TieredStore: Store {
    let tiers: [(name: String, store: any Store)]
    let world: any World
    /// The number of entries that tiers found beside the one that was returned. Each tier counts a hit.
    private let surplus = Atomic(0)

    init(_ tiers: [(name: String, store: any Store)], world: any World) {
        self.tiers = tiers
        self.world = world
    }

    func use(_ key: Key, if accept: (Entry) -> Bool) -> Bool { tiers.first?.store.use(key, if: accept) ?? false }

    var peekedTier: String { tiers.first?.store.peekedTier ?? "tiered" }

    /// Returns the best copy of all tiers. A tier that fails is skipped and named in ``Found/faults``. A tier is not asked
    /// if one above has a copy that cannot be better.
    func read(_ reading: Reading) async throws -> Found? {
        let search = TierSearch(reading)
        for depth in tiers.indices {
            if try await search.ends(at: depth, of: tiers) { break }
        }
        return try found(by: search)
    }

    /// Returns the best entry that a search has found.
    @inline(never)
    private func found(by search: TierSearch) throws -> Found? {
        if search.count > 1, search.reading.needsPayload { surplus.add(search.count - 1, ordering: .relaxed) }
        let failures = search.failures
        guard var found = search.best else {
            if failures.isEmpty { return nil }
            throw StoreError("not every tier could be read", failures: failures)
        }
        if !failures.isEmpty { found.faults = StoreError("", failures: failures).faults + found.faults }
        let worse = Array(tiers.prefix(search.depth)) + search.refused.filter { $0 > search.depth }.map { tiers[$0] }
        if !worse.isEmpty {
            found.repair = { [self, own = found.repair, key = search.reading.key] entry in
                try await own?(entry)
                _ = try await write(entry, for: key, to: worse)
            }
        }
        return found
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await write(entry, for: key, to: tiers)
    }

    /// Renews the entry in each tier. A tier that does not keep the payload gets the whole entry.
    func renew(_ entry: Entry, for key: Key) async throws -> Bool {
        try await keep(in: tiers) { try await $0.renewOrExpire(entry, for: key, in: world) }
    }

    private func write(
        _ entry: Entry, for key: Key, to tiers: [(name: String, store: any Store)]
    ) async throws -> Bool {
        try await keep(in: tiers) { try await $0.writeOrExpire(entry, for: key, in: world) }
    }

    /// Runs `work`, which returns whether a tier keeps the entry, for some tiers, also after one has failed.
    private func keep(
        in tiers: [(name: String, store: any Store)], _ work: (any Store) async throws -> Bool
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
        total.hits = max(0, total.hits - surplus.load(ordering: .relaxed))
        return total
    }
}

/// A search through the tiers of a store.
///
/// Its finds are here, and not in variables of a function that waits: those take memory in each of thousands of waiting loads.
private final class TierSearch {
    let reading: Reading
    /// The best entry so far, and the number of the tier that has it.
    private(set) var best: Found?
    private(set) var depth = 0
    /// The tiers whose entries were refused.
    private(set) var refused: [Int] = []
    private(set) var failures: [(tier: String, error: any Error)] = []
    /// The number of entries that tiers have counted as hits.
    private(set) var count = 0

    init(_ reading: Reading) { self.reading = reading }

    /// Looks into a tier.
    ///
    /// - Returns: whether the tiers below need not be asked.
    @inline(never)
    func ends(at depth: Int, of tiers: [(name: String, store: any Store)]) async throws -> Bool {
        do {
            return try await ends(with: try await tiers[depth].store.read(reading), at: depth)
        } catch {
            try failed(error, at: tiers[depth].name)
            return false
        }
    }

    @inline(never)
    private func failed(_ error: any Error, at tier: String) throws {
        if error is CancellationError, Task.isCancelled { throw error }
        failures.append((tier, error))
    }

    @inline(never)
    private func ends(with found: Found?, at depth: Int) async throws -> Bool {
        guard var found else { return false }
        let verdict = try await reading.judge(&found, beside: best)
        note(found, as: verdict, at: depth)
        return verdict == .best
    }

    @inline(never)
    private func note(_ found: Found, as verdict: Reading.Verdict, at depth: Int) {
        if verdict != .passed || best != nil { count += 1 }
        switch verdict {
        case .best, .better: (best, self.depth) = (found, depth)
        case .refused: refused.append(depth)
        case .passed: break
        }
    }
}
