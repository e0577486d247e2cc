/// Keeps the entries of one resource.
///
/// Methods may be called from any thread and at the same time. What a store is asked for is in order already: it is
/// never asked to write an answer that is older than the one it holds.
public protocol Store: Sendable {
    /// What lies under `key` in this process's memory, so that nobody has to admit it first, if that can be told at once
    /// and `accept` says it will be used; nil by default.
    ///
    /// Called on the caller's own thread. A lookup that gives nil leaves no trace; one that gives an entry counts as
    /// its use. `accept` is quick and touches no store, so it may be called while nothing in the store can change.
    func peek(_ key: Key, if accept: (Entry) -> Bool) -> Entry?

    /// The name of the tier that ``peek(_:if:)`` looks in, the same each time; `store` by default.
    var nearest: String { get }

    /// What lies under `key`; nil when nothing does.
    ///
    /// - Throws: when it cannot be told. The load then goes on as if nothing were there.
    func read(_ key: Key) async throws -> Found?

    /// What lies under `key` in the tiers below the one of `found`, which is not fresh any more; nil by default.
    ///
    /// - Throws: when it cannot be told. The load then goes on with what was found.
    func read(_ key: Key, below found: Found) async throws -> Found?

    /// Keeps `entry` under `key`, replacing what was there. It may be forgotten at any time, as space demands.
    ///
    /// A write that fails leaves what was there: the load that wanted it then calls ``expire(_:)``, unless the payload was
    /// the same. A store of several stores does that itself for each that failed while another one keeps the entry.
    ///
    /// - Returns: whether it is kept: not, for instance, when it is larger than the whole store may be. Then nothing older
    ///   is kept either.
    /// - Throws: when it should have been kept and could not. The load then goes on, its value marked as not stored.
    func write(_ entry: Entry, for key: Key) async throws -> Bool

    /// Copies an entry that was read from a lower tier into the ones above; does nothing by default.
    func promote(_ found: Found, for key: Key) async throws

    /// Sets ``Metadata/isExpired`` of the entry under `key`, in every tier, as far as there is one: a newer answer could not
    /// be saved. The entry is shown when the origin fails, and never as fresh. By default it is read and written again.
    ///
    /// A store on a disk should be able to do so when the disk is full.
    ///
    /// - Throws: when it could not. The entry is then removed.
    func expire(_ key: Key) async throws

    /// Forgets the selected entries.
    func remove(_ selection: Selection) async throws

    /// Gives back memory that it can do without, at once; does nothing by default. What is kept elsewhere stays there.
    func relieve()

    /// How much is kept and how it went so far.
    func statistics() async -> StoreStatistics
}

extension Store {
    /// Don't know.
    public func peek(_ key: Key, if accept: (Entry) -> Bool) -> Entry? { nil }

    /// Just a store.
    public var nearest: String { "store" }

    /// Nothing: there is one tier.
    public func read(_ key: Key, below found: Found) async throws -> Found? { nil }

    /// Reads the entry and writes it again with its mark.
    public func expire(_ key: Key) async throws {
        guard var entry = try await read(key)?.entry, !entry.metadata.isExpired else { return }
        entry.metadata.isExpired = true
        _ = try await write(entry, for: key)
    }

    /// There is none to give back.
    public func relieve() {}

    /// Nothing to copy: there is one tier.
    public func promote(_ found: Found, for key: Key) async throws {}
}

/// What a store found.
public struct Found: Sendable {
    /// The entry.
    public var entry: Entry
    /// The name of the store or tier it was found in.
    public var tier: String
    /// Whether it comes from outside this process's memory and must be admitted before it is used.
    public var isForeign: Bool
    /// The tiers above, which do not have it or have one that is less current.
    public var depth: Int
    /// Tiers that failed before it was found.
    public var faults: [StoreFault]

    /// An entry that was found.
    public init(_ entry: Entry, tier: String, isForeign: Bool, depth: Int = 0, faults: [StoreFault] = []) {
        self.entry = entry
        self.tier = tier
        self.isForeign = isForeign
        self.depth = depth
        self.faults = faults
    }
}

/// One failure of one tier.
public struct StoreFault: Sendable, CustomStringConvertible {
    /// The tier that failed.
    public var tier: String
    /// What it failed with.
    public var error: any Error

    /// A failure of `tier`.
    public init(tier: String, error: any Error) {
        self.tier = tier
        self.error = error
    }

    /// The tier and the failure's message, or its name where the message might hold what must not be shown.
    public var description: String {
        "\(tier): \((error as? StoreError)?.message ?? LoadError.name(of: error))"
    }
}

/// Why a store could not do what it was asked.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// What happened, in words that hold no key and no payload.
    public var message: String
    /// The tiers that failed, where there are several.
    public var faults: [StoreFault]
    /// Whether a write was kept by some tier all the same.
    public var isStored: Bool
    /// Whether what was found is damaged, so that it should be removed.
    public var isDamaged = false
    /// Operations that were given up and go on.
    package var unfinished: [Unfinished] = []
    /// Whether a copy may be left that is older than the entry which could not be written and passes as current: it could
    /// be neither expired nor removed. The graph then keeps it from being shown as fresh, as long as the process lives.
    public var leavesOlder = false

    /// A failure in words.
    public init(_ message: String, faults: [StoreFault] = [], isStored: Bool = false) {
        self.message = message
        self.faults = faults
        self.isStored = isStored
    }

    /// The message.
    public var description: String { message }

    /// What something failed with; of a foreign error its type, for its text may hold a secret.
    static func reason(for error: any Error) -> String {
        switch error {
        case let error as Disk.Failure: error.description
        case let error as StoreError: error.description
        case let error as LoadError: error.description
        default: LoadError.name(of: error)
        }
    }

    /// The failure to read an entry that is damaged.
    static var damaged: StoreError {
        var failure = StoreError("the entry is damaged")
        failure.isDamaged = true
        return failure
    }
}

/// How much a store keeps and how it went so far.
public struct StoreStatistics: Hashable, Sendable {
    /// Entries kept now.
    public var entries: Int
    /// What they weigh, in bytes.
    public var bytes: Int
    /// Reads that found something. In the statistics of a resource: reads that found a copy which may be shown.
    public var hits: Int
    /// Reads that found nothing. In the statistics of a resource: those, and reads whose copy was refused.
    public var misses: Int
    /// Entries forgotten to make room.
    public var evictions: Int

    /// Statistics, by default of a store that was never used.
    public init(entries: Int = 0, bytes: Int = 0, hits: Int = 0, misses: Int = 0, evictions: Int = 0) {
        self.entries = entries
        self.bytes = bytes
        self.hits = hits
        self.misses = misses
        self.evictions = evictions
    }
}
