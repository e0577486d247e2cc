import LarderSystem

extension Pantry {
    /// Removes the selected copies of every resource: all of them, or those of one account after a logout, with
    /// `.scope("alice")`, or those with a tag. Calls that are running save nothing that is selected.
    ///
    /// Every clearing reaches all copies that were ever kept below the cache folder, including those of policies that
    /// were deleted or changed. The clearing is recorded on disk first. If the process is killed before it is finished,
    /// the next start finishes it before the pantry is made.
    ///
    /// A folder that no policy names and no process uses is deleted whole, with the copies of other accounts in it. A
    /// folder that another process uses is left to that process. At its next start, that process deletes the selected
    /// copies. Another process that uses the cache folder saves no answer of a call that began before the clearing. It
    /// drops the copies in the memory above a store in files or a database when the system tells it of the change,
    /// which takes milliseconds. A clearing does not reach copies that a resource of another process keeps in memory
    /// only.
    ///
    /// All resources are cleared at the same time. A clearing waits at most 30 seconds for writes that are under way. If
    /// they take longer, it throws, the copies are not shown, the removal goes on, and ``cacheProblems`` names the resource
    /// until the removal has ended.
    ///
    /// Changes of a user that a section keeps until they can be sent stay, for the next sign-in of their account. They are
    /// not shown to anybody else.
    ///
    /// - Parameters:
    ///   - selection: the copies that are removed.
    ///   - discardingUnsent: whether such changes are discarded as well. They cannot be restored.
    /// - Throws: ``LoadError`` naming the resources whose store failed, after all stores were tried, or if the clearing
    ///   could not be recorded or a section did not finish it in time. The next start or reload clears the copies that are left.
    public func clear(_ selection: Selection = .all, discardingUnsent: Bool = false) async throws {
        let outcome = await clear(selection, discardingUnsent: discardingUnsent, of: nil)
        var message: [String] = []
        if !outcome.failed.isEmpty { message.append(outcome.failed.message) }
        if let rest = outcome.rest { message.append(StoreError.reason(for: rest)) }
        guard let first = outcome.store ?? outcome.rest else { return }
        var error = LoadError(.failed, message.joined(separator: "; "))
        error.store = first
        throw error
    }

    /// The failures of a clearing.
    struct ClearingOutcome {
        /// The resources whose store failed.
        var failed = FailedResources()
        /// The first store's failure.
        var store: (any Error)?
        /// Another failure: the clearing was not recorded, or a place that no store holds was not deleted.
        var rest: (any Error)?
    }

    /// Removes the selected copies of one resource, or of all if `resource` is nil: records the clearing, lets the
    /// stores remove the copies, and deletes the places that no store holds.
    func clear(
        _ selection: Selection, discardingUnsent: Bool, of resource: String?
    ) async -> ClearingOutcome {
        let clearing = Clearing(selection, discardingUnsent: discardingUnsent, resource: resource)
        // Screens are emptied first, whatever happens to the stores.
        let notice = clearingNotices.begin(selection, of: resource)
        defer { clearingNotices.end(notice) }
        cancelFetches(selection, of: resource)
        clearingsUnderWay.withLock { _ = $0.insert(clearing.id) }
        defer { clearingsUnderWay.withLock { _ = $0.remove(clearing.id) } }
        let places = composer.places
        var outcome = ClearingOutcome()
        do {
            try await keptInstances.clear(selection, of: resource)
        } catch {
            outcome.rest = StoreError("cannot change the list of what is kept: \(StoreError.reason(for: error))")
        }
        var (isWritten, isKnown, isOver) = (true, true, true)
        do {
            // Policies cannot change meanwhile, so a store that is made afterwards sees the recorded clearing.
            let (others, hasPlaces) = try await world.blocking { [policies] in
                try policies.withLock { _ in (try places.announce(clearing), try places.begin(clearing)) }
            }
            isKnown = hasPlaces
            isOver = await waitForWrites(of: others)
            if !isOver { outcome.rest = outcome.rest ?? StoreError("another process has not finished a write") }
        } catch {
            isWritten = false
            outcome.rest = outcome.rest ?? StoreError("cannot record the clearing: \(StoreError.reason(for: error))")
        }
        let states = resourceStates.filter { resource == nil || $0.name == resource }
        let cleared = await cleared(states, ifUnfinished: isKnown && isWritten ? clearing : nil) {
            await $0.clear(selection)
        }
        for (state, failure) in cleared.failures {
            outcome.failed.add(state.name, failure)
            outcome.store = outcome.store ?? failure
        }
        let told = await composer.openAttachments.cleared(clearing, of: resource, whenLate: recordLate(clearing))
        outcome.rest = outcome.rest ?? told.failure
        // The stores have marked the calls under way by now, so that none of them makes such a file again.
        let unfinished = await clearUnfinished(selection, of: clearing.folder)
        outcome.rest = outcome.rest ?? unfinished.failure
        // A clearing that a late write may outlive stays recorded, so that it is repeated.
        guard isKnown, isOver else { return outcome }
        let done = cleared.places.union(told.places).union(unfinished.places)
        let pending = try? await world.blocking { [isWritten] in
            places.cleanUp(after: [clearing.id: done], unwritten: isWritten ? nil : clearing)
        }
        outcome.rest = outcome.rest ?? pending?.failure
        return outcome
    }

    /// Cancels the fetches that a clearing concerns. The tags of what is not fetched yet are not known.
    private func cancelFetches(_ selection: Selection, of resource: String?) {
        if case .tag = selection { return }
        agenda.cancel { request in
            (resource == nil || resource == request.key.resource) && selection.mayConcern(request.key)
        }
    }

    /// Waits for writes of other processes that began before they could see a clearing.
    ///
    /// - Returns: whether they ended in 30 seconds.
    private func waitForWrites(of others: ClearingLog.OthersClaims) async -> Bool {
        if others.isEmpty { return true }
        // A task of its own, because a clearing goes on if its caller is cancelled.
        let left = Locked(others)
        await world.spawn { [world] in
            let end = world.uptime + LimitedStore.selectionLimit
            while left.withLock({ !$0.isEmpty }), world.uptime < end {
                try? await world.sleep(for: .milliseconds(2))
                left.withLock { $0.look() }
            }
        }.value
        return left.withLock { $0.isEmpty }
    }

    /// Deletes the selected payloads that are not complete.
    private func clearUnfinished(
        _ selection: Selection, of folder: String?, in concerned: Set<PlaceName>? = nil
    ) async -> (places: Set<PlaceName>, failure: (any Error)?) {
        let unfinished = composer.payloadFolder.unfinished
        do {
            return try await world.blocking { unfinished.clear(selection, of: folder, in: concerned) }
        } catch {
            return ([], error)
        }
    }

    /// Lets the stores of some resources carry out a clearing, all at the same time.
    ///
    /// - Parameter recorded: the clearing, if it is recorded. It is forgotten in a place when its store has finished it
    ///   later.
    /// - Returns: the places that were cleared, and the failures in the order of the resources.
    private func cleared(
        _ states: [ResourceState], ifUnfinished recorded: Clearing?,
        by clear: @escaping @Sendable (ResourceState) async -> ClearedStores
    ) async -> (places: Set<PlaceName>, failures: [(state: ResourceState, failure: any Error)]) {
        // A store that is released with an unfinished clearing says so. It must not do that before `forget` asks.
        let stores = states.map(\.stores)
        defer { withExtendedLifetime(stores) {} }
        var places: Set<PlaceName> = []
        var failures: [(state: ResourceState, failure: any Error)] = []
        for (state, cleared) in zip(states, await states.concurrentMap(clear)) {
            places.formUnion(cleared.places)
            guard let failure = cleared.failure else { continue }
            failures.append((state, failure))
            if let recorded { forget(recorded, in: cleared.failedPlaces, of: state) }
        }
        return (places, failures)
    }

    /// Forgets a recorded clearing when the stores of a resource have finished it, so that the next start does not repeat
    /// it.
    private func forget(_ clearing: Clearing, in places: Set<PlaceName>, of state: ResourceState) {
        state.unfinishedClearings.whenFinished { [world, all = composer.places] in
            world.spawn { _ = try? await world.blocking { all.cleanUp(after: [clearing.id: places]) } }
        }
    }

    /// Returns the action that records the places which sections have cleared late. So no later reload or start clears
    /// them again.
    private func recordLate(_ clearing: Clearing) -> @Sendable (Set<PlaceName>) async -> Void {
        { [world, all = composer.places] places in
            _ = try? await world.blocking { all.cleanUp(after: [clearing.id: places]) }
        }
    }

    /// Finishes the clearings that are pending. Also deletes places that no pantry has used for a week, and unfinished
    /// payloads of processes that have ended.
    ///
    /// A clearing that takes longer than the limits goes on in the background. Its copies are not shown before it is
    /// finished, and its stores report it as a problem of the cache folder.
    func finishClearings() async {
        let places = composer.places
        let pending = try? await world.blocking { [self] in
            composer.payloadFolder.removeRemains()
            guard places.needsCleanUp(at: world.now) else { return PendingClearings() }
            return places.cleanUp(
                keeping: removesUnused
                    ? graphs.reduce(into: attachmentPlaces) { $0.formUnion($1.places.names) } : nil)
        }
        guard let pending else { return }
        // A clearing under way ends by itself. Repeating it later would remove what was saved after it.
        let underWay = clearingsUnderWay.withLock { $0 }
        let clearings = pending.clearings.filter { !underWay.contains($0.clearing.id) }
        let finished = await clearings.concurrentMap { [self] in await finish($0.clearing, in: $0.places) }
        var failure = pending.failure ?? finished.lazy.compactMap(\.failure).first
        let done = zip(clearings, finished).map { ($0.clearing.id, $1.places) }.filter { !$1.isEmpty }
        if !done.isEmpty {
            let rest = try? await world.blocking {
                places.cleanUp(after: Dictionary(done, uniquingKeysWith: { $0.union($1) }))
            }
            failure = failure ?? rest?.failure
        }
        guard let failure else { return }
        let note = "a clearing is not finished: \(StoreError.reason(for: failure))"
        sinks.decisions.send(Decision(at: world.now, resource: nil, revision: nil, kind: .storeFault, note: note))
    }

    /// Finishes a clearing in the places that this pantry holds.
    ///
    /// - Returns: the places that are cleared, and the failure of a section.
    private func finish(
        _ clearing: Clearing, in names: Set<PlaceName>
    ) async -> (places: Set<PlaceName>, failure: (any Error)?) {
        let folders = Set(names.map(\.folder))
        let states = resourceStates.filter { folders.contains(PlaceName.folder(of: $0.name)) }
        let cleared = await cleared(states, ifUnfinished: clearing) { await $0.finish(clearing, in: names) }
        let told = await composer.openAttachments.cleared(clearing, of: nil, in: names, whenLate: recordLate(clearing))
        let unfinished = await clearUnfinished(clearing.selection, of: clearing.folder, in: names)
        let places = cleared.places.union(told.places.intersection(names)).union(unfinished.places)
        return (places, told.failure ?? unfinished.failure)
    }
}
