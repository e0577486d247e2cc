/// Where a resource's present graph is found, so that handles name a resource and not a graph.
final class Slot: Sendable {
    private struct State {
        /// Shelves of former graphs that loads under way may still use.
        var former: [Former] = []
    }

    private struct Former {
        weak var shelf: Shelf?
        let places: Set<PlaceName>
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
        let last = self.graph
        state.withLock { state in
            state.former.removeAll { $0.shelf == nil }
            if let last, last.shelf !== graph?.shelf {
                state.former.append(Former(shelf: last.shelf, places: last.places.held))
            }
        }
        withExtendedLifetime(present.replace(with: graph)) {}
    }

    /// Waits until the answers that have arrived are saved, also where former graphs are still in use.
    func settle() async {
        for (shelf, _) in shelves { await shelf.flights.settle() }
    }

    /// Every shelf that is in use, the present one first, and the places that its store holds.
    var shelves: [(shelf: Shelf, places: Set<PlaceName>)] {
        let present = graph.map { ($0.shelf, $0.places.held) }
        let former = state.withLock { $0.former.compactMap { former in former.shelf.map { ($0, former.places) } } }
        return (present.map { [$0] } ?? []) + former.filter { $0.0 !== present?.0 }
    }
}
