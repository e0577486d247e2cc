#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Plugin {
    /// One file for each entry.
    static let fileStore = Plugin.store(
        "file", "Keeps each entry in a file of its own, below the resource's cache folder.",
        Setting("directory", .name, default: "entries", help: "The folder's name"),
        Setting("capacity", .size, default: 200_000_000, help: "How much the files may hold together"),
        Setting(
            "maxAge", .duration, default: .forever, help: "How long an entry is kept after it was fetched or validated"),
        Setting("eviction", optional: .part(.eviction), help: "What it forgets when it is full"),
        traits: { directory, capacity, maxAge, _ in
            Traits().with {
                $0.writesTo = directory
                $0.capacity = capacity
                $0.keepsFor = maxAge
                $0.isForeign = true
            }
        }
    ) { context, directory, capacity, maxAge, eviction in
        let place = try context.place(directory)
        return FileStore(
            folder: place.path, place: place, capacity: capacity, maxAge: maxAge,
            eviction: try eviction.orDefault(in: context).eviction(), world: context.world)
    }
}

/// One file for each entry, all in one folder, named by digests of scope and key.
///
/// The folder is listed when the store is first used; from then on what lies there is known without asking. A file
/// bears the time of its entry, so that listing it tells its age. One that its owner may not write to holds an entry that
/// is expired: to say so takes no room, and happens at once or not at all.
struct FileStore: Store {
    let folder: String
    /// Kept, so that nobody else deletes the folder.
    private let place: StorePlace?
    let capacity: Int
    let maxAge: Duration
    let world: any World
    let files: Catalog<String, Timestamp>
    /// Whether the folder was listed. Held while it is.
    private let isListed = Exclusive(false)

    /// Held while files and what is known of them change together.
    private let changing = Exclusive(())

    /// No entry is larger than this, whoever wrote it.
    static let mostBytes = 1 << 30

    init(
        folder: String, place: StorePlace? = nil, capacity: Int, maxAge: Duration = .forever, eviction: any Eviction,
        world: any World
    ) {
        self.folder = folder
        self.place = place
        self.capacity = capacity
        self.maxAge = maxAge
        self.world = world
        files = Catalog(bytes: capacity, eviction: eviction, shards: 1)
    }

    func read(_ key: Key) async throws -> Found? {
        try await world.blocking {
            try list()
            let name = Self.name(of: key)
            guard let entry = try entry(in: name, for: key) else {
                files.missed(hash: name.hashValue)
                return nil
            }
            _ = files.find(name, hash: name.hashValue)
            return Found(entry, tier: "file", isForeign: true)
        }
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await world.blocking {
            try list()
            let name = Self.name(of: key)
            let time = entry.metadata.validatedAt ?? entry.metadata.fetchedAt
            let parts = [entry.head(for: key), Array(entry.payload.bytes)]
            return try changing.withLock { _ in try keep(parts, as: name, at: time) }
        }
    }

    func expire(_ key: Key) async throws {
        try await world.blocking {
            try list()
            try changing.withLock { _ in try expire(Self.name(of: key)) }
        }
    }

    func remove(_ selection: Selection) async throws {
        try await world.blocking {
            try list()
            try changing.withLock { _ in try forget(selection) }
        }
    }

    private func forget(_ selection: Selection) throws {
        switch selection {
        case .key(let key):
            let name = Self.name(of: key)
            files.remove(name, hash: name.hashValue)
            try remove(name)
        case .scope(let scope):
            let prefix = Self.prefix(of: scope)
            try removeAll { $0.hasPrefix(prefix) }
        case .tag(let tag): try removeAll { mayBear(tag, $0) }
        case .all: try removeAll { _ in true }
        }
    }

    func statistics() async -> StoreStatistics {
        _ = try? await world.blocking { try list() }
        return files.statistics
    }

    // MARK: Files

    func path(_ name: String) -> String { folder + "/" + name }

    /// The entry in a file; nil when there is none, or it is outlived or another key's. What is of no use is removed.
    private func entry(in name: String, for key: Key) throws -> Entry? {
        do {
            if let entry = try sound(name, key) { return entry }
        } catch let error as StoreError where !error.isDamaged {
            throw error
        } catch {}
        // It may have been replaced meanwhile: only what is still so while nobody changes it goes.
        return try changing.withLock { _ in
            do {
                if let entry = try sound(name, key) { return entry }
                try forget(name)
                return nil
            } catch let error as StoreError {
                if error.isDamaged { try forget(name) }
                throw error
            }
        }
    }

    private func sound(_ name: String, _ key: Key) throws -> Entry? {
        guard let time = files.peek(name, hash: name.hashValue), world.now - time < maxAge,
            let (bytes, isWritable) = try contents(of: name)
        else { return nil }
        var entry = try Entry.decode(bytes, for: key)
        if !isWritable { entry?.metadata.isExpired = true }
        return entry
    }

    func makeFolder() throws(Disk.Failure) {
        guard let place else { return try Disk.makeFolder(folder) }
        do { try place.restore() } catch { throw error as? Disk.Failure ?? Disk.Failure("make a folder") }
    }

    private func forget(_ name: String) throws(StoreError) {
        if files.remove(name, hash: name.hashValue) != nil { try remove(name) }
    }

    /// Deletes every such file that lies there, whoever wrote it, and the others even if one cannot be deleted.
    private func removeAll(where isMeant: (String) -> Bool) throws {
        let there = Set(try items().map(\.name).filter(Self.isName))
        // Some other program may have deleted what was known.
        _ = files.removeAll { name, _ in !there.contains(name) }
        let meant = there.filter(isMeant)
        for name in meant { files.remove(name, hash: name.hashValue) }
        try removeAll(meant)
    }

    /// Deletes files, and the others even if one cannot be deleted.
    func removeAll(_ names: some Sequence<String>) throws(StoreError) {
        var failure: StoreError?
        for name in names {
            do throws(StoreError) { try remove(name) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Whether the entry in a file bears a tag, or is damaged so that nobody can tell.
    private func mayBear(_ tag: String, _ name: String) -> Bool {
        guard let bytes = try? contents(of: name)?.bytes, let metadata = try? Entry.metadata(in: bytes) else {
            return true
        }
        return metadata.tags.contains(tag)
    }

    /// The files in the folder; folders in it are none of the store's.
    private func items() throws(StoreError) -> [Disk.Item] {
        do {
            try makeFolder()
            return try Disk.list(folder).filter { !$0.isFolder }
        } catch {
            throw StoreError(error.description)
        }
    }

    /// Makes the folder and learns what lies in it, the first time.
    private func list() throws {
        try isListed.withLock { isListed in
            if isListed { return }
            // The newest are kept as far as there is room. The eviction is not asked: of what was used it knows nothing.
            var room = capacity
            var kept: [Disk.Item] = []
            for item in try items().sorted(by: { ($0.modified, $0.name) > ($1.modified, $1.name) }) {
                if Self.isName(item.name), world.now - item.modified < maxAge, item.size <= room {
                    room -= item.size
                    kept.append(item)
                } else if Self.isName(item.name) || Self.isDraftName(item.name) {
                    // Outlived ones too, and half-written files of a process that died.
                    try remove(item.name)
                }
            }
            for item in kept.reversed() { _ = insert(item.modified, as: item.name, weight: item.size) }
            isListed = true
        }
    }

    func insert(_ time: Timestamp, as name: String, weight: Int) -> Insertion<String, Timestamp> {
        let hash = name.hashValue
        return files.insert(time, as: name, hash: hash, mark: world.mark(of: name, hash: hash), weight: weight)
    }

    // MARK: Names

    private static func name(of key: Key) -> String {
        prefix(of: key.scope) + key.digest + ".entry"
    }

    private static func prefix(of scope: String?) -> String {
        guard let scope else { return "nobody-" }
        return SHA256.hex(scope.utf8).prefix(32) + "-"
    }

    /// Whether a file of this name is one of the store's: others that lie beside them are not touched.
    private static func isName(_ name: some StringProtocol) -> Bool {
        guard name.hasSuffix(".entry") else { return false }
        let stem = name.dropLast(".entry".count)
        let prefix = stem.dropLast(64)
        guard isHexadecimal(stem.suffix(64), count: 64) else { return false }
        return prefix == "nobody-" || prefix.hasSuffix("-") && isHexadecimal(prefix.dropLast(), count: 32)
    }

    /// Whether a file of this name was left half-written by a store.
    private static func isDraftName(_ name: String) -> Bool {
        guard name.hasSuffix(".tmp") else { return false }
        let stem = name.dropLast(".tmp".count)
        guard let dot = stem.lastIndex(of: "."), UInt32(stem[stem.index(after: dot)...]) != nil else { return false }
        return isName(stem[..<dot])
    }

    private static func isHexadecimal(_ text: some StringProtocol, count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy("0123456789abcdef".utf8.contains)
    }
}
