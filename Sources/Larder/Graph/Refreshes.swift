/// The keys that are being refreshed in the background: each by one refresh at a time.
package final class Refreshes: Sendable {
    private let running = Locked<Set<Key>>([])

    package init() {}

    /// Whether a refresh of `key` may start now. If so, ``end(_:)`` must follow.
    func begin(_ key: Key) -> Bool { running.withLock { $0.insert(key).inserted } }

    /// The refresh ended.
    func end(_ key: Key) { running.withLock { _ = $0.remove(key) } }
}
