extension Store {
    /// Returns false.
    public func use(_ key: Key, if accept: (Entry) -> Bool) -> Bool { false }

    /// Returns the entry under `key` if it is available at once in this process's memory and `accept` returns true for it.
    /// That counts as a use of the entry: see ``use(_:if:)``.
    @inlinable
    package func peek(_ key: Key, if accept: (Entry) -> Bool) -> Entry? {
        var found: Entry?
        _ = use(key) { entry in
            let isAccepted = accept(entry)
            if isAccepted { found = entry }
            return isAccepted
        }
        return found
    }

    /// The name `store`.
    public var peekedTier: String { "store" }

    /// Writes the whole entry.
    public func renew(_ entry: Entry, for key: Key) async throws -> Bool { try await write(entry, for: key) }

    /// Reads the entry under a key and writes it again as expired. For other selections, lists the entries first.
    public func expire(_ selection: Selection) async throws {
        guard case .key(let key) = selection else { return try await expireListed(selection) }
        guard var entry = try await read(key)?.entry, !entry.metadata.isExpired else { return }
        entry.metadata.isExpired = true
        _ = try await write(entry, for: key)
    }

    private func expireListed(_ selection: Selection) async throws {
        var unknown = 0
        try await forEachListed { listed in
            if listed.metadata.isExpired { return }
            guard let key = listed.key else {
                if case .tag(let tag) = selection, !listed.metadata.tags.contains(tag) { return }
                unknown += 1
                return
            }
            if selection.contains(key, tags: listed.metadata.tags) { try await expire(.key(key)) }
        }
        if unknown > 0 { throw StoreError("the keys of \(unknown) entries are not known") }
    }

    /// Lists all entries, page by page.
    func forEachListed(_ body: (ListedEntry) async throws -> Void) async throws {
        var cursor: StoreCursor?
        repeat {
            let page = try await list(after: cursor, most: 100)
            for listed in page.entries { try await body(listed) }
            cursor = page.next
        } while cursor != nil
    }

    /// Throws an error, because the store cannot list its entries.
    public func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
        throw StoreError.unsupported("the store cannot list its entries")
    }

    /// Throws an error, because the store cannot pin entries.
    public func setPinned(_ isPinned: Bool, for key: Key) async throws -> Bool {
        throw StoreError.unsupported("the store cannot pin entries")
    }

    /// Does nothing.
    public func relieve() {}

    /// Nil, because the store hears of no changes.
    public var changes: AsyncStream<StoreChange>? { nil }

    /// True.
    public var needsClosing: Bool { true }

    /// Does nothing.
    public func close() async {}
}
