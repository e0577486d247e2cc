import LarderSystem

/// The keys that are being refreshed in the background. Each key has at most one refresh at a time.
package final class Refreshes: Sendable {
    private let running = Locked<Set<Key>>([])

    package init() {}

    /// Begins a refresh of `key`. Returns false if one is under way; otherwise ``end(_:)`` must follow.
    func begin(_ key: Key) -> Bool { running.withLock { $0.insert(key).inserted } }

    /// Returns whether `key` is being refreshed.
    func isUnderWay(_ key: Key) -> Bool { running.withLock { $0.contains(key) } }

    /// Ends the refresh of `key`.
    func end(_ key: Key) { running.withLock { _ = $0.remove(key) } }
}
