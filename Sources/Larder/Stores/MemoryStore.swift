extension Plugin {
    /// Entries in this process's memory.
    static let memoryStore = Plugin.store(
        "memory", "Keeps entries in memory, until the process ends.",
        Setting("capacity", .size, default: 32_000_000, help: "How much it may keep, payloads and 128 bytes for each"),
        Setting("entries", optional: .int(1...1_000_000_000), help: "How many entries it may keep"),
        Setting("eviction", optional: .part(.eviction), help: "What it forgets when it is full"),
        traits: { capacity, _, _ in Traits().with { $0.capacity = capacity } }
    ) { context, capacity, entries, eviction in
        MemoryStore(capacity: capacity, entries: entries, eviction: try eviction.orDefault(in: context).eviction())
    }
}

extension Part? {
    /// The part, or the standard eviction where the policy names none.
    func orDefault(in context: Context) throws -> Part {
        guard let part = self ?? Part(defaultFor: .eviction, in: context.registry) else {
            throw Registry.Conflict(description: "no eviction is registered that needs no settings")
        }
        return part
    }
}

/// Entries in this process's memory, with their decoded values. Answers at once.
struct MemoryStore: Store {
    private let catalog: Catalog<Key, Entry>

    init(capacity: Int, entries: Int? = nil, eviction: any Eviction) {
        catalog = Catalog(bytes: capacity, entries: entries, eviction: eviction)
    }

    var nearest: String { "memory" }

    func peek(_ key: Key, if accept: (Entry) -> Bool) -> Entry? {
        catalog.find(key, hash: key.hash, if: accept)
    }

    func read(_ key: Key) -> Found? {
        guard let entry = catalog.find(key, hash: key.hash) else {
            catalog.missed(hash: key.hash)
            return nil
        }
        return Found(entry, tier: nearest, isForeign: false)
    }

    func write(_ entry: Entry, for key: Key) -> Bool {
        catalog.insert(entry, as: key, hash: key.hash, weight: entry.weight).isKept
    }

    func remove(_ selection: Selection) {
        if case .key(let key) = selection {
            catalog.remove(key, hash: key.hash)
        } else {
            _ = catalog.removeAll { selection.contains($0, $1) }
        }
    }

    func statistics() -> StoreStatistics { catalog.statistics }
}
