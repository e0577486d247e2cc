/// A store around another one. It forwards every call to the other store, except for the methods that it implements.
///
/// ```swift
/// struct Counted: WrappingStore {
///     let wrapped: any Store
///     let context: Context
///
///     func write(_ entry: Entry, for key: Key) async throws -> Bool {
///         context.count(.writes)
///         return try await wrapped.write(entry, for: key)
///     }
/// }
/// ```
///
/// A store that changes entries on their way, as an encrypting one does, must implement every method that passes
/// entries or metadata on. For ``Store/read(_:)`` it calls
/// ``Store/read(_:opening:sealing:)`` of the wrapped store.
public protocol WrappingStore: Store {
    /// The store that is wrapped.
    var wrapped: any Store { get }
}

extension WrappingStore {
    /// Forwards the call.
    public func use(_ key: Key, if accept: (Entry) -> Bool) -> Bool { wrapped.use(key, if: accept) }

    /// The name that the wrapped store gives.
    public var peekedTier: String { wrapped.peekedTier }

    /// Forwards the call.
    public func read(_ reading: Reading) async throws -> Found? { try await wrapped.read(reading) }

    /// Forwards the call.
    public func write(_ entry: Entry, for key: Key) async throws -> Bool { try await wrapped.write(entry, for: key) }

    /// Forwards the call.
    public func renew(_ entry: Entry, for key: Key) async throws -> Bool { try await wrapped.renew(entry, for: key) }

    /// Forwards the call.
    public func expire(_ selection: Selection) async throws { try await wrapped.expire(selection) }

    /// Forwards the call.
    public func remove(_ selection: Selection) async throws { try await wrapped.remove(selection) }

    /// Forwards the call.
    public func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
        try await wrapped.list(after: cursor, most: count)
    }

    /// Forwards the call.
    public func setPinned(_ isPinned: Bool, for key: Key) async throws -> Bool {
        try await wrapped.setPinned(isPinned, for: key)
    }

    /// Forwards the call.
    public func relieve() { wrapped.relieve() }

    /// Forwards the call.
    public func statistics() async -> StoreStatistics { await wrapped.statistics() }

    /// The changes of the wrapped store.
    public var changes: AsyncStream<StoreChange>? { wrapped.changes }

    /// Whether the wrapped store must be closed.
    public var needsClosing: Bool { wrapped.needsClosing }

    /// Forwards the call.
    public func close() async { await wrapped.close() }
}
