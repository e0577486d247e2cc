import LarderSystem
import LarderCore

extension FileStore {
    /// False, because no file stays open.
    var needsClosing: Bool { false }

    func contains(_ key: Key) async throws -> Bool {
        try await blocking {
            try list()
            let name = Self.name(of: key)
            guard let time = files.peek(name, hash: name.hashValue), isYoung(time, name) else { return false }
            return Disk.item(path(name))?.isFolder == false
        }
    }

    func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
        try await blocking {
            try list()
            let position = try cursor.map { cursor in
                guard let position = Int(cursor.text) else { throw StoreError("the cursor is not one of this store") }
                return position
            }
            let (items, next) = files.items(after: position, most: count)
            let entries = items.compactMap { name, time -> ListedEntry? in
                guard isYoung(time, name), let head = head(of: name) else { return nil }
                var entry = ListedEntry(
                    key: head.written.key, digest: Self.digest(in: name), metadata: head.metadata,
                    size: head.written.payloadSize)
                entry.isPinned = pinned.withLock { $0.contains(name) }
                return entry
            }
            return StorePage(entries, next: next.map { StoreCursor("\($0)") })
        }
    }

    func expire(_ selection: Selection) async throws {
        try await blocking {
            try list()
            try changing.withLock { _ in
                var failure: StoreError?
                for name in selected(selection) {
                    do throws(StoreError) { try expire(name) } catch { failure = failure ?? error }
                }
                if let failure { throw failure }
            }
        }
    }

    /// Returns the names of the files whose entries are selected.
    private func selected(_ selection: Selection) -> [String] {
        switch selection {
        case .key(let key): return [Self.name(of: key)]
        case .scope(let scope):
            let prefix = Self.prefix(of: scope)
            return files.ids { name, _ in name.hasPrefix(prefix) }
        case .tag(let tag): return files.ids { _, _ in true }.filter { mayHave(tag, $0) }
        case .all: return files.ids { _, _ in true }
        }
    }

    /// Returns whether the entry in a file has a tag. Returns true if the file is damaged and its tags cannot be read.
    func mayHave(_ tag: String, _ name: String) -> Bool {
        guard let head = head(of: name) else { return true }
        return head.metadata.tags.contains(tag) || head.written.metadata.tags.contains(tag)
    }

    /// Returns the digest of the key in the name of a file.
    private static func digest(in name: String) -> String { String(name.dropLast(".entry".count).suffix(64)) }
}
