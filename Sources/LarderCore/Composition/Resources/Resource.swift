public import LarderFoundation

/// A handle for one resource and one type of value.
///
/// A handle names a resource, not a graph. So it can be kept, and it follows when policies are reloaded. Making a
/// handle is cheap; keeping one is cheaper.
public struct Resource<Value: Sendable>: Sendable {
    @usableFromInline let resourceState: ResourceState
    @usableFromInline let codec: AnyCodec
    @usableFromInline let pantry: Pantry

    init(resourceState: ResourceState, codec: AnyCodec, pantry: Pantry) {
        self.resourceState = resourceState
        self.codec = codec
        self.pantry = pantry
    }

    /// The resource's name.
    public var name: String { resourceState.name }

    /// The metrics of this resource's loads so far.
    public var metrics: ResourceMetrics { resourceState.metrics }

    /// Returns the metrics of the last `length`, at most an hour. The window may begin up to 20 seconds earlier, or up
    /// to five minutes earlier if `length` is more than five minutes.
    public func metrics(last length: Duration) -> ResourceMetrics { resourceState.metrics(last: length) }

    /// Returns a request for one instance, to be loaded once or many times.
    ///
    /// If `scope` is nil and the policy's origin signs its calls for an account, the scope is that account. The request
    /// stays in the scope when another account signs in.
    public func request(
        _ parameters: Parameters = [:], scope: String? = nil, mode: Request.Mode = .normal,
        deadline: Duration? = nil, priority: Request.Priority = .normal, fields: Fields = [:], body: Data? = nil,
        purpose: Request.Purpose = .user, noOlderThan: Duration? = nil
    ) -> Request {
        resourceState.owned(
            resourceState.request(
                parameters, scope: scope, mode: mode, deadline: deadline, priority: priority, fields: fields,
                body: body, purpose: purpose, noOlderThan: noOlderThan))
    }

    /// Loads one instance as the policy says.
    ///
    /// - Parameters:
    ///   - parameters: the parameters that identify the instance.
    ///   - scope: the account that the instance belongs to; nil for none, or for the account in whose name the policy's
    ///     origin signs its calls. Two accounts never see each other's copies.
    ///   - mode: whether to ask the origin now, or never.
    ///   - deadline: the longest time to wait for the origin.
    ///   - priority: the urgency, for calls that have to queue.
    ///   - fields: texts for the origin that are not part of the key, such as `Accept-Language`.
    ///   - body: the body of a lookup that does not fit into parameters.
    ///   - purpose: the purpose of the load, for metrics and origins.
    ///   - noOlderThan: the age from which a copy is too old for this caller.
    /// - Throws: ``LoadError``, or `CancellationError` if the task is cancelled.
    @inlinable
    public nonisolated(nonsending) func load(
        _ parameters: Parameters = [:], scope: String? = nil, mode: Request.Mode = .normal,
        deadline: Duration? = nil, priority: Request.Priority = .normal, fields: Fields = [:], body: Data? = nil,
        purpose: Request.Purpose = .user, noOlderThan: Duration? = nil
    ) async throws -> Loaded<Value> {
        try await load(
            resourceState.request(
                parameters, scope: scope, mode: mode, deadline: deadline, priority: priority, fields: fields,
                body: body, purpose: purpose, noOlderThan: noOlderThan))
    }

    /// Loads the answer to a request as the policy says.
    ///
    /// A copy in memory that may be served is returned at once, without leaving the caller's actor. All other work runs
    /// off it.
    ///
    /// - Throws: ``LoadError``, or `CancellationError` if the task is cancelled.
    @inlinable
    public nonisolated(nonsending) func load(_ request: Request) async throws -> Loaded<Value> {
        if let loaded = directAnswer(request) { return loaded }
        if let loaded = unusualAnswer(request) { return loaded }
        return try value(of: try await resourceState.load(request, codec: codec, in: pantry))
    }

    /// Returns the answer to a request if a copy in memory may be served at once. This is for code that cannot wait,
    /// such as a cell that is about to be drawn. An answer counts as a load and may start a refresh. Returns nil
    /// otherwise, which counts as nothing.
    @inlinable
    public func answer(_ request: Request) -> Loaded<Value>? {
        if let loaded = directAnswer(request) { return loaded }
        return unusualAnswer(request)
    }

    /// Returns the value of a copy in memory for a plain request. Returns nil if ``unusualAnswer(_:)`` must be asked.
    @inlinable @inline(__always)
    func directAnswer(_ request: Request) -> Loaded<Value>? {
        var (value, details, provenance) = (Value?.none, Metadata.DetailsBox?.none, Provenance())
        let isAnswered = resourceState.directAnswer(request, codec: codec, provenance: &provenance) { entry in
            value = entry.payload.keptValue(by: codec)
            // Most entries have no details, and copying nil costs more than asking.
            if entry.metadata.hasDetails { details = entry.metadata.details }
            return value != nil
        }
        guard isAnswered, let value = value.take() else { return nil }
        if let details { provenance.hold(details) }
        return Loaded(value, provenance: provenance)
    }

    /// Returns the value of a copy in memory that is shown at once although the request or the key is unusual, or
    /// although somebody listens. A request without a scope may belong to the present account.
    @inlinable @inline(never)
    func unusualAnswer(_ request: Request) -> Loaded<Value>? {
        var (value, provenance) = (Value?.none, Provenance())
        if let owned = resourceState.inScope(request) { return directAnswer(owned) ?? unusualAnswer(owned) }
        let isAnswered = resourceState.unusualAnswer(request, codec: codec, provenance: &provenance) { entry in
            value = entry.payload.keptValue(by: codec)
            return value != nil
        }
        guard isAnswered, let value else { return nil }
        return Loaded(value, provenance: provenance)
    }

    /// Returns whether the store has a copy of this instance, whatever the validators permit. If answers vary by fields
    /// of the request, it is the copy for a request without fields.
    ///
    /// - Throws: the error of the store.
    public func contains(_ parameters: Parameters = [:], scope: String? = nil) async throws -> Bool {
        try await contains(request(parameters, scope: scope))
    }

    /// Returns whether the store has a copy for this request, whatever the validators permit. If answers vary by fields
    /// of the request, it is the copy for its values.
    ///
    /// - Throws: the error of the store.
    public func contains(_ request: Request) async throws -> Bool {
        let graph = try graph()
        return try await graph.storeAccess.contains(graph.prepared(resourceState.owned(request)))
    }

    /// Saves a copy as if it had come from the origin at the time in its metadata, for tests of policies.
    ///
    /// - Returns: whether the store keeps it. An entry that may be used but not kept is not written.
    /// - Throws: ``Refusal`` if a validator does not admit it; the error of the store.
    package func stock(_ entry: Entry, for request: Request) async throws -> Bool {
        let graph = try graph()
        var entry = entry
        guard try graph.validators.admit(&entry, from: .origin, for: request) == .keep else { return false }
        return try await graph.storeAccess.store.write(entry, for: request.key)
    }

    /// Removes the copies of one instance, whatever the fields of the requests they answer. Running calls for it save
    /// nothing.
    ///
    /// - Throws: the error of the store.
    public func clear(_ parameters: Parameters, scope: String? = nil, body: Data? = nil) async throws {
        try await clear(.key(request(parameters, scope: scope, body: body).key))
    }

    /// Removes the selected copies of this resource: all of them, those of one account, or those with a tag. Running calls
    /// save nothing that is selected.
    ///
    /// - Parameters:
    ///   - selection: the copies that are removed.
    ///   - discardingUnsent: whether changes of a user that a section has not sent yet are discarded as well. They cannot
    ///     be restored.
    /// - Throws: the error of the store.
    public func clear(_ selection: Selection = .all, discardingUnsent: Bool = false) async throws {
        // The copies of a removed policy are cleared too, although naming its resource is an error.
        let outcome = await pantry.clear(selection, discardingUnsent: discardingUnsent, of: name)
        if let failure = outcome.store ?? outcome.rest { throw failure }
        _ = try graph()
    }

    /// Returns the size of the store and the outcomes of its reads so far. A read of a copy that the validators refuse
    /// counts as a miss.
    ///
    /// - Throws: ``LoadError`` if there is no such resource.
    public func statistics() async throws -> StoreStatistics {
        try await graph().storeAccess.statistics()
    }

    func graph() throws(LoadError) -> LoaderGraph { try resourceState.graph(in: pantry) }

    @inlinable
    func value(of loaded: consuming Loaded<Entry>) throws -> Loaded<Value> {
        let value: Value = try loaded.content.payload.value(by: codec)
        loaded.provenance.hold(loaded.content.metadata)
        return Loaded<Value>(value, provenance: loaded.provenance)
    }
}
