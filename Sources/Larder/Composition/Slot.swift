/// Where a resource's present graph is found, so that handles name a resource and not a graph.
final class Slot: Sendable {
    private struct State {
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
    private let present = Swapped<LoaderGraph>()
    private let state = Locked(State())

    let hearing: Hearing

    init(_ name: String, heardBy hearing: Hearing) {
        self.name = name
        self.hearing = hearing
    }

    var graph: LoaderGraph? { present.use { $0 } }

    /// The present graph's answer, if it can be given at once.
    @inline(__always)
    func answer(_ request: Request, codec: AnyCodec) -> Loaded<Entry>? {
        present.use { $0.root.answer(request, codec: codec, for: .showing) }
    }

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
        // Its shelf is among the former ones before it goes, so that a clearing finds every shelf in use.
        let shelf = self.graph?.shelf
        state.withLock { state in
            state.former.removeAll { $0.shelf == nil }
            if let shelf, shelf !== graph?.shelf { state.former.append(Former(shelf: shelf)) }
        }
        withExtendedLifetime(present.replace(with: graph)) {}
    }

    /// Waits until the answers that have arrived are saved, also where former graphs are still in use.
    func settle() async {
        let former = state.withLock { $0.former.map(\.shelf) }
        for shelf in [graph?.shelf] + former { await shelf?.flights.settle() }
    }

    /// Forgets the selected entries, also where former graphs are still in use.
    ///
    /// - Throws: the first failure, after all were tried.
    func clear(_ selection: Selection) async throws {
        var failure: (any Error)?
        let present = graph?.shelf
        let former = state.withLock { $0.former.map(\.shelf) }
        for shelf in [present] + former.filter({ $0 !== present }) {
            do { try await shelf?.clear(selection) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
