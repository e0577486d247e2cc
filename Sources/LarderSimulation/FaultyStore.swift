import LarderFoundation
import LarderSystem
public import Larder

/// A store in memory that fails, hangs, damages entries or is full when a test says so. It counts its calls.
///
/// Faults are played call by call, set from now on, or happen by chance, which the world's seed decides:
///
/// ```swift
/// store.play(.fails, nil, .takes(.seconds(2)), for: .read)   // the next three reads; the second works
/// store.set(.hangs, for: .write)                             // every write from now on
/// store.set(.fails, for: .read, chance: 0.1)                 // one read in ten
/// store.fillUp(at: 64_000)                                   // as a full disk
/// ```
public final class FaultyStore: Store {
    struct State {
        var entries: [Key: Entry] = [:]
        var scripts: [Operation: [Fault?]] = [:]
        var faults: [Operation: (fault: Fault, chance: Double)] = [:]
        var room: Int?
        /// How long an entry is kept after it was fetched or validated; nil for ever.
        var lifetime: Duration?
        var counts: [Operation: Int] = [:]
        var bodies = 0
        var inner: (any Store)?
        var context: StoreContext?
        var pins: Set<Key> = []
        var changes: [AsyncStream<StoreChange>.Continuation] = []

        var bytes: Int { entries.values.reduce(0) { $0 + $1.weight } }

        /// Returns whether `entry` fits.
        func fits(_ entry: Entry, for key: Key) -> Bool {
            guard let room else { return true }
            return bytes - (entries[key]?.weight ?? 0) + entry.weight <= room
        }
    }

    let name: String
    private let isForeign: Bool
    let tellsChanges: Bool
    private let world: any World
    let state = Locked(State())

    /// Creates a store without faults.
    ///
    /// - Parameters:
    ///   - name: the store's name in policies and trails.
    ///   - isForeign: whether its entries count as coming from outside the process. If so, they are admitted again and
    ///     never answered at once.
    ///   - tellsChanges: whether the graph hears of the changes that ``change(_:to:)`` makes.
    ///   - world: the source of delays and random numbers.
    public init(_ name: String = "faulty", isForeign: Bool = true, tellsChanges: Bool = false, world: any World) {
        self.name = name
        self.isForeign = isForeign
        self.tellsChanges = tellsChanges
        self.world = world
    }

    /// Creates a store that stands for another one in simulated time.
    ///
    /// - Parameters:
    ///   - lifetime: how long it keeps an entry; nil for ever.
    ///   - inner: the store that keeps the entries; nil to keep them itself.
    package convenience init(
        _ name: String, isForeign: Bool, lifetime: Duration?, keepingIn inner: (any Store)?, world: any World
    ) {
        self.init(name, isForeign: isForeign, world: world)
        state.withLock { ($0.lifetime, $0.inner) = (lifetime, inner) }
    }

    /// This store as a plugin without settings.
    public var plugin: Plugin {
        .store(name, "Fails when told to.") { [self] context in
            state.withLock { $0.context = context }
            return self
        }
    }

    /// Returns a plugin for this store in front of another store. The setting named `setting` declares the other store,
    /// which keeps the entries.
    public func plugin(keepingIn setting: String) -> Plugin {
        let inner = Setting(setting, .part(.store), help: "The store that keeps the entries")
        return .store(name, "Fails when told to, in front of another store.", inner) { [self] context, part in
            let store = try part.store(in: context)
            state.withLock { ($0.inner, $0.context) = (store, context) }
            return self
        }
    }

    /// Makes an operation fail from now on, always or by chance. Faults given to ``play(_:for:)`` happen first.
    ///
    /// - Parameters:
    ///   - fault: the fault, or nil to make the operation work again.
    ///   - operation: the operation that fails.
    ///   - chance: the probability that a call fails, from 0 to 1. The world's random numbers decide.
    public func set(_ fault: Fault?, for operation: Operation, chance: Double = 1) {
        state.withLock { $0.faults[operation] = fault.map { ($0, chance) } }
    }

    /// Adds faults for the next calls of `operation`, one for each call. A call with nil works.
    public func play(_ faults: Fault?..., for operation: Operation) {
        state.withLock { $0.scripts[operation, default: []] += faults }
    }

    /// Makes the store full: a write fails if the store would then keep more than `bytes`, as ``statistics()`` counts
    /// them. Entries that are kept stay, and removing entries frees space. Pass nil to remove the limit.
    public func fillUp(at bytes: Int?) {
        state.withLock { $0.room = bytes }
    }

    /// Returns the number of calls of an operation.
    public func count(of operation: Operation) -> Int { state.withLock { $0.counts[operation] ?? 0 } }

    /// The number of payloads that were written. A write that only changes an entry's metadata does not count.
    public var bodyWrites: Int { state.withLock { $0.bodies } }

    /// The entries that were written and not removed.
    public var entries: [Key: Entry] { state.withLock { $0.entries } }

    /// Returns the entries that are kept now. These are fewer than ``entries`` if another store keeps them and evicted
    /// some.
    ///
    /// - Throws: the error of the other store.
    public func kept() async throws -> [Key: Entry] {
        let (entries, inner) = state.withLock { ($0.entries, $0.inner) }
        guard let inner else { return entries }
        var kept: [Key: Entry] = [:]
        for key in entries.keys { kept[key] = try await inner.read(key)?.entry }
        return kept
    }

    /// Adds an entry without a call of ``write(_:for:)``.
    public func put(_ entry: Entry, for key: Key) {
        state.withLock { $0.entries[key] = entry }
    }

    /// Adds an entry without a call of ``write(_:for:)``, also to the store that keeps the entries.
    ///
    /// - Throws: the error of the other store.
    public func stock(_ entry: Entry, for key: Key) async throws {
        put(entry, for: key)
        _ = try await inner?.write(entry, for: key)
    }

    /// Removes an entry without a call of ``remove(_:)``, also from the store that keeps the entries, as if it had been
    /// lost.
    ///
    /// - Throws: the error of the other store.
    public func lose(_ key: Key) async throws {
        state.withLock { $0.entries[key] = nil }
        try await inner?.remove(.key(key))
    }

    /// The store's name.
    public var peekedTier: String { name }

    /// Answers at once, unless the store is foreign or a fault is set for reading.
    public func use(_ key: Key, if accept: (Entry) -> Bool) -> Bool {
        let works = state.withLock { $0.faults[.read] == nil && $0.scripts[.read, default: []].isEmpty }
        guard !isForeign, works else { return false }
        if let inner { return inner.use(key, if: accept) }
        return entry(of: key).map(accept) ?? false
    }

    /// Returns an entry, unless a fault is set.
    public func read(_ reading: Reading) async throws -> Found? {
        let fault = try await applyFault(to: .read)
        guard let inner else {
            return entry(of: reading.key).map { found(Found($0, tier: name, isForeign: true), fault) }
        }
        return try await inner.read(reading, opening: { [self] in found($0, fault) }, sealing: \.self)
    }

    /// Keeps an entry, unless a fault is set.
    public func write(_ entry: Entry, for key: Key) async throws -> Bool {
        let fault = try await applyFault(to: .write)
        guard state.withLock({ $0.fits(entry, for: key) }) else {
            throw failure("cannot write: no space left on device")
        }
        var entry = entry
        if fault == .corrupts { Self.damage(&entry) }
        if let inner, try await !inner.write(entry, for: key) { return false }
        state.withLock { [entry] state in
            if state.entries[key]?.payload !== entry.payload { state.bodies += 1 }
            state.entries[key] = entry
        }
        return true
    }

    /// Keeps an entry's metadata, unless a fault is set. This needs no space.
    public func renew(_ entry: Entry, for key: Key) async throws -> Bool {
        try await applyFault(to: .renew)
        if let inner {
            guard try await inner.renew(entry, for: key) else { return false }
            state.withLock { $0.entries[key] = entry }
            return true
        }
        return state.withLock { state in
            guard let kept = state.entries[key], kept.metadata.isOfSamePayload(as: entry.metadata) else { return false }
            state.entries[key]?.metadata = entry.metadata
            return true
        }
    }

    /// Marks entries as expired, unless a fault is set. This needs no space.
    public func expire(_ selection: Selection) async throws {
        try await applyFault(to: .expire)
        try await inner?.expire(selection)
        state.withLock { state in
            for (key, entry) in state.entries where selection.contains(key, entry) {
                state.entries[key]?.metadata.isExpired = true
            }
        }
    }

    /// Removes entries, unless a fault is set.
    public func remove(_ selection: Selection) async throws {
        try await applyFault(to: .remove)
        try await inner?.remove(selection)
        state.withLock { state in
            state.entries = state.entries.filter { !selection.contains($0.key, $0.value) }
            state.pins = state.pins.filter { state.entries[$0] != nil }
        }
    }

    /// Forwards the call to the store that keeps the entries. Entries of this store itself stay.
    public func relieve() { inner?.relieve() }

    /// Returns the number and size of the entries.
    public func statistics() async -> StoreStatistics {
        if let inner { return await inner.statistics() }
        return state.withLock { StoreStatistics(entries: $0.entries.count, bytes: $0.bytes) }
    }

    /// Counts a call and carries out its fault.
    ///
    /// - Returns: the fault, if the call continues nevertheless.
    @discardableResult
    func applyFault(to operation: Operation) async throws -> Fault? {
        let fault = fault(of: operation)
        switch fault {
        case .fails: throw failure()
        case .takes(let duration): try await world.sleep(for: duration)
        case .failsAfter(let duration):
            try await world.sleep(for: duration)
            throw failure()
        case .hangs: try await world.sleep(for: .forever)
        case .corrupts, nil: break
        }
        return fault
    }

    private func fault(of operation: Operation) -> Fault? {
        let (fault, chance) = state.withLock { state -> (Fault?, Double) in
            state.counts[operation, default: 0] += 1
            if state.scripts[operation]?.isEmpty == false {
                return (state.scripts[operation]?.removeFirst() ?? nil, 1)
            }
            return (state.faults[operation]?.fault, state.faults[operation]?.chance ?? 1)
        }
        // A certain fault uses no random number, so it does not change the history of a test without chance.
        if fault == nil || chance >= 1 { return fault }
        return world.chance() < chance ? fault : nil
    }

    private func entry(of key: Key) -> Entry? {
        state.withLock { $0.entries[key] }.flatMap { keeps($0) ? $0 : nil }
    }

    /// Whether it keeps entries so long.
    package func keeps(_ entry: Entry) -> Bool {
        guard let lifetime = state.withLock({ $0.lifetime }) else { return true }
        return world.now - entry.metadata.confirmedAt < lifetime
    }

    private static func damage(_ entry: inout Entry) {
        var bytes = entry.payload.bytes
        if let first = bytes.first { bytes[bytes.startIndex] = first ^ 1 }
        entry.payload = Payload(bytes)
    }

    var inner: (any Store)? { state.withLock { $0.inner } }

    private func failure(_ message: String = "told to fail") -> StoreError {
        StoreError(message, faults: [StoreFault(tier: name, error: StoreError(message))])
    }

    /// Returns an entry as this store's own, with the fault of reading.
    private func found(_ inner: Found, _ fault: Fault?) -> Found {
        var found = inner
        (found.tier, found.isForeign) = (name, isForeign)
        if fault == .corrupts { Self.damage(&found.entry) }
        return found
    }
}
