import LarderSystem
import LarderCore

// Pins. An empty file `NAME.pin` beside the file of an entry pins it. It needs no room on a full disk, stays when the
// entry is replaced, and is removed with the entry.
extension FileStore {
    private static let suffix = ".pin"

    func setPinned(_ isPinned: Bool, for key: Key) async throws -> Bool {
        if isPinned { return try await pin(key) }
        try await unpin(key)
        return false
    }

    private func pin(_ key: Key) async throws -> Bool {
        guard try await contains(key) else { return false }
        return try await blocking {
            let name = Self.name(of: key)
            return try changing.withLock { _ in
                if pinned.withLock({ $0.contains(name) }) { return true }
                guard files.pin(name, hash: name.hashValue) else { return false }
                do throws(Disk.Failure) {
                    try Disk.draft(path(name) + Self.suffix, with: []).putInPlace()
                } catch {
                    unpin(name)
                    throw StoreError(error.description)
                }
                pinned.withLock { _ = $0.insert(name) }
                return true
            }
        }
    }

    private func unpin(_ key: Key) async throws {
        try await blocking {
            try list()
            let name = Self.name(of: key)
            try changing.withLock { _ in
                try removePin(of: name)
                unpin(name)
            }
        }
    }

    private func unpin(_ name: String) {
        files.unpin(name, hash: name.hashValue, evictionHash: world.evictionHash(of: name, processHash: name.hashValue))
    }

    /// Returns whether an entry with this time is not too old. Pinned ones never are.
    func isYoung(_ time: Timestamp, _ name: String) -> Bool {
        world.now - time < maxAge || pinned.withLock { $0.contains(name) }
    }

    /// Removes the pin of a file, if it has one.
    func removePin(of name: String) throws(StoreError) {
        guard pinned.withLock({ $0.contains(name) }) else { return }
        do { try Disk.remove(path(name) + Self.suffix) } catch { throw StoreError(error.description) }
        pinned.withLock { _ = $0.remove(name) }
    }

    /// Removes the pins among these files whose entry `isMeant` accepts.
    func removePins(_ names: [String], where isMeant: (String) -> Bool) throws(StoreError) {
        for name in names where Self.isPinName(name) && isMeant(String(name.dropLast(Self.suffix.count))) {
            do { try Disk.remove(path(name)) } catch { throw StoreError(error.description) }
        }
    }

    /// Returns the names of the files whose entries are pinned, from a list of the folder.
    func pinnedNames(_ items: [Disk.Item]) -> Set<String> {
        let names = Set(items.map(\.name))
        return Set(names.filter(Self.isPinName).map { String($0.dropLast(Self.suffix.count)) }).intersection(names)
    }

    /// Pins the entries again after the folder was listed, and removes the pins of entries that are gone.
    func restorePins(_ wanted: Set<String>, _ names: [String]) throws(StoreError) {
        var found: Set<String> = []
        for name in wanted where files.pin(name, hash: name.hashValue) { found.insert(name) }
        pinned.withLock { [found] in $0 = found }
        try removePins(names) { !found.contains($0) }
    }

    /// Returns whether a file of this name pins an entry.
    static func isPinName(_ name: some StringProtocol) -> Bool {
        name.hasSuffix(suffix) && isName(name.dropLast(suffix.count))
    }
}
