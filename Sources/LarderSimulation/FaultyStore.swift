#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
public import Larder

/// A store in memory that fails, hangs, damages what it keeps or fills up when told to, and remembers what it was asked.
///
/// Things go wrong call by call, from now on, or by chance, which the world's seed decides:
///
/// ```swift
/// store.play(.fails, nil, .takes(.seconds(2)), for: .read)   // the next three reads; the second works
/// store.set(.hangs, for: .write)                             // every write from now on
/// store.set(.fails, for: .read, chance: 0.1)                 // one read in ten
/// store.fillUp(at: 64_000)                                   // as a full disk
/// ```
public final class FaultyStore: Store {
    private struct State {
        var entries: [Key: Entry] = [:]
        var scripts: [Operation: [Fault?]] = [:]
        var faults: [Operation: (fault: Fault, chance: Double)] = [:]
        var room: Int?
        var counts: [Operation: Int] = [:]
        var bodies = 0
        var inner: (any Store)?

        var bytes: Int { entries.values.reduce(0) { $0 + $1.weight } }

        /// Whether `entry` finds room.
        func fits(_ entry: Entry, for key: Key) -> Bool {
            guard let room else { return true }
            return bytes - (entries[key]?.weight ?? 0) + entry.weight <= room
        }
    }

    private let name: String
    private let isForeign: Bool
    private let world: any World
    private let state = Locked(State())

    /// A store that works until told otherwise.
    ///
    /// - Parameter isForeign: whether its entries count as coming from outside the process: admitted again, never
    ///   answered at once.
    public init(_ name: String = "faulty", isForeign: Bool = true, world: any World) {
        self.name = name
        self.isForeign = isForeign
        self.world = world
    }

    /// This store as a plugin without settings of its own.
    public var plugin: Plugin {
        .store(name, "Fails when told to.") { _ in self }
    }

    /// This store as a plugin that fails in front of another, which keeps its entries: the one that `setting` names.
    public func plugin(keepingIn setting: String) -> Plugin {
        let inner = Setting(setting, .part(.store), help: "The store that keeps the entries")
        return .store(name, "Fails when told to, in front of another store.", inner) { [self] context, part in
            let store = try part.store(in: context)
            state.withLock { $0.inner = store }
            return self
        }
    }

    /// From now on `operation` goes wrong in this way, always or by chance; nil mends it. What it is to play it plays first.
    ///
    /// - Parameter chance: how likely each call goes wrong, 0 to 1, as the world's random numbers have it.
    public func set(_ fault: Fault?, for operation: Operation, chance: Double = 1) {
        state.withLock { $0.faults[operation] = fault.map { ($0, chance) } }
    }

    /// Adds to what the next calls for `operation` meet, one each; nil is one that works.
    public func play(_ faults: Fault?..., for operation: Operation) {
        state.withLock { $0.scripts[operation, default: []] += faults }
    }

    /// From now on a write fails that would make it keep more than so many bytes, as ``statistics()`` counts them; nil
    /// makes room without end. What is kept stays, and forgetting makes room.
    public func fillUp(at bytes: Int?) {
        state.withLock { $0.room = bytes }
    }

    /// How often it was asked.
    public func count(of operation: Operation) -> Int { state.withLock { $0.counts[operation] ?? 0 } }

    /// How many payloads were written; an entry whose payload is there already is not one.
    public var bodyWrites: Int { state.withLock { $0.bodies } }

    /// What it was given and not told to forget.
    public var entries: [Key: Entry] { state.withLock { $0.entries } }

    /// What it keeps now: less than ``entries`` where another store keeps them and had to make room.
    ///
    /// - Throws: what that store throws.
    public func kept() async throws -> [Key: Entry] {
        let (entries, inner) = state.withLock { ($0.entries, $0.inner) }
        guard let inner else { return entries }
        var kept: [Key: Entry] = [:]
        for key in entries.keys { kept[key] = try await inner.read(key)?.entry }
        return kept
    }

    /// Puts an entry in without being asked through the seam.
    public func put(_ entry: Entry, for key: Key) {
        state.withLock { $0.entries[key] = entry }
    }

    /// Puts an entry in without being asked through the seam, also where another store keeps its entries.
    ///
    /// - Throws: what that store throws.
    public func stock(_ entry: Entry, for key: Key) async throws {
        put(entry, for: key)
        _ = try await inner?.write(entry, for: key)
    }

    /// Its name.
    public var nearest: String { name }

    /// Answers at once, unless its entries are foreign or reading goes wrong.
    public func peek(_ key: Key, if accept: (Entry) -> Bool) -> Entry? {
        let works = state.withLock { $0.faults[.read] == nil && $0.scripts[.read, default: []].isEmpty }
        guard !isForeign, works else { return nil }
        if let inner { return inner.peek(key, if: accept) }
        return state.withLock({ $0.entries[key] }).flatMap { accept($0) ? $0 : nil }
    }

    /// Finds an entry, or does what it was told.
    public func read(_ key: Key) async throws -> Found? {
        let fault = try await meet(.read)
        let inner = inner
        let kept = try await inner?.read(key)?.entry
        guard var entry = inner == nil ? state.withLock({ $0.entries[key] }) : kept else { return nil }
        if fault == .corrupts { Self.damage(&entry) }
        return found(entry)
    }

    /// Keeps an entry, or does what it was told.
    public func write(_ entry: Entry, for key: Key) async throws -> Bool {
        let fault = try await meet(.write)
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

    /// Marks an entry, or does what it was told. It needs no room.
    public func expire(_ key: Key) async throws {
        try await meet(.expire)
        try await inner?.expire(key)
        state.withLock { $0.entries[key]?.metadata.isExpired = true }
    }

    /// Forgets entries, or does what it was told.
    public func remove(_ selection: Selection) async throws {
        try await meet(.remove)
        try await inner?.remove(selection)
        state.withLock { state in
            state.entries = state.entries.filter { !selection.contains($0.key, $0.value) }
        }
    }

    /// Passes it on to the store it stands before; what it keeps itself is meant to stay.
    public func relieve() { inner?.relieve() }

    /// How much it keeps.
    public func statistics() async -> StoreStatistics {
        state.withLock { StoreStatistics(entries: $0.entries.count, bytes: $0.bytes) }
    }

    /// Counts a call and lets it meet what it is to meet.
    ///
    /// - Returns: what went wrong with it, if it did not end it.
    @discardableResult
    private func meet(_ operation: Operation) async throws -> Fault? {
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
        // No die is cast for what is certain: a test without chance has the history it had.
        if fault == nil || chance >= 1 { return fault }
        return world.chance() < chance ? fault : nil
    }

    private static func damage(_ entry: inout Entry) {
        var bytes = entry.payload.bytes
        if let first = bytes.first { bytes[bytes.startIndex] = first ^ 1 }
        entry.payload = Payload(bytes)
    }

    private var inner: (any Store)? { state.withLock { $0.inner } }

    private func failure(_ message: String = "told to fail") -> StoreError {
        StoreError(message, faults: [StoreFault(tier: name, error: StoreError(message))])
    }

    private func found(_ entry: Entry) -> Found {
        Found(entry, tier: name, isForeign: isForeign)
    }
}
