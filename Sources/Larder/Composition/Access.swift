/// How a handle gets at its resource's graph, whatever the type of its values.
@usableFromInline struct Access: Sendable {
    let slot: Slot
    @usableFromInline let codec: AnyCodec
    let pantry: Pantry

    /// The answer that can be given at once; nil also for a request that ``load(_:)`` has something to say about.
    @usableFromInline
    func answer(_ request: Request) -> Loaded<Entry>? {
        guard request.key.resource == slot.name else { return nil }
        return slot.answer(request, codec: codec)
    }

    /// The answer, however long it takes.
    ///
    /// - Throws: ``LoadError``, also when there is no such resource or the request is for another one.
    @usableFromInline
    nonisolated(nonsending) func load(_ request: Request) async throws -> Loaded<Entry> {
        let (graph, call) = try call(for: request)
        return try await graph.root.load(call)
    }

    @inline(never)
    private func call(for request: Request) throws(LoadError) -> (LoaderGraph, Call) {
        let graph = try graph()
        guard request.key.resource == slot.name else {
            throw LoadError(.noSuchResource, "the request is for another resource")
        }
        var call = Call(request, codec: codec)
        call.due = request.deadline.map { graph.world.uptime + $0 }
        call.ticket = graph.shelf.order.begin(request.key)
        return (graph, call)
    }

    func graph() throws(LoadError) -> LoaderGraph {
        if let graph = slot.graph { return graph }
        let known = pantry.resources.joined(separator: ", ")
        throw LoadError(.noSuchResource, "no such resource; there are: \(known)")
    }
}
