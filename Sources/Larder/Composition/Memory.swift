extension Pantry {
    /// Lets go of what is kept in memory only because it is faster there: everything in `memory` stores and tiers.
    ///
    /// On Apple's systems a pantry does so by itself when memory is short. Elsewhere it is for whoever notices: a server
    /// near its limit, a view that goes to the background.
    public func relieve() {
        for graph in graphs { graph.shelf.store.relieve() }
    }

    /// What stores in memory forget from now on without being asked to, for code that keeps something beside an entry.
    /// Every access gives a stream of its own, which ends with the pantry; of what nobody takes, the last thousand are kept.
    public var forgotten: AsyncStream<Forgotten> { hearing.forgotten.stream(most: 1_000) }
}
