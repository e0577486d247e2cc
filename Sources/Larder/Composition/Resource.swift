#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A handle for one resource and one type of value.
///
/// It names a resource, not a graph: it can be kept, and follows when policies are reloaded. Making one is cheap;
/// keeping one is cheaper.
public struct Resource<Value: Sendable>: Sendable {
    let slot: Slot
    let codec: AnyCodec
    let pantry: Pantry

    /// The resource's name.
    public var name: String { slot.name }

    /// What happened to this resource's loads so far.
    public var metrics: ResourceMetrics { slot.metrics }

    /// What happened to its loads in the last `length`, up to an hour, and up to twenty seconds before; up to five minutes
    /// before, if it is more than five minutes.
    public func metrics(last length: Duration) -> ResourceMetrics { slot.metrics(last: length) }

    /// A request for one instance, to be loaded once or many times.
    public func request(
        _ parameters: [String: String] = [:], scope: String? = nil, mode: Request.Mode = .normal,
        deadline: Duration? = nil, priority: Request.Priority = .normal
    ) -> Request {
        Request(name, parameters, scope: scope, mode: mode, deadline: deadline, priority: priority)
    }

    /// One instance, as the policy says.
    ///
    /// - Parameters:
    ///   - parameters: which instance.
    ///   - scope: whose; two accounts never see each other's.
    ///   - mode: ask the origin now, or never.
    ///   - deadline: how long to wait for the origin at most.
    ///   - priority: how urgent it is, where calls have to queue.
    /// - Throws: ``LoadError``, or `CancellationError` when the task is cancelled.
    public nonisolated(nonsending) func load(
        _ parameters: [String: String] = [:], scope: String? = nil, mode: Request.Mode = .normal,
        deadline: Duration? = nil, priority: Request.Priority = .normal
    ) async throws -> Loaded<Value> {
        try await load(
            request(parameters, scope: scope, mode: mode, deadline: deadline, priority: priority))
    }

    /// The answer to a request, as the policy says.
    ///
    /// A copy in memory that may be shown is returned at once, without leaving the caller's actor. Everything else
    /// happens off it.
    ///
    /// - Throws: ``LoadError``, or `CancellationError` when the task is cancelled.
    public nonisolated(nonsending) func load(_ request: Request) async throws -> Loaded<Value> {
        let graph = try graph()
        guard request.key.resource == name else {
            throw LoadError(.noSuchResource, "the request is for another resource")
        }
        var call = Call(request, codec: codec, trail: .silent)
        if let loaded = graph.root.answer(call) { return try value(of: loaded) }
        call.trail = Trail.Recorder()
        call.due = request.deadline.map { graph.world.uptime + $0 }
        call.ticket = graph.shelf.order.begin(request.key)
        return try value(of: try await graph.root.load(call))
    }

    /// Whether a copy of this instance is kept, whatever it may be used for.
    ///
    /// - Throws: what the store throws.
    public func contains(_ parameters: [String: String] = [:], scope: String? = nil) async throws -> Bool {
        try await graph().shelf.store.read(request(parameters, scope: scope).key) != nil
    }

    /// Keeps a copy as if it had come from the origin at the time its metadata says: for tests of policies.
    ///
    /// - Returns: whether the store keeps it.
    /// - Throws: ``Refusal`` when it is not admitted; what the store throws.
    package func stock(_ entry: Entry, for request: Request) async throws -> Bool {
        let graph = try graph()
        var entry = entry
        try graph.validators.admit(&entry, from: .origin)
        return try await graph.shelf.store.write(entry, for: request.key)
    }

    /// Forgets the copy of one instance. Calls for it under way save nothing.
    ///
    /// - Throws: what the store throws.
    public func clear(_ parameters: [String: String], scope: String? = nil) async throws {
        try await present().clear(.key(request(parameters, scope: scope).key))
    }

    /// Forgets the copies of one account, or of nobody. Its calls under way save nothing.
    ///
    /// - Throws: what the store throws.
    public func clear(scope: String?) async throws {
        try await present().clear(.scope(scope))
    }

    /// Forgets the copies that bear this tag. Calls under way do not save what bears it.
    ///
    /// - Throws: what the store throws.
    public func clear(tag: String) async throws {
        try await present().clear(.tag(tag))
    }

    /// Forgets every copy of this resource. Calls under way save nothing.
    ///
    /// - Throws: what the store throws.
    public func clear() async throws {
        try await present().clear(.all)
    }

    /// How much is kept and how it went so far.
    ///
    /// - Throws: ``LoadError`` when there is no such resource.
    public func statistics() async throws -> StoreStatistics {
        try await graph().shelf.store.statistics()
    }

    private func present() throws(LoadError) -> Slot {
        _ = try graph()
        return slot
    }

    func graph() throws(LoadError) -> LoaderGraph {
        if let graph = slot.graph { return graph }
        let known = pantry.resources.joined(separator: ", ")
        throw LoadError(.noSuchResource, "no such resource; there are: \(known)")
    }

    func value(of loaded: Loaded<Entry>) throws -> Loaded<Value> {
        try loaded.map { entry in
            guard let value = try entry.payload.decode(with: codec) as? Value else {
                throw LoadError(.undecodable, "the codec gave a value of another type")
            }
            return value
        }
    }
}
