#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Store {
    /// Writes an entry; when that fails, sees to it that what was there before is shown only when the origin fails. What was
    /// there stays as it was if its payload is the same.
    ///
    /// The graph writes the origin's answers in this way. A store of several stores should write to each of them so.
    ///
    /// A write that was given up may still land. Then nothing is marked before it has ended.
    ///
    /// - Returns: what ``write(_:for:)`` returns.
    /// - Throws: what ``write(_:for:)`` throws, and with it whether an older copy is left that passes as current.
    public func writeOrExpire(_ entry: Entry, for key: Key, in world: any World) async throws -> Bool {
        do {
            return try await write(entry, for: key)
        } catch {
            var failure = error as? StoreError ?? StoreError("\(type(of: error))")
            // A store of several stores has seen to those that failed.
            if failure.isStored { throw error }
            let newest = Newest(entry)
            let pending = failure.unfinished
            if pending.isEmpty {
                failure.leavesOlder = await !outdate(key, by: newest)
                if error is StoreError || failure.leavesOlder { throw failure }
                throw error
            }
            let end = Unfinished()
            Unfinished.whenOver(pending) {
                world.spawn {
                    _ = await outdate(key, by: newest)
                    end.end()
                }
            }
            failure.leavesOlder = true
            failure.unfinished = [end]
            throw failure
        }
    }

    /// Expires what lies under `key`, or removes it where that fails, unless it is the newest answer.
    ///
    /// - Returns: whether nothing older is left that passes as current.
    func outdate(_ key: Key, by newest: Newest) async -> Bool {
        if let older = try? await hasOlder(key, than: newest) {
            if !older.isThere { return true }
            // To mark the older one would mark the newest too: only what they are kept in can tell them apart.
            if older.isBesideNewest { return false }
        }
        do {
            try await expire(key)
            return true
        } catch {}
        do {
            try await remove(.key(key))
            return true
        } catch {
            return false
        }
    }

    private func hasOlder(_ key: Key, than newest: Newest) async throws -> (isThere: Bool, isBesideNewest: Bool) {
        var result = (isThere: false, isBesideNewest: false)
        var found = try await read(key)
        for _ in 0..<8 {
            guard let last = found else { break }
            if !newest.outdates(last.entry) {
                result.isBesideNewest = true
            } else if !last.entry.metadata.isExpired {
                result.isThere = true
            }
            found = try await read(key, below: last)
        }
        return result
    }
}

/// The answer that a store failed to keep, as far as others are told apart from it.
struct Newest: Sendable {
    private let size: Int
    private let sum: UInt64

    init(_ entry: Entry) {
        size = entry.payload.size
        sum = Self.sum(of: entry.payload)
    }

    /// Whether an entry holds another payload, which was there before.
    func outdates(_ entry: Entry) -> Bool {
        entry.payload.size != size || Self.sum(of: entry.payload) != sum
    }

    private static func sum(of payload: Payload) -> UInt64 {
        payload.bytes.withUnsafeBytes { Checksum.of($0) }
    }
}
