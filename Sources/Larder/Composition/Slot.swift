/// Where a resource's present graph is found, so that handles name a resource and not a graph.
final class Slot: Sendable {
    private struct State {
        var graph: LoaderGraph?
        /// Shelves of former graphs that loads under way may still use.
        var former: [Former] = []
    }

    private struct Former {
        weak var shelf: Shelf?
    }

    let name: String
    let ledger = Ledger()
    let observers = Observers()
    let order = Order()
    private let state = Locked(State())

    let hearing: Hearing

    init(_ name: String, heardBy hearing: Hearing) {
        self.name = name
        self.hearing = hearing
    }

    var graph: LoaderGraph? { state.withLock { $0.graph } }

    /// What happened so far, and the revision that is in effect.
    var metrics: ResourceMetrics {
        var metrics = ledger.total
        metrics.revision = graph?.policy.revision ?? ""
        return metrics
    }

    func metrics(last length: Duration) -> ResourceMetrics {
        var metrics = ledger.last(length)
        metrics.revision = graph?.policy.revision ?? ""
        return metrics
    }

    /// Puts another graph in place. Loads under way finish on the one they started on.
    func replace(with graph: LoaderGraph?) {
        if let graph {
            ledger.enter(graph.meter)
            graph.shelf.count(with: graph.meter)
        }
        // The last graph may be the last to hold a store: it is let go outside the lock.
        let last = state.withLock { state -> LoaderGraph? in
            let last = state.graph
            state.former.removeAll { $0.shelf == nil }
            if let shelf = last?.shelf, shelf !== graph?.shelf { state.former.append(Former(shelf: shelf)) }
            state.graph = graph
            return last
        }
        withExtendedLifetime(last) {}
    }

    /// Forgets the selected entries, also where former graphs are still in use.
    ///
    /// - Throws: the first failure, after all were tried.
    func clear(_ selection: Selection) async throws {
        var failure: (any Error)?
        for shelf in state.withLock({ [$0.graph?.shelf] + $0.former.map(\.shelf) }) {
            do { try await shelf?.clear(selection) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
