/// The outcome of clearing the stores of one resource.
struct ClearedStores: Sendable {
    /// The places that were cleared by every store that holds them.
    var places: Set<PlaceName> = []
    /// The places that a store has not cleared.
    var failedPlaces: Set<PlaceName> = []
    /// The first failure, after all stores were tried.
    var failure: (any Error)?
}

extension ResourceState {
    /// Removes the selected entries, also from the stores of former graphs that are still in use.
    func clear(_ selection: Selection) async -> ClearedStores {
        await clearing(stores) { try await $0.clear(selection) }
    }

    /// Carries out an unfinished clearing in the stores that hold some of these places. A removal that takes longer than
    /// ``LimitedStore/selectionLimit`` fails and goes on in the background.
    func finish(_ clearing: Clearing, in places: Set<PlaceName>) async -> ClearedStores {
        let concerned = stores.filter { !$0.places().isDisjoint(with: places) }
        return await self.clearing(concerned) { storeAccess in
            if let gate = storeAccess.store as? GatedStore, gate.covers(clearing) {
                try await gate.open()
            } else {
                try await storeAccess.clear(clearing.selection, within: LimitedStore.selectionLimit)
            }
        }
    }

    /// Marks the selected entries as expired, also those of the stores of former graphs that are still in use.
    ///
    /// - Throws: the first failure, after all stores were tried.
    func expire(_ selection: Selection) async throws {
        if let failure = await clearing(stores, by: { try await $0.expire(selection) }).failure { throw failure }
    }

    private func clearing(
        _ stores: [(storeAccess: StoreAccess, places: () -> Set<PlaceName>)],
        by clear: @escaping @Sendable (StoreAccess) async throws -> Void
    ) async -> ClearedStores {
        let failures = await stores.map(\.storeAccess).concurrentMap { storeAccess -> (any Error)? in
            do { try await clear(storeAccess) } catch { return error }
            return nil
        }
        var cleared = ClearedStores()
        for ((_, places), failure) in zip(stores, failures) {
            if failure == nil {
                cleared.places.formUnion(places())
            } else {
                cleared.failedPlaces.formUnion(places())
            }
            cleared.failure = cleared.failure ?? failure
        }
        cleared.places.subtract(cleared.failedPlaces)
        return cleared
    }
}

/// The resources whose stores have not finished a clearing.
struct FailedResources {
    /// The resources whose removal goes on, with the reasons.
    private var unfinished: [String] = []
    /// The resources whose removal failed, with the reasons.
    private var failed: [String] = []

    var isEmpty: Bool { unfinished.isEmpty && failed.isEmpty }

    mutating func add(_ resource: String, _ failure: any Error) {
        let text = "\(resource) (\(StoreError.tierReasons(for: failure)))"
        if StoreError.leavesUnfinished(failure) { unfinished.append(text) } else { failed.append(text) }
    }

    /// `not cleared yet: feed (file: no answer within 30s); the removal goes on, and these copies are not shown`.
    var message: String {
        var parts: [String] = []
        if !failed.isEmpty {
            parts.append("not cleared: \(failed.joined(separator: ", ")); these copies are not shown")
        }
        if !unfinished.isEmpty {
            parts.append(
                "not cleared yet: \(unfinished.joined(separator: ", ")); the removal goes on, and these copies are not shown"
            )
        }
        return parts.joined(separator: "; ")
    }
}
