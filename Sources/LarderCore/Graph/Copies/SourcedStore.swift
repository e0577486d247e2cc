import Synchronization

/// A store outside of memory that finds only the entries of one source, and marks the entries that it writes.
///
/// The entries of another source stay in the wrapped store until they are replaced, evicted or removed.
final class SourcedStore: WrappingStore {
    let wrapped: any Store
    private let source: DataSource
    /// The number of reads that found an entry of another source.
    private let refused = Atomic(0)

    init(_ store: any Store, of source: DataSource) {
        wrapped = store
        self.source = source
    }

    func use(_ key: Key, if accept: (Entry) -> Bool) -> Bool {
        wrapped.use(key) { entry in
            guard source.contains(entry.metadata.source) else { return false }
            return accept(unmarked(entry))
        }
    }

    func read(_ reading: Reading) async throws -> Found? {
        try await wrapped.read(
            reading, opening: { [self] in own($0, isCounted: reading.needsPayload) }, sealing: marked)
    }

    /// Returns an entry without its mark, or nil if it is of another source.
    private func own(_ found: Found, isCounted: Bool) -> Found? {
        // The marker of a variation is no data, and tells a clearing of the key that there are variants.
        guard source.contains(found.entry.metadata.source) || Variation(marker: found.entry) != nil else {
            if isCounted { refused.add(1, ordering: .relaxed) }
            return nil
        }
        var found = found
        found.entry = unmarked(found.entry)
        return found
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await wrapped.write(marked(entry), for: key)
    }

    func renew(_ entry: Entry, for key: Key) async throws -> Bool {
        try await wrapped.renew(marked(entry), for: key)
    }

    func setPinned(_ isPinned: Bool, for key: Key) async throws -> Bool {
        // An entry of another source would seem to be kept, and the data would not be fetched.
        if isPinned, try await !contains(key) { return false }
        return try await wrapped.setPinned(isPinned, for: key)
    }

    /// Entries of another source are in the list with their mark, so that they can be counted.
    func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
        var page = try await wrapped.list(after: cursor, most: count)
        for index in page.entries.indices {
            let mark = page.entries[index].metadata.source
            page.entries[index].metadata.source = source.contains(mark) ? nil : mark ?? DataSource.unknown
        }
        return page
    }

    func statistics() async -> StoreStatistics {
        var statistics = await wrapped.statistics()
        let refused = refused.load(ordering: .relaxed)
        statistics.hits = max(0, statistics.hits - refused)
        statistics.misses += refused
        return statistics
    }

    /// Memory keeps entries of this source only, so the mark would only take room there.
    private func unmarked(_ entry: Entry) -> Entry {
        var entry = entry
        entry.metadata.source = nil
        return entry
    }

    private func marked(_ entry: Entry) -> Entry {
        var entry = entry
        entry.metadata.source = source.own
        return entry
    }
}
