extension Plugin {
    /// Entries in this process's memory.
    static let memoryStore = Plugin.store(
        "memory", "Keeps entries in memory, until the process ends.",
        Setting(
            "capacity", .size, default: 32_000_000,
            help: "How much it may keep: payloads, what codecs say decoded values cost, and 128 bytes for each"),
        Setting("entries", optional: .int(1...1_000_000_000), help: "How many entries it may keep"),
        Setting(
            "maxAge", .duration, default: .forever, help: "How long an entry is kept after it was fetched or validated"),
        Setting("eviction", optional: .part(.eviction), help: "What it forgets when it is full"),
        traits: { capacity, _, maxAge, _ in
            Traits().with {
                $0.capacity = capacity
                if maxAge < .forever { $0.keepsFor = maxAge }
            }
        }
    ) { context, capacity, entries, maxAge, eviction in
        MemoryStore(
            capacity: capacity, entries: entries, maxAge: maxAge,
            eviction: try eviction.orDefault(in: context).eviction(), world: context.world,
            forgotten: context.meter.hearing.forgotten)
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
///
/// What is too old is not found any more, and is let go bit by bit as others are written: nothing waits for its time.
struct MemoryStore: Store {
    private let catalog: Catalog<Key, Entry>
    private let maxAge: Duration
    private let world: any World
    private let forgotten: Listeners<Forgotten>

    /// How many bytes of a key weigh nothing.
    private static let freeLength = 64

    /// How many places each writing looks at for what is too old.
    private static let looks = 4

    init(
        capacity: Int, entries: Int? = nil, maxAge: Duration = .forever, eviction: any Eviction, world: any World,
        forgotten: Listeners<Forgotten> = Listeners()
    ) {
        catalog = Catalog(bytes: capacity, entries: entries, eviction: eviction)
        self.maxAge = maxAge
        self.world = world
        self.forgotten = forgotten
    }

    var nearest: String { "memory" }

    func peek(_ key: Key, if accept: (Entry) -> Bool) -> Entry? {
        if maxAge == .forever { return catalog.find(key, hash: key.hash, if: accept) }
        let now = world.now
        return catalog.find(key, hash: key.hash) { !isOutlived($0, at: now) && accept($0) }
    }

    func read(_ key: Key) -> Found? {
        guard let entry = peek(key, if: { _ in true }) else {
            catalog.missed(hash: key.hash)
            return nil
        }
        return Found(entry, tier: nearest, isForeign: false)
    }

    func write(_ entry: Entry, for key: Key) -> Bool {
        Judging.storeIsUsed()
        if maxAge < .forever {
            let now = world.now
            tell(catalog.sweep(Self.looks) { isOutlived($1, at: now) }, .age)
            if isOutlived(entry, at: now) {
                catalog.remove(key, hash: key.hash)
                return false
            }
        }
        // The flat sum has room for a key of usual length; who asks for a long one pays for it.
        let weight = entry.weight + max(0, key.text.utf8.count - Self.freeLength)
        let mark = world.mark(of: key.text, hash: key.hash)
        let insertion = catalog.insert(entry, as: key, hash: key.hash, mark: mark, weight: weight)
        if !forgotten.isEmpty { tell(insertion.evicted, .capacity) }
        return insertion.isKept
    }

    func expire(_ key: Key) {
        guard var entry = catalog.peek(key, hash: key.hash), !entry.metadata.isExpired else { return }
        entry.metadata.isExpired = true
        _ = write(entry, for: key)
    }

    func remove(_ selection: Selection) {
        Judging.storeIsUsed()
        if case .key(let key) = selection {
            catalog.remove(key, hash: key.hash)
        } else {
            _ = catalog.removeAll { selection.contains($0, $1) }
        }
    }

    func relieve() {
        Judging.storeIsUsed()
        tell(catalog.removeAll { _, _ in true }, .pressure)
    }

    func statistics() -> StoreStatistics { catalog.statistics }

    private func isOutlived(_ entry: Entry, at now: Timestamp) -> Bool {
        now - entry.metadata.since >= maxAge
    }

    private func tell(_ gone: [(id: Key, item: Entry)], _ reason: Forgotten.Reason) {
        if forgotten.isEmpty { return }
        for (key, _) in gone { forgotten.send(Forgotten(key: key, tier: nearest, reason: reason)) }
    }
}
