import LarderSystem
import LarderCore

/// The settings of the store `memory`.
private struct MemoryStoreSettings {
    let capacity = Setting(
        "capacity", .size, default: 32_000_000,
        help:
            "The largest total size: payloads, decoded values at their codec's cost, and 420 bytes for each entry, "
            + "more if its key has over 23 bytes"
    ).advised(.capacity).calledCapacity()
    let entries = Setting<Int?>.entries
    let forgetAfter = Setting<Duration>.forgetAfter
    let eviction = Setting(
        "eviction", defaultPartOf: .eviction, help: "Which entries are removed when the store is full")
}

extension Plugin {
    /// A store in this process's memory.
    static let memoryStore = Plugin.store(
        "memory", "Keeps entries in memory until the process ends.",
        .group(MemoryStoreSettings()),
        traits: { settings in
            .with {
                $0.capacity = settings.capacity
                if settings.forgetAfter < .forever { $0.keepsFor = settings.forgetAfter }
            }
        }
    ) { context, settings in
        MemoryStore(
            capacity: settings.capacity, entries: settings.entries, maxAge: settings.forgetAfter,
            eviction: try settings.eviction.eviction(), world: context.world, context: context)
    }.alsoCalled("ram", "inMemory", "lru")
}

/// A store that keeps entries and their decoded values in the memory of this process. It answers at once.
///
/// An entry that is too old is not found any more. Its memory is freed as other entries are written; there is no timer.
final class MemoryStore: Store {
    private let table: ShardedTable<Key, Entry>
    private let maxAge: Duration
    /// Whether entries become too old. It is stored because every hit asks.
    private let forgets: Bool
    /// Whether the number of entries is limited, too. More bytes need not help then.
    private let isLimitedByNumber: Bool
    private let world: any World
    /// Receives the evicted entries. Nil if nobody observes them.
    private let observer: Observer?

    /// Holds a context behind a reference, because a copy of it takes as long as a write.
    private final class Observer: Sendable {
        let context: StoreContext

        init(_ context: StoreContext) { self.context = context }
    }

    /// The number of places that each write checks for entries that are too old.
    private static let placesPerSweep = 4

    init(
        capacity: Int, entries: Int? = nil, maxAge: Duration = .forever, eviction: any Eviction, world: any World,
        context: StoreContext? = nil
    ) {
        table = ShardedTable(bytes: capacity, entries: entries, eviction: eviction)
        self.maxAge = maxAge
        forgets = maxAge < .forever
        isLimitedByNumber = entries != nil
        self.world = world
        observer = context.map(Observer.init)
    }

    var peekedTier: String { "memory" }

    var needsClosing: Bool { false }

    func use(_ key: Key, if accept: (Entry) -> Bool) -> Bool {
        if !forgets { return table.use(key, hash: key.hash, if: accept) }
        let now = world.now
        var isOld = false
        let isUsed = table.use(key, hash: key.hash) { entry in
            isOld = isTooOld(entry, at: now)
            return !isOld && accept(entry)
        }
        guard isOld, table.isPinned(key, hash: key.hash) else { return isUsed }
        return table.use(key, hash: key.hash, if: accept)
    }

    func read(_ reading: Reading) -> Found? {
        let key = reading.key
        if !reading.needsPayload { return entry(of: key).map { Found($0, tier: peekedTier, isForeign: false) } }
        let now = forgets ? world.now : Timestamp(nanoseconds: 0)
        var found = table.find(key, hash: key.hash, if: { !forgets || !isTooOld($0, at: now) })
        if found == nil, forgets, table.isPinned(key, hash: key.hash) {
            found = table.find(key, hash: key.hash, if: { _ in true })
        }
        guard let entry = found else {
            table.missed(hash: key.hash)
            return nil
        }
        return Found(entry, tier: peekedTier, isForeign: false)
    }

    func write(_ entry: Entry, for key: Key) -> Bool {
        if forgets {
            let now = world.now
            report(table.sweep(Self.placesPerSweep) { isTooOld($1, at: now) }, .age)
            if isTooOld(entry, at: now), !table.isPinned(key, hash: key.hash) {
                table.remove(key, hash: key.hash)
                return false
            }
        }
        let weight = weight(of: entry, key)
        guard table.hasRoom(forPinned: key, hash: key.hash, weight: weight) else {
            expire(key)
            return false
        }
        let evictionHash = world.evictionHash(of: key.text, processHash: key.hash)
        let insertion = table.insert(entry, as: key, hash: key.hash, evictionHash: evictionHash, weight: weight)
        // Mostly one entry is evicted, which needs no array.
        if insertion.others.isEmpty, let (key, entry) = insertion.first {
            observer?.context.forgot(evicted(key, entry: entry, reason: .capacity))
        } else {
            report(insertion.evicted, .capacity)
        }
        return insertion.isKept
    }

    /// Returns the entry under a key, without a hit or a miss.
    private func entry(of key: Key) -> Entry? {
        guard let entry = table.peek(key, hash: key.hash) else { return nil }
        let isThere = !forgets || !isTooOld(entry, at: world.now) || table.isPinned(key, hash: key.hash)
        return isThere ? entry : nil
    }

    func expire(_ selection: Selection) {
        if case .key(let key) = selection { return expire(key) }
        for key in table.ids(where: { selection.contains($0, $1) && !$1.metadata.isExpired }) { expire(key) }
    }

    private func expire(_ key: Key) {
        guard var entry = table.peek(key, hash: key.hash), !entry.metadata.isExpired else { return }
        entry.metadata.isExpired = true
        _ = table.insert(entry, as: key, hash: key.hash, weight: weight(of: entry, key))
    }

    func list(after cursor: StoreCursor?, most count: Int) throws -> StorePage {
        let position = try cursor.map { cursor in
            guard let position = Int(cursor.text) else { throw StoreError("the cursor is not one of this store") }
            return position
        }
        let (items, next) = table.items(after: position, most: count)
        let now = world.now
        return StorePage(
            items.compactMap { id, item in
                var entry = ListedEntry(id, item.metadata, size: item.payload.bytes.count)
                entry.isPinned = table.isPinned(id, hash: id.hash)
                return entry.isPinned || !isTooOld(item, at: now) ? entry : nil
            }, next: next.map { StoreCursor("\($0)") })
    }

    func setPinned(_ isPinned: Bool, for key: Key) -> Bool {
        if isPinned { return entry(of: key) != nil && table.pin(key, hash: key.hash) }
        table.unpin(key, hash: key.hash, evictionHash: world.evictionHash(of: key.text, processHash: key.hash))
        return false
    }

    func remove(_ selection: Selection) {
        if case .key(let key) = selection {
            table.remove(key, hash: key.hash)
        } else {
            _ = table.removeAll { selection.contains($0, $1) }
        }
    }

    func relieve() {
        report(table.removeUnpinned(), .pressure)
    }

    func statistics() -> StoreStatistics { table.statistics }

    /// Returns the weight of an entry and its key.
    private func weight(of entry: Entry, _ key: Key) -> Int { entry.weight + key.weight }

    private func isTooOld(_ entry: Entry, at now: Timestamp) -> Bool {
        now - entry.metadata.confirmedAt >= maxAge
    }

    private func report(_ gone: [(id: Key, item: Entry)], _ reason: EvictedEntry.Reason) {
        if gone.isEmpty { return }
        observer?.context.forgot(gone.map { evicted($0.id, entry: $0.item, reason: reason) })
    }

    private func evicted(_ key: Key, entry: Entry, reason: EvictedEntry.Reason) -> EvictedEntry {
        EvictedEntry(
            key: key, tier: peekedTier, reason: reason, metadata: entry.metadata,
            size: isLimitedByNumber ? nil : weight(of: entry, key))
    }
}
