import LarderFoundation
import LarderSystem
import LarderCore

/// The settings of the store `file`.
private struct FileStoreSettings {
    let directory = Setting("directory", .name, default: "entries", help: "The name of the folder")
        .alsoCalled("path", "folder", "dir", "name")
    let capacity = Setting("capacity", .size, default: 200_000_000, help: "The largest total size of the files")
        .calledCapacity()
    let forgetAfter = Setting<Duration>.forgetAfter
    let eviction = Setting(
        "eviction", defaultPartOf: .eviction, help: "Which entries are removed when the store is full")
}

extension Plugin {
    /// A store with one file for each entry.
    static let fileStore = Plugin.store(
        "file", "Keeps each entry in a file of its own in the resource's cache folder.",
        .group(FileStoreSettings()),
        traits: { settings in
            .with {
                $0.writesTo = settings.directory
                $0.capacity = settings.capacity
                $0.keepsFor = settings.forgetAfter
                $0.isForeign = true
            }
        }
    ) { context, settings in
        let place = try context.place(settings.directory)
        return FileStore(
            folder: place.path, place: place, capacity: settings.capacity, maxAge: settings.forgetAfter,
            eviction: try settings.eviction.eviction(), world: context.world)
    }.alsoCalled("disk", "files", "folder")
}

/// A store that keeps each entry in a file of its own, and a large payload in a second file. All files are in one
/// folder; their names are digests of scope and key.
///
/// The folder is listed when the store is first used. From then on, the store knows its files without asking the
/// system. A file's modification time is the time of its entry, so listing the folder shows how old the entries are. A
/// read-only file contains an expired entry: changing the file's mode needs no disk space and is atomic. Behind the
/// entry there is room for renewed metadata: see ``renew(_:for:)``. An empty file beside that of an entry pins it.
struct FileStore: Store {
    let folder: String
    /// Holding the place prevents its folder from being deleted.
    private let place: StorePlace?
    let capacity: Int
    let maxAge: Duration
    let world: any World
    let files: ShardedTable<String, Timestamp>
    /// Whether the folder has been listed. The lock is held while it is being listed.
    private let isListed = BlockingLock(false)

    /// Held while a file and the table that describes it change together.
    let changing = BlockingLock(())

    /// The names of the files whose entries are pinned.
    let pinned = Locked<Set<String>>([])

    /// The largest file that is read as an entry, in bytes.
    static let maximumBytes = 1 << 30

    init(
        folder: String, place: StorePlace? = nil, capacity: Int, maxAge: Duration = .forever, eviction: any Eviction,
        world: any World
    ) {
        self.folder = folder
        self.place = place
        self.capacity = capacity
        self.maxAge = maxAge
        self.world = world
        files = ShardedTable(bytes: capacity, eviction: eviction, shards: 1)
    }

    func read(_ reading: Reading) async throws -> Found? {
        try await blocking {
            try list()
            let name = Self.name(of: reading.key)
            let entry = try entry(in: name, for: reading.key)
            if reading.needsPayload {
                if entry == nil {
                    files.missed(hash: name.hashValue)
                } else {
                    _ = files.find(name, hash: name.hashValue)
                }
            }
            guard let entry else { return nil }
            return Found(entry, tier: "file", isForeign: true)
        }
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await blocking {
            try list()
            let name = Self.name(of: key)
            let time = entry.metadata.validatedAt ?? entry.metadata.fetchedAt
            let contents = try contents(of: entry, for: key, as: name)
            return try sharingFolder(for: contents) {
                try changing.withLock { _ in try keep(contents, as: name, at: time) }
            }
        }
    }

    func remove(_ selection: Selection) async throws {
        try await blocking {
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
        case .tag(let tag): try removeAll { mayHave(tag, $0) }
        case .all: try removeAll { _ in true }
        }
    }

    var changes: AsyncStream<StoreChange>? { place?.clearings }

    func statistics() async -> StoreStatistics {
        _ = try? await blocking { try list() }
        return files.statistics
    }

    // MARK: Files

    /// Runs work on threads that only this folder uses. So a disk that hangs holds up no other store.
    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await world.blocking(on: folder, atMost: 4, work)
    }

    func path(_ name: String) -> String { folder + "/" + name }

    /// Returns the entry in a file. Returns nil if there is no file, or if the entry is too old or belongs to another
    /// key. Removes files that cannot be used.
    private func entry(in name: String, for key: Key) throws -> Entry? {
        do {
            if let entry = try usableEntry(name, key, isLocked: false) { return entry }
        } catch let error as StoreError where !error.isDamaged {
            throw error
        } catch {}
        // Another thread may have replaced the file in the meantime. Read it again under the lock before removing it.
        return try changing.withLock { _ in
            do {
                if let entry = try usableEntry(name, key, isLocked: true) { return entry }
                try forget(name)
                return nil
            } catch let error as StoreError {
                if error.isDamaged { try forget(name) }
                throw error
            }
        }
    }

    private func usableEntry(_ name: String, _ key: Key, isLocked: Bool) throws -> Entry? {
        guard let time = files.peek(name, hash: name.hashValue), isYoung(time, name),
            let (bytes, isWritable) = try contents(of: name)
        else { return nil }
        var entry = try entry(in: bytes, of: name, for: key, isLocked: isLocked)
        if !isWritable { entry?.metadata.isExpired = true }
        return entry
    }

    func makeFolder() throws(Disk.Failure) {
        guard let place else { return try Disk.makeFolder(folder) }
        do { try place.restore() } catch { throw error as? Disk.Failure ?? Disk.Failure("make a folder") }
    }

    func forget(_ name: String) throws(StoreError) {
        if files.remove(name, hash: name.hashValue) != nil { try remove(name) }
    }

    /// Deletes all matching files in the folder, including files that other processes wrote. If one file cannot be
    /// deleted, the others still are.
    private func removeAll(where isMeant: (String) -> Bool) throws {
        let names = try items().map(\.name)
        let present = Set(names.filter(Self.isName))
        // Another program may have deleted files of this store.
        _ = files.removeAll { name, _ in !present.contains(name) }
        let meant = present.filter(isMeant)
        for name in meant { files.remove(name, hash: name.hashValue) }
        try removeAll(meant)
        // The payloads of these entries are gone with them. Another process may have left further ones.
        try removeAll(names.filter { Self.entryName(ofPayload: $0).map(isMeant) ?? false })
        try removePins(names) { meant.contains($0) || !present.contains($0) }
    }

    /// Deletes files. If one file cannot be deleted, the others still are; the first error is thrown.
    func removeAll(_ names: some Sequence<String>) throws(StoreError) {
        var failure: StoreError?
        for name in names {
            do throws(StoreError) { try remove(name) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Returns the files in the folder. Subfolders do not belong to the store.
    func items() throws(StoreError) -> [Disk.Item] {
        do {
            try makeFolder()
            return try Disk.list(folder).filter { !$0.isFolder }
        } catch {
            throw StoreError(error.description)
        }
    }

    /// Makes the folder and lists its files, if that has not been done yet.
    func list() throws {
        try isListed.withLock { isListed in
            if isListed { return }
            // A process that is writing an entry has files that nothing names yet.
            if try Disk.alone(in: folder, { try list(removingRemains: true) }) == nil {
                try list(removingRemains: false)
            }
            isListed = true
        }
    }

    /// - Parameter removesRemains: whether to delete unfinished files, and payloads that no entry names.
    private func list(removingRemains removesRemains: Bool) throws {
        // Keeps the newest files that fit into the capacity. The eviction cannot choose: it has seen no uses yet.
        var room = capacity
        var fitting: [Disk.Item] = []
        let items = try combined(items(), removingUnnamed: removesRemains)
        let pinned = pinnedNames(items)
        func rank(_ item: Disk.Item) -> (Int, Int64, String) {
            (pinned.contains(item.name) ? 1 : 0, item.modified, item.name)
        }
        for item in items.sorted(by: { rank($0) > rank($1) }) {
            let isYoung =
                pinned.contains(item.name) || world.now - Timestamp(nanoseconds: item.modified) < maxAge
            if Self.isName(item.name), isYoung, item.size <= room {
                room -= item.size
                fitting.append(item)
            } else if Self.isName(item.name) || removesRemains && Self.isDraftName(item.name) {
                // Also removes files that are too old, and unfinished files of a process that ended.
                try remove(item.name)
            }
        }
        for item in fitting.reversed() {
            _ = insert(Timestamp(nanoseconds: item.modified), as: item.name, weight: item.size)
        }
        try restorePins(pinned, items.map(\.name))
    }

    func insert(_ time: Timestamp, as name: String, weight: Int) -> Insertion<String, Timestamp> {
        let hash = name.hashValue
        let evictionHash = world.evictionHash(of: name, processHash: hash)
        return files.insert(time, as: name, hash: hash, evictionHash: evictionHash, weight: weight)
    }

    // MARK: Names

    static let entrySuffix = ".entry"

    static func name(of key: Key) -> String {
        prefix(of: key.scope) + key.digest + entrySuffix
    }

    static func prefix(of scope: String?) -> String {
        guard let scope else { return "nobody-" }
        return SHA256.hex(scope.utf8).prefix(32) + "-"
    }

    /// Returns whether a file of this name belongs to the store. The store does not touch other files.
    static func isName(_ name: some StringProtocol) -> Bool {
        guard name.hasSuffix(entrySuffix) else { return false }
        let stem = name.dropLast(entrySuffix.count)
        let prefix = stem.dropLast(64)
        guard isHexadecimal(stem.suffix(64), count: 64) else { return false }
        return prefix == "nobody-" || prefix.hasSuffix("-") && isHexadecimal(prefix.dropLast(), count: 32)
    }

    /// Returns whether a file of this name is an unfinished file of a store.
    private static func isDraftName(_ name: String) -> Bool {
        guard name.hasSuffix(".tmp") else { return false }
        let stem = name.dropLast(".tmp".count)
        guard let dot = stem.lastIndex(of: "."), UInt32(stem[stem.index(after: dot)...]) != nil else { return false }
        return isName(stem[..<dot]) || isPinName(stem[..<dot])
    }

    static func isHexadecimal(_ text: some StringProtocol, count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy("0123456789abcdef".utf8.contains)
    }
}
