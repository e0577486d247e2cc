import LarderSystem
import Synchronization

/// The writes to a store, each in the turn of its key. Everything that concerns a key stands in the ``KeyTable`` of the
/// resource, which all its stores share.
package final class StoreAccess: Sendable {
    private let openStore: OpenStore
    /// The records of the resource's keys.
    let keys: KeyTable
    /// The number of the store among all of the resource.
    let number: UInt64
    let failedClearings: FailedClearings
    let evictedKeys: EvictedKeys
    let meter: StoreMeter
    let news: StoreNews

    init(
        _ store: OpenStore, keys: KeyTable = KeyTable(), meter: Meter,
        news: StoreNews = StoreNews(saved: Listeners(), changed: Listeners(), source: nil),
        lateFaults: LateFaults = LateFaults(), evictedKeys: EvictedKeys = EvictedKeys(capacity: 1),
        clearingReport: @escaping @Sendable (ClearingReport) -> Void = { _ in }, world: any World
    ) {
        openStore = store
        self.keys = keys
        number = keys.number()
        failedClearings = FailedClearings(in: keys, report: clearingReport)
        self.evictedKeys = evictedKeys
        self.meter = StoreMeter(meter)
        self.news = news
        lateFaults.attach(to: self)
        store.listen { apply($0, in: world) }
    }

    deinit {
        noteEnding()
        keys.forget(store: number)
    }

    /// Whether the store is not closed.
    var isOpen: Bool { openStore.isOpen }

    /// The store. It keeps nothing when it is closed.
    package var store: any Store { openStore.store }

    /// How the answers for keys vary.
    var variations: Variations { Variations(in: keys, of: number) }

    var prefetched: PrefetchedCopies { PrefetchedCopies(in: keys, of: number) }

    var world: any World { meter.present.world }

    /// Notes that the store is about to be closed or released. The entries of a store in memory are gone then.
    func noteEnding() {
        if !openStore.isPersistent { noteRemoved(.all) }
    }

    /// Closes the store, even if loads still use it. They find nothing and keep nothing from now on.
    func close() async { await openStore.close() }

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
                if !isOpen { throw StoreError("the store is closed") }
                if let tag = await variantTag(of: selection) { try await store.remove(.tag(tag)) }
                try await store.remove(selection)
            }
        } catch {
            failedClearings.add(selection, error) { [weak self] in self?.removeAgain(selection) }
            _ = meter.report(error, effect: .notCleared, trail: Trail.Recorder())
            throw error
        }
        if case .key = selection {} else { evictedKeys.clear() }
        noteRemoved(selection)
        keys.unhide(selection)
        variations.forget(selection)
        failedClearings.remove(selection)
        meter.works(.remove)
    }

    private func removeAgain(_ selection: Selection) {
        world.spawn { [weak self] in try? await self?.remove(selection, isAgain: true) }
    }

    /// Saves an answer, unless the answer of a later call was saved first.
    ///
    /// - Parameters:
    ///   - isUnchanged: whether the store's copy has the same payload, so that only its metadata is written.
    /// - Returns: whether the store keeps the entry.
    func save(
        _ entry: Entry, for request: Request, ticket: Ticket, isUnchanged: Bool = false, trail: Trail.Recorder
    ) async -> Bool {
        if !isUnchanged, entry.metadata.variesBy.isEmpty, keys.takeFreeTurn(ticket) {
            if !variations.knows(request.key) {
                return await savePlain(entry, for: request, ticket: ticket, trail: trail)
            }
            keys.endTurn(ticket)
        }
        return await saveInTurn(entry, for: request, ticket: ticket, isUnchanged: isUnchanged, trail: trail)
    }

    /// Saves a new answer for a key whose answers do not vary, in the turn of the ticket, and ends the turn. Nearly all
    /// answers are saved so, and this function waits for the store only.
    private func savePlain(_ entry: Entry, for request: Request, ticket: Ticket, trail: Trail.Recorder) async -> Bool {
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
            meter.works(.write)
            keys.endTurn(ticket, afterWriting: request.key)
            news.send(entry, for: request, varyingBy: [], isKept: isKept, since: ticket)
            return isKept
        } catch {
            return await plainSaveFailed(error, in: store, entry: entry, for: request, ticket: ticket, trail: trail)
        }
    }

    @inline(never)
    private func plainSaveFailed(
        _ error: any Error, in store: any Store, entry: Entry, for request: Request,
        ticket: Ticket, trail: Trail.Recorder
    ) async -> Bool {
        let failure = await store.expireOlder(than: entry, request.key, after: error, in: world)
        await noteOlder(than: entry, request.key, after: failure)
        keys.endTurn(ticket, afterWriting: request.key, unfinished: (failure as? StoreError)?.unfinished ?? [])
        let isKept = meter.report(failure, effect: .notSaved, trail: trail)
        news.send(entry, for: request, varyingBy: [], isKept: isKept, since: ticket)
        return isKept
    }

    /// Saves an answer in its turn, which it may have to wait for, under the key of its variant.
    @inline(never)
    private func saveInTurn(
        _ entry: Entry, for request: Request, ticket: Ticket, isUnchanged: Bool, trail: Trail.Recorder
    ) async -> Bool {
        if Variation.normalized(entry.metadata.variesBy) == nil {
            trail.note("store", .matchesNoOther)
            await leaveUnsaved(
                entry, for: request, ticket: ticket, isUnchanged: isUnchanged, matchesNoOther: true, trail: trail)
            return false
        }
        var place = EntryLocation(key: request.key)
        func send(isKept: Bool) {
            if place.matchesNoOther { return trail.note("store", .matchesNoOther) }
            news.send(entry, for: request, varyingBy: place.names, isKept: isKept, since: ticket)
        }
        do {
            var isKept = false
            let outcome = try await keys.perform(ticket, tags: entry.metadata.tags) {
                place = await self.place(of: entry, for: request)
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
                await saveLater(entry, for: request, ticket: ticket, isUnchanged: isUnchanged, trail: trail)
            }
            return isKept
        } catch {
            // It is the newest answer, whether the store keeps it or not.
            let isKept = meter.report(error, effect: .notSaved, trail: trail)
            send(isKept: isKept)
            return isKept
        }
    }

    /// Removes the entry that the origin says is gone, unless the answer of a later call was saved first.
    func drop(_ request: Request, ticket: Ticket, trail: Trail.Recorder) async {
        var key = request.key
        do {
            let outcome = try await keys.perform(ticket) {
                key = variations.entryKey(of: request)
                return key
            } _: {
                try await remove(key, because: .gone)
            }
            switch outcome {
            case .done: trail.note("store", .copyDropped)
            case .overtaken: break
            case .heldUp: dropLater(request, ticket: ticket, trail: trail)
            }
        } catch {
            _ = meter.report(error, effect: .notDropped, trail: trail)
        }
    }

    /// Removes a damaged entry, unless it was replaced since the ticket was taken.
    func discard(_ ticket: Ticket, _ trail: Trail.Recorder) async {
        meter.present.count(.corrupt)
        do {
            _ = try await keys.perform(ticket, if: .untouched) {
                try await store.remove(.key(ticket.entryKey))
                noteRemoved(ticket.entryKey)
            }
        } catch {
            _ = meter.report(error, effect: .notRemoved, trail: trail)
        }
    }

    /// Writes the entry that was found to the tiers that lack it or have a worse one, unless the key was written since the
    /// ticket was taken.
    func spread(
        _ entry: Entry, by repair: @Sendable (Entry) async throws -> Void, since ticket: Ticket, effect: FaultEffect,
        trail: Trail.Recorder
    ) async {
        do {
            _ = try await keys.perform(ticket, if: .untouched, tags: entry.metadata.tags) {
                if isOpen { try await repair(entry) }
            }
        } catch {
            _ = meter.report(error, effect: effect, trail: trail)
        }
    }

    /// Gives back memory that the store can do without.
    func relieve() {
        ReentrancyTrap.storeIsUsed()
        store.relieve()
    }

    // MARK: Reading

    /// Finds the best entry under a key. Returns nil if there is none, or if the judge refuses all.
    func read(_ key: Key, asking judge: CopyJudge) async throws -> Found? {
        try await judged(try await store.read(Reading(key, judge: judge)), by: judge)
    }

    // Apart from the read: see ``MeasuredLoader``.
    @inline(never)
    private func judged(_ found: Found?, by judge: CopyJudge) async throws -> Found? {
        // The tiers below the one that has the entry were not asked. The store as a whole has worked.
        meter.works(.read, in: found.map { [$0.tier, "store"] })
        // A store that has one place did not ask.
        guard var unjudged = found, unjudged.judged == nil else { return found }
        return try await judge.judge(&unjudged, beside: nil) == .refused ? nil : unjudged
    }

    /// Returns the size of the store and the counts of its reads. A read whose copy was refused counts as a miss.
    func statistics() async -> StoreStatistics {
        let statistics = await store.statistics()
        if !prefetched.isEmpty, meter.hasEvicted(statistics) { await lookForEvicted() }
        return meter.corrected(statistics)
    }
}
