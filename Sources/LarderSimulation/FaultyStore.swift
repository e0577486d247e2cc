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

    /// From now on `operation` goes wrong in this way; nil mends it.
    public func set(_ fault: Fault?, for operation: Operation) {
        state.withLock { $0.faults[operation] = fault }
    }

    /// How often it was asked.
    public func count(of operation: Operation) -> Int { state.withLock { $0.counts[operation] ?? 0 } }

    /// How many payloads were written; an entry whose payload is there already is not one.
    public var bodyWrites: Int { state.withLock { $0.bodies } }

    /// What it keeps now.
    public var entries: [Key: Entry] { state.withLock { $0.entries } }

    /// Puts an entry in without being asked through the seam.
    public func put(_ entry: Entry, for key: Key) {
        state.withLock { $0.entries[key] = entry }
    }

    /// Answers at once, unless its entries are foreign or reading goes wrong.
    public func peek(_ key: Key, if accept: (Entry) -> Bool) -> Found? {
        guard !isForeign, state.withLock({ $0.faults[.read] == nil }) else { return nil }
        return state.withLock({ $0.entries[key] }).flatMap { accept($0) ? found($0) : nil }
    }

    /// Finds an entry, or does what it was told.
    public func read(_ key: Key) async throws -> Found? {
        let fault = try await meet(.read)
        guard var entry = state.withLock({ $0.entries[key] }) else { return nil }
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
        state.withLock { state in
            if state.entries[key]?.payload !== entry.payload { state.bodies += 1 }
            state.entries[key] = entry
        }
        return true
    }

    /// Forgets entries, or does what it was told.
    public func remove(_ selection: Selection) async throws {
        try await meet(.remove)
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
        case .fails:
            throw StoreError("told to fail", faults: [StoreFault(tier: name, error: StoreError("told to fail"))])
        case .takes(let duration): try await world.sleep(for: duration)
        case .hangs: try await world.sleep(for: .forever)
        case .corrupts, nil: break
        }
        return fault
    }

    private func found(_ entry: Entry) -> Found {
        Found(entry, tier: name, isForeign: isForeign)
    }
}
