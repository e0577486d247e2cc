public import LarderFoundation
import LarderSystem

// Saving, expiring, pinning and listing copies, for apps.
extension Resource {
    /// Saves a value that the app got by itself, such as one that a server has pushed.
    ///
    /// It counts as the answer of a call that begins and ends now: it is dated, decoded and admitted like an answer of
    /// the origin, answers of earlier calls do not replace it, and every stream of ``updates(_:)`` yields it.
    ///
    /// ```swift
    /// let request = feed.request(["id": message.id])
    /// let saved = try await feed.save(message.body, for: request, metadata: Metadata(etag: message.version))
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: the payload, as the origin would send it.
    ///   - request: the request that the value answers.
    ///   - metadata: the facts that the app knows, such as etag, content type and tags. The times are set by this method.
    /// - Returns: the value. ``Loaded/isStored`` says whether the store keeps it, and the trail why it does not.
    /// - Throws: ``LoadError`` if the request is for another resource, there is no such resource, a validator refuses
    ///   the payload, or it does not decode.
    @discardableResult
    public func save(_ bytes: Data, for request: Request, metadata: Metadata = Metadata()) async throws -> Loaded<Value>
    {
        let graph = try graph()
        guard request.key.isOf(resourceState.resourceName) else {
            throw LoadError.otherResource
        }
        return try value(
            of: try await graph.save(
                Entry(bytes, metadata), for: graph.prepared(resourceState.owned(request)), codec: codec))
    }

    /// Keeps the copy for a request from being evicted, until ``unpin(_:)`` is called or the copy is removed. If answers
    /// vary by fields of the request, this is the copy for its fields. The pin stays when the copy is replaced. See
    /// ``Store/setPinned(_:for:)``.
    ///
    /// - Returns: false if there is no copy.
    /// - Throws: the error of the store. Its `StoreError.isUnsupported` is set if the store cannot pin copies.
    public func pin(_ request: Request) async throws -> Bool {
        guard request.key.isOf(resourceState.resourceName) else { throw LoadError.otherResource }
        let graph = try graph()
        return try await graph.storeAccess.pin(graph.prepared(resourceState.owned(request)))
    }

    /// Removes the pin of the copy for a request. Does nothing if it has none.
    ///
    /// - Throws: the error of the store. Its `StoreError.isUnsupported` is set if the store cannot pin copies.
    public func unpin(_ request: Request) async throws {
        guard request.key.isOf(resourceState.resourceName) else { throw LoadError.otherResource }
        let graph = try graph()
        try await graph.storeAccess.unpin(graph.prepared(resourceState.owned(request)))
    }

    /// Returns a page of the list of all copies, whatever the validators permit. See ``Store/list(after:most:)``.
    ///
    /// - Parameters:
    ///   - cursor: the ``StorePage/next`` of the previous page; nil for the first page.
    ///   - count: the largest number of copies in the page.
    /// - Throws: the error of the store. Its `StoreError.isUnsupported` is set if the store cannot list its entries.
    public func list(after cursor: StoreCursor? = nil, most count: Int = 100) async throws -> StorePage {
        try await graph().storeAccess.list(after: cursor, most: max(1, count))
    }

    /// The entries that others change in the store from now on, such as another process that uses the same server. Each
    /// access returns a new stream, which keeps the last hundred elements that were not read.
    package var changesByOthers: AsyncStream<Selection> { resourceState.changed.stream(most: 100) }
}

extension LoaderGraph {
    /// Saves an entry as the answer of a call that begins and ends now.
    fileprivate func save(_ entry: Entry, for request: Request, codec: AnyCodec) async throws -> Loaded<Entry> {
        // A task of its own: a write that its caller gives up must not overtake a later one.
        let saving = Locked<Result<Loaded<Entry>, any Error>?>(nil)
        await world.spawn { [self] in
            do {
                let loaded = try await saveNow(entry, for: request, codec: codec)
                saving.withLock { $0 = .success(loaded) }
            } catch {
                saving.withLock { $0 = .failure(error) }
            }
        }.value
        guard let result = saving.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }

    private func saveNow(_ entry: Entry, for request: Request, codec: AnyCodec) async throws -> Loaded<Entry> {
        let ticket = storeAccess.keys.begin(request.key)
        let trail = Trail.Recorder()
        var loaded = Loaded(entry)
        let call = Call(request, codec: codec, trail: trail)
        let admission = try await validators.receive(&loaded, from: .origin, for: call, in: world)
        // Callers that come from now on must not get an older answer.
        storeAccess.keys.closeFlights(of: .key(request.key))
        switch admission {
        case .keep:
            loaded.isStored = await storeAccess.save(loaded.value, for: request, ticket: ticket, trail: trail)
        case .useOnly:
            await storeAccess.leaveUnsaved(loaded.value, for: request, ticket: ticket, trail: trail)
        }
        storeAccess.meter.present.count(.saves)
        loaded.trail = Trail(trail.steps)
        return loaded
    }
}

extension StoreAccess {
    /// Pins the copy for a request, and the marker without which a variant is not found.
    func pin(_ request: Request) async throws -> Bool {
        if !variations.knows(request.key) { await learnVariation(of: request.key) }
        let key = variations.entryKey(of: request)
        if outdatedReason(of: key)?.reasonToHide != nil { return false }
        let isPinned = try await store.setPinned(true, for: key)
        if isPinned, key.isVariant { _ = try await store.setPinned(true, for: request.key) }
        return isPinned
    }

    /// Removes the pin of the copy for a request. The marker of other variants stays pinned.
    func unpin(_ request: Request) async throws {
        if !variations.knows(request.key) { await learnVariation(of: request.key) }
        _ = try await store.setPinned(false, for: variations.entryKey(of: request))
    }
}
