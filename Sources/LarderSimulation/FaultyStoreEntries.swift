import LarderSystem
public import Larder

// Lists, pins and changes.
extension FaultyStore {
    /// Lists the entries in the order of their keys, unless a fault is set.
    public func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
        try await applyFault(to: .list)
        if let inner { return try await inner.list(after: cursor, most: count) }
        let all = entries.sorted { $0.key.text < $1.key.text }
        let rest = all.drop { $0.key.text <= cursor?.text ?? "" }
        let pins = pins
        let page = rest.prefix(count).map { key, entry in
            var listed = ListedEntry(key, entry.metadata, size: entry.payload.bytes.count)
            listed.isPinned = pins.contains(key)
            return listed
        }
        return StorePage(page, next: rest.count > count ? page.last?.key.map { StoreCursor($0.text) } : nil)
    }

    /// Pins an entry or removes its pin, unless a fault is set. The store evicts nothing anyway.
    public func setPinned(_ isPinned: Bool, for key: Key) async throws -> Bool {
        try await applyFault(to: .pin)
        if let inner, try await !inner.setPinned(isPinned, for: key), isPinned { return false }
        return state.withLock { state in
            if isPinned, state.entries[key] != nil { state.pins.insert(key) } else { state.pins.remove(key) }
            return state.pins.contains(key)
        }
    }

    /// The keys of the pinned entries.
    public var pins: Set<Key> { state.withLock { $0.pins } }

    /// The changes that ``change(_:to:)`` makes, if the store was created to tell them. If another store keeps the
    /// entries, its changes instead.
    public var changes: AsyncStream<StoreChange>? {
        if let inner { return inner.changes }
        guard tellsChanges else { return nil }
        let (stream, sink) = AsyncStream<StoreChange>.makeStream()
        state.withLock { $0.changes.append(sink) }
        return stream
    }

    /// Changes an entry as another process would: keeps `entry` in place of the present one, or removes it if `entry` is
    /// nil. Everybody who listens to ``changes`` hears of it.
    public func change(_ key: Key, to entry: Entry?) {
        let listeners = state.withLock { state in
            state.entries[key] = entry
            return state.changes
        }
        for listener in listeners { listener.yield(StoreChange(.key(key))) }
    }

    /// Reports a failure that comes too late to be thrown: see `StoreContext.storeFailed(_:at:)`.
    public func failLate(_ kind: StoreFaultKey.Kind) {
        state.withLock { $0.context }?.storeFailed(StoreFault(tier: name, error: StoreError("told to fail")), at: kind)
    }

    /// Counts the call, and closes the store that keeps the entries.
    public func close() async {
        state.withLock { $0.counts[.close, default: 0] += 1 }
        await inner?.close()
    }
}
