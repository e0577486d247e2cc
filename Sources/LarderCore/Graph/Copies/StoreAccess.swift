import LarderSystem
import Synchronization

/// A store, and what the graph knows of it: its faults, its counts, and how its answers vary. All that concerns a key stands in
/// the ``KeyTable`` of the resource.
package final class StoreAccess: Sendable {
    private let openStore: any Store
    /// The records of the resource's keys, which all its stores share.
    let keys: KeyTable
    /// The number of the store among all of the resource.
    let number: UInt64
    let failedClearings: FailedClearings
    let evictedKeys: EvictedKeys
    let prefetched: PrefetchedCopies
    /// The source whose entries the store finds; nil for all sources.
    let source: DataSource?
    /// Whether the entries outlive this store.
    private let isPersistent: Bool
    /// The number of evictions at the last look for evicted prefetches.
    private let evictions = Atomic(0)
    let variations: Variations
    private let health = StoreHealth()
    /// The number of reads whose copy was refused.
    private let refused = Atomic(0)
    /// The number of reads whose copy was replaced by a fresher one of a lower tier, and of reads that no load made.
    private let superseded = Atomic(0)
    /// The meter of the graph that is in effect.
    private let meter: Locked<Meter>
    /// The listeners to answers.
    let saved: Listeners<SavedEntry>
    /// The listeners to the changes that others make.
    private let changed: Listeners<Selection>
    /// The task that listens to the changes that others make.
    private let listening = Locked<Task<Void, Never>?>(nil)
    private let isClosed = Atomic(false)
    private let onEnd: @Sendable (any Store, _ isClosed: Bool) -> Void

    /// - Parameter onEnd: called with the store after its last use, and whether it is closed already.
    init(
        _ store: any Store, keys: KeyTable = KeyTable(), meter: Meter, saved: Listeners<SavedEntry> = Listeners(),
        changed: Listeners<Selection> = Listeners(), lateFaults: LateFaults = LateFaults(),
        evictedKeys: EvictedKeys = EvictedKeys(capacity: 1), source: DataSource? = nil, isPersistent: Bool = true,
        clearingReport: @escaping @Sendable (ClearingReport) -> Void = { _ in }, world: any World,
        onEnd: @escaping @Sendable (any Store, _ isClosed: Bool) -> Void = { _, _ in }
    ) {
        openStore = store
        self.onEnd = onEnd
        self.evictedKeys = evictedKeys
        self.source = source
        self.isPersistent = isPersistent
        self.keys = keys
        number = keys.number()
        failedClearings = FailedClearings(in: keys, report: clearingReport)
        variations = Variations(in: keys, of: number)
        prefetched = PrefetchedCopies(in: keys, of: number)
        self.meter = Locked(meter)
        self.saved = saved
        self.changed = changed
        lateFaults.attach(to: self)
        if let changes = store.changes { listening.withLock { $0 = apply(changes, in: world) } }
    }

    deinit {
        noteEnding()
        keys.forget(store: number)
        listening.withLock { $0 }?.cancel()
        onEnd(openStore, isClosed.load(ordering: .relaxed))
    }

    /// Whether the store is not closed.
    var isOpen: Bool { !isClosed.load(ordering: .relaxed) }

    /// Notes that the store is about to be closed or released. The entries of a store in memory are gone then.
    func noteEnding() {
        if !isPersistent { noteRemoved(.all) }
    }

    /// The meter of the graph that is in effect.
    var present: Meter { meter.withLock { $0 } }

    /// The store. It keeps nothing when it is closed.
    package var store: any Store { isClosed.load(ordering: .relaxed) ? EmptyStore() : openStore }

    /// Closes the store, even if loads still use it. They find nothing and keep nothing from now on.
    func close() async {
        if !isClosed.exchange(true, ordering: .relaxed) { await openStore.close() }
    }

    /// Counts with another meter from now on, because the store outlives the graph it was made for.
    func count(with next: Meter) { meter.withLock { $0 = next } }

    func count(_ counter: Counter) { meter.withLock { $0 }.count(counter) }

    var world: any World { meter.withLock { $0 }.world }

    /// Removes the selected entries. Calls under way save nothing, and later loads do not join them.
    ///
    /// - Parameter limit: the longest time to wait; nil for no limit. A removal that takes longer goes on.
    package func clear(_ selection: Selection, within limit: Duration? = nil) async throws {
        defer { keys.closeFlights(of: selection) }
        try await remove(selection, isAgain: false, within: limit)
    }

    /// Removes the selected entries, and remembers them as cleared if that fails.
    ///
    /// - Parameter isAgain: whether an earlier try of this clearing failed.
    func remove(_ selection: Selection, isAgain: Bool, within limit: Duration? = nil) async throws {
        do {
            let voided = isAgain ? VoidedOperations.nothing : .everything
            try await keys.clear(selection, voiding: voided, within: limit, in: world) { [self] in
                // The record of the clearing stays, so that the next start carries it out.
                if isClosed.load(ordering: .relaxed) { throw StoreError("the store is closed") }
                if let tag = await variantTag(of: selection) { try await store.remove(.tag(tag)) }
                try await store.remove(selection)
            }
        } catch {
            failedClearings.add(selection, error) { [weak self] in self?.removeAgain(selection) }
            _ = report(error, effect: .notCleared, trail: Trail.Recorder())
            throw error
        }
        if case .key = selection {} else { evictedKeys.clear() }
        noteRemoved(selection)
        keys.unhide(selection)
        variations.forget(selection)
        failedClearings.remove(selection)
        works(.remove)
    }

    private func removeAgain(_ selection: Selection) {
        world.spawn { [weak self] in try? await self?.remove(selection, isAgain: true) }
    }

    /// Saves an answer, unless the answer of a later call was saved first.
    ///
    /// - Parameters:
    ///   - addedFields: the fields that the origin adds to requests that lack them.
    ///   - isUnchanged: whether the store's copy has the same payload, so that only its metadata is written.
    /// - Returns: whether the store keeps the entry.
    func save(
        _ entry: Entry, for request: Request, adding addedFields: Fields, ticket: Ticket, isUnchanged: Bool = false,
        trail: Trail.Recorder
    ) async -> Bool {
        if !isUnchanged, entry.metadata.variesBy.isEmpty, keys.takeFreeTurn(ticket) {
            if !variations.knows(request.key) {
                return await savePlain(entry, for: request, addedFields: addedFields, ticket: ticket, trail: trail)
            }
            keys.endTurn(ticket)
        }
        return await saveInTurn(
            entry, for: request, adding: addedFields, ticket: ticket, isUnchanged: isUnchanged, trail: trail)
    }

    /// Saves a new answer for a key whose answers do not vary, in the turn of the ticket, and ends the turn. Nearly all
    /// answers are saved so, and this function waits for the store only.
    private func savePlain(
        _ entry: Entry, for request: Request, addedFields: Fields, ticket: Ticket, trail: Trail.Recorder
    ) async -> Bool {
        variations.addUniform(request)
        guard keys.allows(ticket, at: request.key, tags: entry.metadata.tags) else {
            keys.endTurn(ticket)
            trail.note("store", .notSaved)
            return false
        }
        let store = store
        do {
            let isKept = try await store.write(entry, for: request.key)
            noteWritten(entry, at: request.key, isKept: isKept)
            keys.unhide(request.key)
            works(.write)
            keys.endTurn(ticket, afterWriting: request.key)
            send(entry, for: request, addedFields: addedFields, ticket: ticket, isKept: isKept)
            return isKept
        } catch {
            return await plainSaveFailed(
                error, in: store, entry: entry, for: request, addedFields: addedFields, ticket: ticket, trail: trail)
        }
    }

    @inline(never)
    private func plainSaveFailed(
        _ error: any Error, in store: any Store, entry: Entry, for request: Request, addedFields: Fields,
        ticket: Ticket, trail: Trail.Recorder
    ) async -> Bool {
        let failure = await store.expireOlder(than: entry, request.key, after: error, in: world)
        await noteOlder(than: entry, request.key, after: failure)
        keys.endTurn(
            ticket, afterWriting: request.key, unfinished: (failure as? StoreError)?.unfinished ?? [])
        let isKept = report(failure, effect: .notSaved, trail: trail)
        send(entry, for: request, addedFields: addedFields, ticket: ticket, isKept: isKept)
        return isKept
    }

    @inline(never)
    private func send(
        _ entry: Entry, for request: Request, addedFields: Fields, ticket: Ticket, isKept: Bool
    ) {
        if saved.isEmpty { return }
        saved.send(
            SavedEntry(
                request: request, addedFields: addedFields, names: [], entry: entry, isKept: isKept, ticket: ticket,
                source: source))
    }

    /// Saves an answer in its turn, which it may have to wait for, under the key of its variant.
    @inline(never)
    private func saveInTurn(
        _ entry: Entry, for request: Request, adding addedFields: Fields, ticket: Ticket, isUnchanged: Bool,
        trail: Trail.Recorder
    ) async -> Bool {
        if Variation.normalized(entry.metadata.variesBy) == nil {
            trail.note("store", .matchesNoOther)
            await leaveUnsaved(
                entry, for: request, adding: addedFields, ticket: ticket, isUnchanged: isUnchanged,
                matchesNoOther: true, trail: trail)
            return false
        }
        var place = EntryLocation(key: request.key)
        func send(isKept: Bool) {
            if place.matchesNoOther { return trail.note("store", .matchesNoOther) }
            saved.send(
                SavedEntry(
                    request: request, addedFields: addedFields, names: place.names, entry: entry, isKept: isKept,
                    ticket: ticket, source: source))
        }
        do {
            var isKept = false
            let outcome = try await keys.perform(ticket, tags: entry.metadata.tags) {
                place = await self.place(of: entry, for: request, adding: addedFields)
                return place.key
            } _: {
                if place.matchesNoOther {
                    try await expireOlder(than: entry, at: place, of: ticket.key, isUnchanged: isUnchanged)
                } else {
                    let entry = isUnchanged ? await withPresentMark(entry, at: place.key) : entry
                    isKept = try await keep(entry, at: place, of: ticket.key, isUnchanged: isUnchanged)
                }
            }
            switch outcome {
            case .done: send(isKept: isKept)
            case .overtaken: trail.note("store", .notSaved)
            case .heldUp:
                await saveLater(
                    entry, for: request, adding: addedFields, ticket: ticket, isUnchanged: isUnchanged, trail: trail)
            }
            return isKept
        } catch {
            // It is the newest answer, whether the store keeps it or not.
            let isKept = report(error, effect: .notSaved, trail: trail)
            send(isKept: isKept)
            return isKept
        }
    }

    /// Removes the entry that the origin says is gone, unless the answer of a later call was saved first.
    func drop(_ request: Request, adding addedFields: Fields, ticket: Ticket, trail: Trail.Recorder) async {
        var key = request.key
        do {
            let outcome = try await keys.perform(ticket) {
                key = variations.entryKey(of: request, adding: addedFields)
                return key
            } _: {
                try await remove(key, because: .gone)
            }
            switch outcome {
            case .done: trail.note("store", .copyDropped)
            case .overtaken: break
            case .heldUp: dropLater(request, adding: addedFields, ticket: ticket, trail: trail)
            }
        } catch {
            _ = report(error, effect: .notDropped, trail: trail)
        }
    }

    /// Removes a damaged entry, unless it was replaced since the ticket was taken.
    func discard(_ ticket: Ticket, _ trail: Trail.Recorder) async {
        count(.corrupt)
        do {
            _ = try await keys.perform(ticket, if: .untouched) {
                try await store.remove(.key(ticket.entryKey))
                noteRemoved(ticket.entryKey)
            }
        } catch {
            _ = report(error, effect: .notRemoved, trail: trail)
        }
    }

    /// Replaces the entry of a lower tier, which is damaged or may not be kept, by the sound one of an upper tier, unless
    /// the key was written since the ticket was taken.
    ///
    /// - Parameter isDamaged: whether to count the entry as corrupt.
    func mend(with found: Found, isDamaged: Bool = true, _ ticket: Ticket, _ trail: Trail.Recorder) async {
        if isDamaged { count(.corrupt) }
        do {
            _ = try await keys.perform(ticket, if: .untouched, tags: found.entry.metadata.tags) {
                _ = try await store.write(found.entry, for: ticket.entryKey)
            }
        } catch {
            _ = report(error, effect: .notReplaced, trail: trail)
        }
    }

    /// Copies an entry to the upper tiers that lack it, unless the key was written since the ticket was taken.
    func promote(_ found: Found, ticket: Ticket, trail: Trail.Recorder) async {
        do {
            _ = try await keys.perform(ticket, if: .untouched, tags: found.entry.metadata.tags) {
                try await store.promote(found, for: ticket.entryKey)
            }
        } catch {
            _ = report(error, effect: .notPromoted, trail: trail)
        }
    }

    /// Counts the faults of an error and notes them in the trail.
    ///
    /// - Returns: whether the store keeps the entry in spite of the error.
    func report(_ error: any Error, effect: FaultEffect, trail: Trail.Recorder) -> Bool {
        let failure = error as? StoreError
        let faults = failure?.faults ?? []
        report(faults.isEmpty ? [StoreFault(tier: "store", error: error)] : faults, effect: effect, trail: trail)
        return failure?.isStored ?? false
    }

    /// Counts faults and notes them in the trail. Logs the faults of tiers that worked before.
    func report(_ faults: [StoreFault], effect: FaultEffect, trail: Trail.Recorder) {
        let closed = faults.filter(\.isNotOpen)
        for fault in closed { trail.note("store", .storeNotOpen(fault.tier)) }
        let faults = closed.isEmpty ? faults : faults.filter { !$0.isNotOpen }
        if faults.isEmpty { return }
        report(faults, effect.kind)
        for fault in faults { trail.note("store", .storeFailed(fault, effect: effect.rawValue)) }
    }

    /// Counts faults. Logs those of tiers that worked before.
    func report(_ faults: [StoreFault], _ kind: StoreFaultKey.Kind) {
        let meter = meter.withLock { $0 }
        meter.faulted(faults, kind)
        for fault in health.failed(faults, kind, at: meter.world.uptime) {
            meter.send(.storeFault, "cannot \(kind.rawValue): \(fault)")
        }
    }

    /// Writes an event of the store to the log.
    func tell(_ note: String) { meter.withLock { $0 }.send(.storeFault, note) }

    /// Sends a change that others made to the listeners.
    func send(_ change: Selection) { changed.send(change) }

    /// Notes that an operation worked, in these tiers or in all of them. Logs the tiers that failed before and work
    /// again.
    func works(_ kind: StoreFaultKey.Kind, in tiers: [String]? = nil) {
        guard health.isFailing else { return }
        let meter = meter.withLock { $0 }
        for (fault, length) in health.worked(kind, tiers, at: meter.world.uptime) {
            meter.send(.storeFault, "can \(kind.rawValue) again, after \(length.brief): \(fault.tier)")
        }
    }

    /// Gives back memory that the store can do without.
    func relieve() {
        ReentrancyTrap.storeIsUsed()
        store.relieve()
    }

    // MARK: Reading

    /// Finds the entry under `key`.
    func read(_ key: Key) async throws -> Found? {
        let found = try await store.read(key)
        // The tiers below the one that has the entry were not asked. The store as a whole has worked.
        works(.read, in: found.map { [$0.tier, "store"] })
        return found
    }

    /// Counts a copy that was read and may not be shown.
    func countRefused() { refused.add(1, ordering: .relaxed) }

    /// Counts a copy that was read and replaced by a fresher one of a lower tier, or that no load asked for.
    func countSuperseded() { superseded.add(1, ordering: .relaxed) }

    /// Returns the size of the store and the counts of its reads. A read whose copy was refused counts as a miss.
    func statistics() async -> StoreStatistics {
        var statistics = await store.statistics()
        if !prefetched.isEmpty, evictions.exchange(statistics.evictions, ordering: .relaxed) != statistics.evictions {
            await lookForEvicted()
        }
        let refused = refused.load(ordering: .relaxed)
        statistics.hits = max(0, statistics.hits - refused - superseded.load(ordering: .relaxed))
        statistics.misses += refused
        return statistics
    }
}
