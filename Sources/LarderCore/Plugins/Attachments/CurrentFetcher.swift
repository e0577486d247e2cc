import LarderSystem

/// The fetcher of the graph to which a section belongs. A section that a reload leaves alone belongs to the new graph.
final class CurrentFetcher: Sendable {
    private let current = Locked<Fetcher?>(nil)

    /// The fetcher; nil until the policy is in effect for the first time.
    var fetcher: Fetcher? { current.withLock { $0 } }

    func change(to fetcher: Fetcher) {
        let former = current.withLock { current in
            defer { current = fetcher }
            return current
        }
        // The loaders of the former graph are code of plugins, so they end outside the lock.
        withExtendedLifetime(former) {}
    }
}
