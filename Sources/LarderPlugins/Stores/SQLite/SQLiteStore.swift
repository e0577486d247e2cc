import LarderSystem
import LarderCore
import Synchronization

/// The settings of the store `sqlite`.
private struct SQLiteStoreSettings {
    let file = Setting("file", .name, default: "entries.sqlite", help: "The name of the database")
        .alsoCalled("path", "database", "name")
    let capacity = Setting(
        "capacity", .size, default: 200_000_000, help: "The largest total size of payloads, keys and metadata"
    ).advised(.capacity).calledCapacity()
    let entries = Setting<Int?>.entries
    let forgetAfter = Setting<Duration>.forgetAfter
    let durability = Setting(
        "durability", .choice(SQLiteOptions.Durability.allCases.map(\.rawValue)), default: "process",
        help: "What an entry survives once it is saved: nothing, the end of the process, or a power cut")
    let filesFrom = Setting(
        "filesFrom", .size, default: 128_000, help: "The size from which a payload gets a file of its own")
    let checksum = Setting(
        "checksum", .choice(SQLiteChecksum.allCases.map(\.rawValue)), default: "fast",
        help: "How payloads are checked: by 64 bits, which notice damage, or by SHA-256")
}

extension Plugin {
    /// A store in a SQLite database.
    static let sqliteStore = Plugin.store(
        "sqlite", "Keeps entries in a SQLite database, and large payloads in files beside it.",
        .group(SQLiteStoreSettings()),
        traits: { settings in
            .with {
                $0.writesTo = settings.file
                $0.capacity = settings.capacity
                $0.keepsFor = settings.forgetAfter
                $0.isForeign = true
            }
        }
    ) { context, settings in
        do { _ = try SQLiteLibrary.system.get() } catch { throw StoreError(error) }
        let place = try context.place(settings.file)
        var options = SQLiteOptions(folder: place.path, capacity: settings.capacity, mostEntries: settings.entries)
        options.maxAge = settings.forgetAfter
        options.durability = .init(rawValue: settings.durability) ?? .process
        options.smallestFile = max(1, settings.filesFrom)
        options.checksum = .init(rawValue: settings.checksum) ?? .fast
        return SQLiteStore(file: settings.file, options, place: place, in: context.world, context: context)
    }.alsoCalled("db", "database")
}

/// A store in a SQLite database. Large payloads are in files beside it.
///
/// One thread makes all changes, and makes those together that wait. Other threads read, and see what waits. See
/// ``SQLiteQueue`` for the order of changes, ``SQLiteFile`` for what happens to damaged and deleted files, and
/// ``SQLiteRow`` for how damage of an entry is noticed.
final class SQLiteStore: Store {
    static let tier = "sqlite"

    let database: SQLiteFile
    let options: SQLiteOptions
    let payloads: SQLitePayloads
    let processes: SQLiteProcesses
    let world: any World
    /// Receives the evicted entries and late failures; nil if nobody wants them.
    let context: StoreContext?
    let uses = SQLiteUses()
    let queue = Locked(SQLiteQueue())
    /// The number by which other processes know the removals of this one.
    let process = SQLitePayloads.randomNumber()
    /// The position at the first use of the database, from which on changes by other processes matter; nil before.
    let known = Locked<Position?>(nil)
    /// The new rows of this process since then.
    let ownRows = Locked<[ClosedRange<Int64>]>([])
    let hits = Atomic(0)
    let misses = Atomic(0)
    let evictions = Atomic(0)
    let condition = Condition()

    /// The work on the files that is to be done.
    final class Condition: Sendable {
        /// Whether there may be files that no row names.
        let needsCleaning = Atomic(true)
        /// Whether the write-ahead log may have entries that were removed.
        let hasRemovedEntries = Atomic(true)
        /// Whether the reserve was made.
        let hasReserve = Atomic(false)
        /// The size of the reserve that was given up last; 0 if none was.
        let formerReserve = Atomic(0)
        /// Whether a thread is copying the log.
        let isCopyingLog = Atomic(false)
    }

    /// The most bytes and changes that may wait while further writes are acknowledged at once.
    private static let mostQueued = (bytes: 8_000_000, items: 4_096)

    init(
        file: String, _ options: SQLiteOptions, place: StorePlace? = nil, in world: any World,
        context: StoreContext? = nil
    ) {
        database = SQLiteFile(
            options.folder + "/" + file, .entries,
            // A row has a head beside its payload.
            longestValue: options.longestPayload + 2 * SQLiteRow.longestHead
        ) { [folder = options.folder] in
            // Holding the place prevents its folder from being deleted.
            if let place { try place.restore() } else { try Disk.makeFolder(folder) }
        } onDamage: { [condition] in
            condition.needsCleaning.store(true, ordering: .relaxed)
            context?.storeFailed(
                StoreFault(
                    tier: Self.tier,
                    error: StoreError(
                        "the database was damaged and is now \(file + SQLiteFile.damagedSuffix); a new one is begun")),
                at: .write)
        }
        payloads = SQLitePayloads(in: options.folder)
        processes = SQLiteProcesses(beside: database.path, in: world)
        (self.options, self.world, self.context) = (options, world, context)
    }

    // MARK: Changing

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        if options.durability == .none, isRoomInQueue {
            try enqueue(.write(entry, key), caller: nil)
            return true
        }
        return try await change(.write(entry, key))
    }

    func renew(_ entry: Entry, for key: Key) async throws -> Bool { try await change(.renew(entry, key)) }

    func expire(_ selection: Selection) async throws { _ = try await change(.expire(selection)) }

    func remove(_ selection: Selection) async throws { _ = try await change(.remove(selection, also: [])) }

    func setPinned(_ isPinned: Bool, for key: Key) async throws -> Bool {
        try await change(isPinned ? .pin(key) : .unpin(key))
    }

    func close() async {
        queue.withLock { $0.close() }
        // Changes that wait are still made, because they may have been acknowledged.
        _ = try? await change(.nothing, isLast: true)
        _ = try? await world.blocking(on: database.path) { [self] in
            try? saveUses()
            database.close()
            processes.leave()
        }
    }

    func relieve() {
        world.spawn { [world, database] in try? await world.blocking { database.closeIdleReaders() } }
    }

    private var isRoomInQueue: Bool {
        queue.withLock { $0.size < Self.mostQueued.bytes && $0.count < Self.mostQueued.items }
    }

    /// Waits until a change is made.
    private func change(_ change: SQLiteQueue.Change, isLast: Bool = false) async throws -> Bool {
        try await Suspension<Result<Bool, any Error>>.wait { caller in
            do { try enqueue(change, caller: caller, isLast: isLast) } catch { return .failure(error) }
            return nil
        }.get()
    }

    private func enqueue(
        _ change: SQLiteQueue.Change, caller: Suspension<Result<Bool, any Error>>?, isLast: Bool = false
    ) throws {
        let (isFirst, removed) = try queue.withLock { queue throws(StoreError) in
            if queue.isClosed, !isLast { throw StoreError("the store is closed") }
            return queue.add(change, caller: caller)
        }
        for caller in removed { caller.resume(returning: .success(false)) }
        if isFirst { serve() }
    }

    /// Makes the changes that wait, on the thread that writes.
    private func serve() {
        world.spawn { [self] in
            do {
                try await world.blocking(on: database.path) { [self] in
                    while case let items = queue.withLock({ $0.take() }), !items.isEmpty { make(items) }
                }
            } catch {
                for item in queue.withLock({ $0.takeAll() }) { item.caller?.resume(returning: .failure(error)) }
            }
        }
    }

    /// Waits until all changes that wait are made.
    func settle() async throws {
        if queue.withLock({ $0.count > 0 || $0.isServed }) { _ = try await change(.nothing) }
    }
}
