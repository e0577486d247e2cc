public import LarderFoundation
import LarderSystem

/// The present graph of a resource, and the state that outlives it. Handles refer to this, not to a graph.
@usableFromInline
final class ResourceState: Sendable {
    private struct State {
        /// The stores of former graphs that running loads may still use.
        var former: [Former] = []
    }

    private struct Former {
        weak var storeAccess: StoreAccess?
        /// The places that it used when its graph was replaced.
        let first: Set<PlaceName>
        /// Its graph's places. A store that was not open then may have got one later.
        weak var held: HeldPlaces?

        var places: Set<PlaceName> { first.union(held?.held ?? []) }
    }

    let name: String
    let resourceName: ResourceName
    let meterHistory = MeterHistory()
    /// The listeners to saved entries of the resource.
    let saved = Listeners<SavedEntry>()
    /// The listeners to the changes that others make in the store.
    let changed = Listeners<Selection>()
    /// The records of its keys, shared by all stores of the resource.
    let keys: KeyTable
    let unfinishedClearings: UnfinishedClearings
    let present = AtomicReference<LoaderGraph>()
    private let state = Locked(State())

    let sinks: EventSinks

    /// - Parameter cleared: the clearings of all processes that use the cache folder.
    init(_ name: String, reportingTo sinks: EventSinks, problems: CacheProblems, cleared: ClearingLog) {
        keys = KeyTable(seeing: ResourceClearings(log: cleared, folder: PlaceName.folder(of: name)))
        self.name = name
        resourceName = ResourceName(name)
        unfinishedClearings = UnfinishedClearings(of: name, problems: problems)
        self.sinks = sinks
    }

    var graph: LoaderGraph? { present.use { $0 } }

    /// Returns whether an answer has data of the present policy's source. The answer to a call of a former policy may not.
    func isOfPresentSource(_ saved: SavedEntry) -> Bool {
        guard let mark = saved.source?.own, let source = graph?.policy.source else { return true }
        return source.contains(mark)
    }

    /// Returns a request for an instance of the resource.
    @usableFromInline
    func request(
        _ parameters: Parameters, scope: String?, mode: Request.Mode, deadline: Duration?, priority: Request.Priority,
        fields: Fields, body: Data?, purpose: Request.Purpose, noOlderThan: Duration?
    ) -> Request {
        Request(
            Key.of(
                name, beginning: resourceName.beginning, scope: scope, parameters: parameters,
                bodyDigest: body.map { SHA256.hex($0) }), mode: mode,
            deadline: deadline, priority: priority, fields: fields, body: body, purpose: purpose,
            noOlderThan: noOlderThan)
    }

    /// Returns the present graph, or throws an error that names the resources of `pantry`.
    func graph(in pantry: Pantry) throws(LoadError) -> LoaderGraph {
        if let graph { return graph }
        throw LoadError(.noSuchResource, "no such resource; \(Self.list(pantry.resources, near: name))")
    }

    /// Returns the names of resources in words, the nearest one last.
    private static func list(_ names: [String], near name: String) -> String {
        let most = 20
        let more = names.count > most ? " and \(names.count - most) more" : ""
        let nearest = closestName(to: name, among: names).map { " (did you mean '\($0)'?)" } ?? ""
        return "there are: \(names.prefix(most).joined(separator: ", "))\(more)\(nearest)"
    }

    /// Finds a copy that may be shown at once, without asking any loader. `take` takes the value of its entry, and
    /// `provenance` becomes that of the value.
    ///
    /// - Returns: whether there is such a copy.
    @usableFromInline
    func directAnswer(
        _ request: Request, codec: AnyCodec, provenance: inout Provenance, take: (Entry) -> Bool
    ) -> Bool {
        guard request.key.isOf(resourceName) else { return false }
        return present.use { $0.directHit?.answer(request, codec: codec, provenance: &provenance, take: take) }
            ?? false
    }

    /// Finds a copy that may be shown at once although ``directAnswer(_:codec:provenance:take:)`` has found none.
    @usableFromInline @inline(never)
    func unusualAnswer(
        _ request: Request, codec: AnyCodec, provenance: inout Provenance, take: (Entry) -> Bool
    ) -> Bool {
        guard request.key.isOf(resourceName) else { return false }
        return present.use { $0.directHit?.unusualAnswer(request, codec: codec, provenance: &provenance, take: take) }
            ?? false
    }

    /// Returns a request without a scope in that of the present account. Returns nil if it has one, if the policy's origin
    /// signs no calls, or if nobody is signed in.
    @usableFromInline @inline(never)
    func inScope(_ request: Request) -> Request? {
        // The account is asked before the graph is used, because it is code of the app.
        guard request.key.scope == nil, graph?.account != nil else { return nil }
        let owned = owned(request)
        return owned.key.scope == nil ? nil : owned
    }

    /// Returns the present graph's answer, however long it takes.
    ///
    /// - Throws: ``LoadError``, also when the request is for another resource or `pantry` has no policy for this one;
    ///   `CancellationError` when the task is cancelled.
    @usableFromInline
    nonisolated(nonsending) func load(
        _ request: Request, codec: AnyCodec, in pantry: Pantry
    ) async throws -> Loaded<Entry> {
        let graph = try graph(in: pantry)
        return try await graph.root.load(call(for: request, codec: codec, by: graph))
    }

    // Apart from the function that waits: see ``MeasuredLoader``.
    @inline(never)
    private func call(for request: Request, codec: AnyCodec, by graph: LoaderGraph) throws(LoadError) -> Call {
        guard request.key.isOf(resourceName) else { throw LoadError.otherResource }
        return graph.call(for: graph.account == nil ? request : owned(request), codec: codec)
    }

    /// The metrics so far, with the revision that is in effect.
    var metrics: ResourceMetrics {
        var metrics = meterHistory.total
        metrics.revision = graph?.policy.revision ?? ""
        return metrics
    }

    func metrics(last length: Duration) -> ResourceMetrics {
        var metrics = meterHistory.last(length)
        metrics.revision = graph?.policy.revision ?? ""
        return metrics
    }

    /// Replaces the graph. Running loads finish on the graph that they started with.
    func replace(with graph: LoaderGraph?) {
        if let graph {
            meterHistory.enter(graph.meter, of: graph.policy)
            graph.storeAccess.meter.count(with: graph.meter)
            for held in graph.attachments {
                held.meter.change(to: graph.meter)
                held.fetcher.change(to: graph.fetcher)
            }
        }
        // The old store is added to the former ones before it is replaced, so that a clearing finds every store in use.
        let last = self.graph
        state.withLock { state in
            state.former.removeAll { $0.storeAccess == nil }
            if let last, last.storeAccess !== graph?.storeAccess {
                state.former.append(Former(storeAccess: last.storeAccess, first: last.places.held, held: last.places))
            }
        }
        withExtendedLifetime(present.replace(with: graph)) {}
    }

    /// Every store in use, the present one first. `places` returns those in use at the time of its call, because a
    /// store that is opened late gets them late.
    var stores: [(storeAccess: StoreAccess, places: () -> Set<PlaceName>)] {
        let present = graph.map { graph in (graph.storeAccess, { graph.places.held }) }
        let former = state.withLock {
            $0.former.compactMap { former in former.storeAccess.map { ($0, { former.places }) } }
        }
        return (present.map { [$0] } ?? []) + former.filter { $0.0 !== present?.0 }
    }
}
