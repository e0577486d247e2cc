import LarderFoundation
public import LarderSystem

extension Store {
    /// Writes an entry. If that fails, expires the older copy under the key. This copy is then shown only when the
    /// origin fails. A copy with the same payload is not changed.
    ///
    /// The graph writes the origin's answers with this method. A store that consists of several stores should use it to
    /// write to each of them.
    ///
    /// A write that was given up may still succeed later. In this case the older copy is expired after the write has
    /// ended.
    ///
    /// - Returns: the result of ``write(_:for:)``.
    /// - Throws: the error of ``write(_:for:)``. It also tells the graph whether an older copy is left that is not
    ///   expired.
    public func writeOrExpire(_ entry: Entry, for key: Key, in world: any World) async throws -> Bool {
        try await orExpire(entry, key: key, in: world) { try await write(entry, for: key) }
    }

    /// Renews an entry whose payload is unchanged. Writes the whole entry if the store does not keep this payload. If
    /// that fails, expires an older copy as ``writeOrExpire(_:for:in:)`` does.
    ///
    /// - Returns: whether the entry is kept.
    /// - Throws: the error of ``renew(_:for:)`` or ``write(_:for:)``.
    public func renewOrExpire(_ entry: Entry, for key: Key, in world: any World) async throws -> Bool {
        try await orExpire(entry, key: key, in: world) {
            if try await renew(entry, for: key) { return true }
            return try await write(entry, for: key)
        }
    }

    private func orExpire(
        _ entry: Entry, key: Key, in world: any World, work: () async throws -> Bool
    ) async throws -> Bool {
        do {
            return try await work()
        } catch {
            throw await expireOlder(than: entry, key, after: error, in: world)
        }
    }

    /// Expires the older copy under a key to which a write has failed.
    ///
    /// - Returns: the error to throw, which tells whether an older copy is left that is not expired.
    func expireOlder(than entry: Entry, _ key: Key, after error: any Error, in world: any World) async -> any Error {
        var failure = error as? StoreError ?? StoreError("\(type(of: error))")
        // A store of several stores has expired the older copies itself.
        if failure.isStored { return error }
        let newest = await NewestAnswer(entry, in: world)
        let pending = failure.unfinished
        if pending.isEmpty {
            failure.leavesOlder = await !outdate(key, by: newest, in: world)
            return error is StoreError || failure.leavesOlder ? failure : error
        }
        let end = UnfinishedOperation()
        UnfinishedOperation.whenOver(pending) {
            world.spawn {
                _ = await outdate(key, by: newest, in: world)
                end.end()
            }
        }
        failure.leavesOlder = true
        failure.unfinished = [end]
        return failure
    }

    /// Expires the copy under `key` unless it is the newest answer. Removes the copy if it cannot be expired.
    ///
    /// - Returns: false if an older copy may be left that is not expired.
    func outdate(_ key: Key, by newest: NewestAnswer, in world: any World) async -> Bool {
        let older = await findOlder(key, than: newest, in: world)
        if !older.mayBeThere { return true }
        // Expiring or removing the older copy would concern the newest one in another tier too.
        if older.isBesideNewest { return false }
        do {
            try await expire(.key(key))
            return true
        } catch {}
        do {
            try await remove(.key(key))
            return true
        } catch {
            return false
        }
    }

    /// Looks for an older copy in all tiers. A tier that cannot be read may have one.
    private func findOlder(_ key: Key, than newest: NewestAnswer, in world: any World) async -> OlderCopies {
        let copies = TierComparison(with: newest, in: world)
        do {
            if var only = try await read(Reading(key, judge: copies)) { _ = try await copies.judge(&only, beside: nil) }
        } catch {
            copies.found.withLock { $0.mayBeThere = true }
        }
        return copies.found.withLock { $0 }
    }
}

/// The copies of a key to which a write has failed.
private struct OlderCopies {
    var mayBeThere = false
    var isBesideNewest = false
}

/// Compares the copies of all tiers with the newest answer, and returns none.
private final class TierComparison: EntryJudge {
    let newest: NewestAnswer
    let world: any World
    let found = Locked(OlderCopies())

    init(with newest: NewestAnswer, in world: any World) {
        self.newest = newest
        self.world = world
    }

    func judge(_ copy: inout Found, beside best: Found?) async throws -> Reading.Verdict {
        let isOlder = await newest.outdates(copy.entry, in: world)
        found.withLock { found in
            if !copy.faults.isEmpty { found.mayBeThere = true }
            if !isOlder {
                found.isBesideNewest = true
            } else if !copy.entry.metadata.isExpired {
                found.mayBeThere = true
            }
        }
        return .passed
    }
}

/// Identifies the payload of the answer that a store failed to keep.
struct NewestAnswer: Sendable {
    private let size: Int
    private let sum: UInt64

    init(_ entry: Entry, in world: any World) async {
        size = entry.payload.size
        sum = await Self.sum(of: entry.payload, in: world)
    }

    /// Returns whether an entry has another payload, so that the entry is older than this answer.
    func outdates(_ entry: Entry, in world: any World) async -> Bool {
        if entry.payload.size != size { return true }
        return await Self.sum(of: entry.payload, in: world) != sum
    }

    private static func sum(of payload: Payload, in world: any World) async -> UInt64 {
        await world.working(onSize: payload.size) { payload.bytes.withUnsafeBytes { Checksum.of($0) } }
    }
}
