#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
public import Larder

/// A store in memory that fails, hangs or damages what it keeps when told to, and remembers what it was asked.
public final class FaultyStore: Store {
    /// Something a store is asked to do.
    public enum Operation: Hashable, Sendable {
        /// To find an entry.
        case read
        /// To keep one.
        case write
        /// To forget some.
        case remove
    }

    /// What goes wrong with it.
    public enum Fault: Hashable, Sendable {
        /// It throws.
        case fails
        /// It takes this long first.
        case takes(Duration)
        /// It takes this long and then throws.
        case failsAfter(Duration)
        /// It never ends, unless cancelled.
        case hangs
        /// The payload that is read has a wrong byte.
        case corrupts
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var faults: [Operation: Fault] = [:]
        var counts: [Operation: Int] = [:]
        var bodies = 0
        var inner: (any Store)?
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

    /// From now on `operation` goes wrong in this way; nil mends it.
    public func set(_ fault: Fault?, for operation: Operation) {
        state.withLock { $0.faults[operation] = fault }
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

    /// Answers at once, unless its entries are foreign or reading goes wrong.
    public func peek(_ key: Key, if accept: (Entry) -> Bool) -> Found? {
        guard !isForeign, state.withLock({ $0.faults[.read] == nil }) else { return nil }
        if let inner { return inner.peek(key, if: accept).map { found($0.entry) } }
        return state.withLock({ $0.entries[key] }).flatMap { accept($0) ? found($0) : nil }
    }

    /// Finds an entry, or does what it was told.
    public func read(_ key: Key) async throws -> Found? {
        let fault = try await meet(.read)
        let inner = inner
        let kept = try await inner?.read(key)?.entry
        guard var entry = inner == nil ? state.withLock({ $0.entries[key] }) : kept else { return nil }
        if fault == .corrupts {
            var bytes = entry.payload.bytes
            if let first = bytes.first { bytes[bytes.startIndex] = first ^ 1 }
            entry.payload = Payload(bytes)
        }
        return found(entry)
    }

    /// Keeps an entry, or does what it was told.
    public func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await meet(.write)
        if let inner, try await !inner.write(entry, for: key) { return false }
        state.withLock { state in
            if state.entries[key]?.payload !== entry.payload { state.bodies += 1 }
            state.entries[key] = entry
        }
        return true
    }

    /// Forgets entries, or does what it was told.
    public func remove(_ selection: Selection) async throws {
        try await meet(.remove)
        try await inner?.remove(selection)
        state.withLock { state in
            state.entries = state.entries.filter { !selection.contains($0.key, $0.value) }
        }
    }

    /// How much it keeps.
    public func statistics() async -> StoreStatistics {
        state.withLock {
            StoreStatistics(entries: $0.entries.count, bytes: $0.entries.values.reduce(0) { $0 + $1.weight })
        }
    }

    @discardableResult
    private func meet(_ operation: Operation) async throws -> Fault? {
        let fault = state.withLock { state in
            state.counts[operation, default: 0] += 1
            return state.faults[operation]
        }
        switch fault {
        case .fails: throw failure
        case .takes(let duration): try await world.sleep(for: duration)
        case .failsAfter(let duration):
            try await world.sleep(for: duration)
            throw failure
        case .hangs: try await world.sleep(for: .forever)
        case .corrupts, nil: break
        }
        return fault
    }

    private var inner: (any Store)? { state.withLock { $0.inner } }

    private var failure: StoreError {
        StoreError("told to fail", faults: [StoreFault(tier: name, error: StoreError("told to fail"))])
    }

    private func found(_ entry: Entry) -> Found {
        Found(entry, tier: name, isForeign: isForeign)
    }
}
