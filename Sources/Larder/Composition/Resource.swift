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
    @usableFromInline let access: Access

    init(slot: Slot, codec: AnyCodec, pantry: Pantry) {
        access = Access(slot: slot, codec: codec, pantry: pantry)
    }

    var slot: Slot { access.slot }

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
    @inlinable
    public nonisolated(nonsending) func load(_ request: Request) async throws -> Loaded<Value> {
        if let loaded = access.answer(request) { return try value(of: loaded) }
        return try value(of: try await access.load(request))
    }

    /// The answer to a request, if a copy in memory may be shown at once: for code that cannot wait, such as a cell that is
    /// about to be drawn. It counts as a load, and may start a refresh. Nil leaves no trace.
    @inlinable
    public func answer(_ request: Request) -> Loaded<Value>? {
        guard let loaded = access.answer(request) else { return nil }
        return try? value(of: loaded)
    }

    /// Whether a copy of this instance is kept, whatever it may be used for.
    ///
    /// - Throws: what the store throws.
    public func contains(_ parameters: [String: String] = [:], scope: String? = nil) async throws -> Bool {
        try await graph().shelf.contains(request(parameters, scope: scope).key)
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
        try await clear(.key(request(parameters, scope: scope).key))
    }

    /// Forgets the copies of one account, or of nobody. Its calls under way save nothing.
    ///
    /// - Throws: what the store throws.
    public func clear(scope: String?) async throws {
        try await clear(.scope(scope))
    }

    /// Forgets the copies that bear this tag. Calls under way do not save what bears it.
    ///
    /// - Throws: what the store throws.
    public func clear(tag: String) async throws {
        try await clear(.tag(tag))
    }

    /// Forgets every copy of this resource. Calls under way save nothing.
    ///
    /// - Throws: what the store throws.
    public func clear() async throws {
        try await clear(.all)
    }

    /// How much is kept and how reads of the store went so far. A read whose copy the validators refuse is a miss.
    ///
    /// - Throws: ``LoadError`` when there is no such resource.
    public func statistics() async throws -> StoreStatistics {
        try await graph().shelf.statistics()
    }

    private func clear(_ selection: Selection) async throws {
        // Copies of a policy that is gone are cleared too, though naming it is an error.
        let outcome = await access.pantry.clear(selection, of: name)
        if let failure = outcome.store ?? outcome.rest { throw failure }
        _ = try graph()
    }

    func graph() throws(LoadError) -> LoaderGraph { try access.graph() }

    @inlinable
    func value(of loaded: consuming Loaded<Entry>) throws -> Loaded<Value> {
        Loaded<Value>(try loaded.value.payload.value(by: access.codec), account: loaded.account)
    }
}
