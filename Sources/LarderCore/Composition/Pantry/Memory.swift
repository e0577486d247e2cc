import LarderSystem

extension Pantry {
    /// Releases everything that is kept in memory only for speed: the contents of `memory` stores and tiers.
    ///
    /// On Apple's systems a pantry does so by itself when memory is short. Elsewhere the app calls it, for example in a
    /// server near its memory limit or when a view goes to the background.
    public func relieve() {
        for graph in graphs { graph.storeAccess.relieve() }
    }

    /// A stream of the entries that stores in memory evict from now on, for code that keeps something beside an entry.
    /// Each access returns a new stream, which ends with the pantry and keeps the last thousand entries that were not
    /// read.
    public var forgotten: AsyncStream<EvictedEntry> { sinks.forgotten.stream(most: 1_000) }
}
