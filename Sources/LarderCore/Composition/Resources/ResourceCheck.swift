package import LarderSystem

// Checking a store, for apps and commands.
extension Resource {
    /// Reads every copy in the store, whatever the validators permit, and removes the damaged ones.
    ///
    /// Like a load, it counts a copy as damaged that a validator refuses, such as one whose checksum differs.
    ///
    /// Loads go on meanwhile. A copy that is written, removed or moved between tiers meanwhile may be read or not. Of a copy
    /// in several tiers, only the one that a load would get is read. A copy whose key cannot be read is not listed; it is
    /// never served.
    ///
    /// - Parameter progress: called with the share of the copies that were read, from 0 to 1.
    /// - Throws: the error of the store. Its `StoreError.isUnsupported` is set if the store cannot list its entries.
    public func verify(progress: (Double) -> Void = { _ in }) async throws -> StoreVerification {
        let graph = try graph()
        return try await graph.storeAccess.store.verify(progress: progress) { entry, key in
            // The marker of a variation has no payload of the origin.
            if Variation(marker: entry) != nil { return true }
            var entry = entry
            let request = Request(name, key.parameters, scope: key.scope)
            return (try? await graph.validators.admit(&entry, from: .store, for: request, in: graph.storeAccess.world))
                != nil
        }
    }
}

// Copies by their keys, for commands that look into a store.
extension Resource {
    /// Whether the store has handed-out places below the cache folder.
    package var hasPlaces: Bool { (try? graph())?.places.names.isEmpty == false }

    /// The folders of the store, as paths below the cache folder.
    package var places: [String] { ((try? graph())?.places.held ?? []).map(\.path).sorted() }

    /// Returns the copy under a key, whatever the validators permit. Returns nil if there is none.
    ///
    /// - Throws: the error of the store; ``StoreError`` if the answers for the key vary, so that it has several copies.
    package func copy(under key: Key) async throws -> Found? {
        guard var found = try await graph().storeAccess.store.read(key) else { return nil }
        try Self.checkIsSingle(found.entry)
        found.entry.metadata = found.entry.metadata.withoutVariantTag
        return found
    }

    /// Returns whether there is a copy, or there are copies that vary, under a key.
    package func hasCopies(under key: Key) async throws -> Bool {
        try await graph().storeAccess.store.contains(key)
    }

    /// Keeps the copy under a key from being evicted. Returns false if there is none.
    ///
    /// - Throws: the error of the store; ``StoreError`` if the answers for the key vary, so that it has several copies.
    package func pin(under key: Key) async throws -> Bool {
        let store = try graph().storeAccess.store
        if !key.isVariant, let entry = try await store.read(key)?.entry { try Self.checkIsSingle(entry) }
        let isPinned = try await store.setPinned(true, for: key)
        // Without the marker, a variant is not found.
        if isPinned, key.isVariant { _ = try await store.setPinned(true, for: key.base) }
        return isPinned
    }

    /// Removes the pin of the copy under a key.
    package func unpin(under key: Key) async throws {
        _ = try await graph().storeAccess.store.setPinned(false, for: key)
    }

    /// Returns how a copy with these facts may be used at a time.
    package func permissions(of metadata: Metadata, scope: String?, at now: Timestamp) throws -> Permissions {
        let graph = try graph()
        return graph.validators.permit(metadata, for: Request(name, scope: scope), at: now)
    }

    private static func checkIsSingle(_ entry: Entry) throws(StoreError) {
        guard Variation(marker: entry) != nil else { return }
        throw StoreError("the answers for this key vary by fields of the request: name one copy by its digest")
    }
}

extension Pantry {
    /// Returns whether a folder is one in which pantries keep the places of their stores.
    package static func isCacheFolder(_ path: String) -> Bool { Disk.isThere(path + "/.places") }

    /// Calls `listener` with the resource and a description of each fault that stores log from now on, until the subscription
    /// ends.
    package func onStoreFault(_ listener: @escaping @Sendable (String, String) -> Void) -> Subscription {
        sinks.decisions.add { if $0.kind == .storeFault, let name = $0.resource { listener(name, $0.note) } }
    }

    /// Returns the number of kept copies that are not used, because they are of another source than the policy's. Returns
    /// nil if they cannot be counted.
    package func countUnusedCopies(of resource: String) async -> Int? {
        await resourceState(resource).graph?.storeAccess.countUnusedCopies()
    }
}

extension Part {
    /// Whether the store, or a store among its settings, says that it keeps entries outside of memory.
    package var isPersistent: Bool {
        !storeTraits.keepsNothing
            && (storeTraits.isForeign || storeTraits.writesTo != nil || nested.contains(where: \.isPersistent))
    }

    /// The names of the store and the stores among its settings: `tiered (memory, sqlite)`.
    package var storeNames: String {
        let inner = nested.filter { $0.plugin.kind == .store }.map(\.storeNames)
        return inner.isEmpty ? plugin.name : "\(plugin.name) (\(inner.joined(separator: ", ")))"
    }
}
