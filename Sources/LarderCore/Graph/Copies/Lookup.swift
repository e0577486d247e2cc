package import LarderSystem

/// The cached side of a graph: finds the copy and shows it for the uses that the validators permit.
package struct Lookup: Loader {
    let storeAccess: StoreAccess
    /// The store of `storeAccess`.
    private let store: any Store
    let peekedTier: String
    private let failedClearings: FailedClearings
    private let variations: Variations
    /// The records of keys, which hide or redirect some copies.
    private let keys: KeyTable
    let validators: Validators
    let world: any World
    /// The fields that the origin adds to requests that lack them.
    let addedFields: Fields
    /// The revision of the policy.
    let revision: String

    package init(
        _ storeAccess: StoreAccess, validators: Validators, addedFields: Fields = [:], revision: String,
        world: any World
    ) {
        self.storeAccess = storeAccess
        store = storeAccess.store
        peekedTier = storeAccess.store.peekedTier
        failedClearings = storeAccess.failedClearings
        variations = storeAccess.variations
        keys = storeAccess.keys
        self.validators = validators
        self.addedFields = addedFields
        self.revision = revision
        self.world = world
    }

    /// Returns the key of the copy that answers the request. Returns nil if the copy is outdated or cleared.
    func keyToShow(for request: Request) -> Key? {
        let key = variations.entryKey(of: request, adding: addedFields)
        return keys.hiddenReason(of: key) == nil && !failedClearings.select(key) ? key : nil
    }

    /// Finds a copy in memory that may be shown. `take` receives its entry, and returns whether it has a use for it. It is
    /// called while the store may hold a lock.
    ///
    /// - Parameters:
    ///   - leavesPrefetches: whether a prefetched copy that was not used yet is left to the loaders, which count its use.
    ///   - copy: becomes the facts about the copy. ``CopyFacts/isFound`` is false if there is no such copy, or
    ///     if `take` returned false.
    /// - Returns: the validators' reasons; nil if they gave none.
    @inline(__always)
    func hit(
        _ request: Request, at key: Key, for uses: Uses, leavesPrefetches: Bool = false, copy: inout CopyFacts,
        take: (Entry) -> Bool
    ) -> [Permissions.StatedReason]? {
        #if DEBUG
            ReentrancyTrap.storeIsUsed()
        #endif
        let now = world.roughNow
        var reasons: [Permissions.StatedReason]?
        let isUsed = store.use(key) { entry in
            copy.ageStart = entry.metadata.ageStart.nanoseconds
            copy.size = entry.payload.size
            copy.age = entry.metadata.ageInNanoseconds(at: now)
            // An entry without bytes may be the marker of a key whose answers vary.
            guard copy.size > 0 || Variation(marker: entry) == nil else { return false }
            if validators.permitAll(entry.metadata, aged: copy.age, for: request) {
                (copy.uses, copy.freshNanoseconds) = (.all, validators.freshNanoseconds)
            } else if leavesPrefetches, entry.metadata.isUnusedPrefetch {
                return false
            } else {
                reasons = permit(entry, for: request, &copy)
            }
            copy.use = copy.uses.intersection(uses).best
            return !copy.use.isEmpty && take(entry)
        }
        copy.isFound = isUsed
        return reasons
    }

    /// Asks the validators about a copy, with the exact time.
    ///
    /// - Returns: their reasons; nil if they gave none.
    @inline(never)
    private func permit(
        _ entry: Entry, for request: Request, _ copy: inout CopyFacts
    ) -> [Permissions.StatedReason]? {
        let now = world.now
        copy.age = entry.metadata.ageInNanoseconds(at: now)
        // A copy whose age cannot be expressed is left to the loaders.
        if copy.age == .min { return nil }
        let permissions = ReentrancyTrap.whileStoreWaits { validators.permit(entry.metadata, for: request, at: now) }
        (copy.uses, copy.freshNanoseconds) = (permissions.uses, permissions.freshNanoseconds)
        return permissions.hasReasons ? permissions.statedReasons : nil
    }

    /// Whether a hit must first look for outdated copies, failed clearings and variations.
    @inline(__always)
    var hasExceptions: Bool { !keys.isUsual }

    /// Returns the copy if it may be shown for any use.
    ///
    /// - Throws: ``LoadError`` with the code `notCached` when there is no such copy. It holds the store's error if the
    ///   store failed.
    package func load(_ call: Call) async throws -> Loaded<Entry> {
        let copy = try await copy(for: call)
        if let shown = copy.shown(for: .showing) { return shown }
        copy.noteRefusal(in: call.trail)
        let reasons = copy.permissions.reasonsAgainstShowing.joined(separator: ", ")
        throw LoadError(
            .notCached,
            reasons.isEmpty
                ? "not cached: the copy may not be shown any more" : "not cached: the copy was refused (\(reasons))")
    }

    /// The time that reading a copy may always take, even if the caller's deadline is nearer. So a copy in a fast store
    /// is shown.
    private static let readingTime = Duration.milliseconds(20)

    /// Returns the copy, even if it may not be shown.
    ///
    /// - Throws: ``LoadError`` with the code `notCached` when there is no sound copy, with the store's error if the
    ///   store failed. The code is `deadline` when the caller's deadline passes first.
    func copy(for call: Call) async throws -> CachedCopy {
        guard let deadline = call.deadline else { return try await find(call) }
        let reading = AwaitableWork(in: world) { try await find(call) }
        if let copy = try await reading.value(within: max(deadline - world.uptime, Self.readingTime)) { return copy }
        reading.cancel()
        throw LoadError.overdue
    }

    /// Finds the copy. If it is not fresh, the first search of a load also searches the tiers below, which other
    /// processes may share. A fresher copy found there is promoted, so that later searches need not repeat this.
    ///
    /// - Throws: ``LoadError`` with the code `notCached` when there is no sound copy, with the store's error if the
    ///   store failed.
    private func find(_ call: Call) async throws -> CachedCopy {
        let key = variations.entryKey(of: call.request, adding: addedFields)
        let mark = storeAccess.keys.mark(key, for: call.ticket)
        let outdated = storeAccess.outdatedReason(of: key)
        var found = try await read(call, mark: mark, outdated: outdated)
        if !key.isVariant, let variation = Variation(marker: found.entry) {
            variations.learn(variation, of: key)
            return try await find(call)
        }
        let ticket = mark.ticket()
        var isKept = true
        if found.isForeign {
            do {
                isKept =
                    try await validators.admit(&found.entry, from: .store, for: call.request, in: world) == .keep
            } catch {
                guard let sound = try await soundCopy(below: found, ticket: ticket, call: call, outdated: outdated)
                else {
                    call.trail.note(found.tier, .copyRemoved(error))
                    storeAccess.countRefused()
                    await storeAccess.discard(ticket, call.trail)
                    throw LoadError.notCached
                }
                call.trail.note(found.tier, .copyReplaced(error))
                found = sound
            }
        }
        if !isKept {
            call.trail.note(found.tier, .copyRemoved(.mayNotBeKept))
            await storeAccess.removeCopy(of: ticket, call.trail)
        } else if !call.hasLooked || found.entry.metadata.isExpired,
            let fresher = try await fresher(than: found, ticket: ticket, call: call, outdated: outdated)
        {
            found = fresher
        }
        do {
            try found.entry.payload.decode(with: call.codec)
        } catch {
            storeAccess.countRefused()
            call.trail.note(found.tier, .copyUndecodable)
            throw LoadError.notCached
        }
        if isKept, found.depth > 0 { await storeAccess.promote(found, ticket: ticket, trail: call.trail) }
        let copy = CachedCopy(
            found: found, isKept: isKept, request: call.request, load: call.load, validators: validators,
            revision: revision,
            world: world)
        let permissions = copy.permissions
        if !permissions.allows(.showing) {
            storeAccess.countRefused()
            copy.noteRefusalForAllUses(permissions, in: call.trail)
        }
        return copy
    }

    /// The error when there is no copy. Most misses throw it, so it is made once.
    private static let noCopy: any Error = LoadError.notCached

    private func read(_ call: Call, mark: ReadingMark, outdated: HiddenCopy.Reason?) async throws -> Found {
        if let reason = outdated?.reasonToHide {
            call.trail.note("store", .copySkipped(reason))
            throw LoadError.notCached
        }
        let found: Found?
        do {
            found = try await storeAccess.read(mark.entryKey)?.expired(if: outdated, in: world)
        } catch let error as CancellationError where Task.isCancelled {
            throw error
        } catch {
            _ = storeAccess.report(error, effect: .notRead, trail: call.trail)
            if (error as? StoreError)?.isDamaged == true { await storeAccess.discard(mark.ticket(), call.trail) }
            var missing = LoadError.notCached
            missing.store = error
            throw missing
        }
        storeAccess.noteFound(found?.entry, at: mark.entryKey)
        guard let found else { throw Self.noCopy }
        storeAccess.report(found.faults, effect: .notRead, trail: call.trail)
        return found
    }

    /// Returns the first copy below a damaged one that is admitted, after replacing the damaged one by it. Returns nil if
    /// there is none.
    ///
    /// - Throws: `CancellationError` only.
    private func soundCopy(
        below damaged: Found, ticket: Ticket, call: Call, outdated: HiddenCopy.Reason?
    ) async throws -> Found? {
        var last = damaged
        do {
            while var found = try await storeAccess.store.read(ticket.entryKey, below: last)?
                .expired(if: outdated, in: world),
                Variation(marker: found.entry) == nil
            {
                last = found
                if found.isForeign,
                    (try? await validators.admit(&found.entry, from: .store, for: call.request, in: world)) != .keep
                {
                    continue
                }
                storeAccess.report(found.faults, effect: .notRead, trail: call.trail)
                await storeAccess.mend(with: found, ticket, call.trail)
                found.depth = 0
                return found
            }
        } catch let error as CancellationError where Task.isCancelled {
            throw error
        } catch {
            _ = storeAccess.report(error, effect: .notRead, trail: call.trail)
        }
        return nil
    }

    /// Returns a fresh copy from a tier below `upper`, or a copy that is not expired if `upper` is. Returns nil when
    /// there is none.
    ///
    /// - Throws: `CancellationError` only.
    private func fresher(
        than upper: Found, ticket: Ticket, call: Call, outdated: HiddenCopy.Reason?
    ) async throws -> Found? {
        var last = upper
        while !isFresh(last, for: call.request) {
            if last.depth > upper.depth, upper.entry.metadata.isExpired, !last.entry.metadata.isExpired { break }
            do {
                guard
                    let found = try await storeAccess.store.read(ticket.entryKey, below: last)?
                        .expired(if: outdated, in: world),
                    Variation(marker: found.entry) == nil
                else { return nil }
                storeAccess.report(found.faults, effect: .notRead, trail: call.trail)
                storeAccess.countSuperseded()
                last = found
            } catch let error as CancellationError where Task.isCancelled {
                throw error
            } catch {
                _ = storeAccess.report(error, effect: .notRead, trail: call.trail)
                return nil
            }
        }
        if last.depth == upper.depth { return nil }
        if last.isForeign {
            var refusal: Refusal?
            var isDamaged = false
            do {
                if try await validators.admit(&last.entry, from: .store, for: call.request, in: world) == .useOnly {
                    refusal = .mayNotBeKept
                }
            } catch {
                (refusal, isDamaged) = (error, true)
            }
            if let refusal {
                call.trail.note(last.tier, .copyReplaced(refusal))
                await storeAccess.mend(with: upper, isDamaged: isDamaged, ticket, call.trail)
                return nil
            }
        }
        return last
    }

    private func isFresh(_ found: Found, for request: Request) -> Bool {
        validators.permit(found.entry.metadata, for: request, at: world.now).allows(.fresh)
    }
}

extension Found {
    /// Returns this copy, marked as expired if the origin has sent a newer answer.
    fileprivate func expired(if outdated: HiddenCopy.Reason?, in world: any World) async -> Found {
        guard case .outdated(let newest) = outdated, await newest.outdates(entry, in: world) else { return self }
        var copy = self
        copy.entry.metadata.isExpired = true
        return copy
    }
}
