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
    private let catalog: Locked<Catalog<Key, Entry>>

    init(capacity: Int, entries: Int? = nil, eviction: any Eviction) {
        catalog = Locked(Catalog(bytes: capacity, entries: entries, eviction: eviction))
    }

    func peek(_ key: Key, if accept: (Entry) -> Bool) -> Found? {
        catalog.withLock { catalog in
            guard let entry = catalog.peek(key), accept(entry) else { return nil }
            catalog.used(key)
            return Self.found(entry)
        }
    }

    func read(_ key: Key) -> Found? {
        catalog.withLock { catalog in
            guard let entry = catalog.peek(key) else {
                catalog.missed()
                return nil
            }
            catalog.used(key)
            return Self.found(entry)
        }
    }

    func write(_ entry: Entry, for key: Key) -> Bool {
        // What is evicted is let go outside the lock: freeing it can take a while, and may run somebody's code.
        let evicted = catalog.withLock { $0.insert(entry, as: key, hash: key.hash, weight: entry.weight) }
        return evicted != nil
    }

    func remove(_ selection: Selection) {
        catalog.withLock { catalog in
            if case .key(let key) = selection {
                catalog.remove(key)
            } else {
                _ = catalog.removeAll { selection.contains($0, $1) }
            }
        }
    }

    func statistics() -> StoreStatistics {
        catalog.withLock { $0.statistics }
    }

    private static func found(_ entry: Entry) -> Found {
        Found(entry, tier: "memory", isForeign: false)
    }
}
