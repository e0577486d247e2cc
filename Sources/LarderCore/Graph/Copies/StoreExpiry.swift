import LarderSystem

extension StoreAccess {
    /// Marks the selected entries as expired. Calls under way save nothing, and later loads do not join them, because
    /// their answers may be older than the reason for the expiry.
    func expire(_ selection: Selection) async throws {
        defer { keys.closeFlights(of: selection) }
        do {
            try await keys.clear(selection, in: world) { [self] in
                if let tag = await variantTag(of: selection) { try await store.expireVariants(with: tag) }
                try await store.expire(selection)
            }
        } catch {
            _ = meter.report(error, effect: .notExpired, trail: Trail.Recorder())
            throw error
        }
        meter.present.count(.expirations)
        meter.works(.write)
    }

    // MARK: Changes by others

    /// Applies the changes of a stream, until it ends. Takes each change from the stream at once, so that none waits there.
    func apply(_ changes: AsyncStream<StoreChange>, in world: any World) -> Task<Void, Never> {
        let waiting = WaitingChanges()
        world.spawn { [weak self] in
            while let change = await waiting.next() { await self?.apply(change) }
        }
        return world.spawn { [weak self] in
            for await change in changes {
                if waiting.add(change) {
                    self?.meter.present.send(
                        .storeFault, "too many changes by others: all copies of the upper tiers are dropped")
                }
            }
            waiting.finish()
        }
    }

    /// Removes the store's own copies of entries that others changed, and tells the listeners.
    func apply(_ change: StoreChange) async {
        do {
            try await keys.clear(change.selection, voiding: .readings, in: world) { try await change.discard() }
        } catch {
            _ = meter.report(error, effect: .notDropped, trail: Trail.Recorder())
        }
        if !prefetched.isEmpty { await lookForEvicted() }
        // Others may have made another variation of a key.
        variations.forget(change.selection)
        news.send(change.selection)
    }

    /// Marks the selected entries as expired after a change at the origin, or removes them if that fails: they must not
    /// stay fresh.
    ///
    /// - Returns: the failures of the store as steps of a trail.
    func invalidate(_ selection: Selection) async -> [Trail.Step] {
        let trail = Trail.Recorder()
        do {
            try await expire(selection)
        } catch {
            do { try await clear(selection) } catch { trail.note("store", .notInvalidated) }
        }
        return trail.steps
    }
}
