import LarderSystem

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
    private let addedFields: AddedFields
    /// The revision of the policy.
    let revision: String

    init(
        _ storeAccess: StoreAccess, validators: Validators, addedFields: AddedFields = AddedFields(), revision: String,
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

    /// Returns a request that knows which fields the origin adds to it.
    func prepared(_ request: Request) -> Request { addedFields.added(to: request) }

    /// Returns the key of the copy that answers the request. Returns nil if the copy is outdated or cleared.
    func keyToShow(for request: Request) -> Key? {
        let key = variations.entryKey(of: prepared(request))
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
    private func permit(_ entry: Entry, for request: Request, _ copy: inout CopyFacts) -> [Permissions.StatedReason]? {
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
        if let deadline = call.deadline { return try await find(call, until: deadline) }
        return try await find(call)
    }

    @inline(never)
    private func find(_ call: Call, until deadline: Duration) async throws -> CachedCopy {
        let reading = AwaitableWork(in: world) { try await find(call) }
        if let copy = try await reading.value(within: max(deadline - world.uptime, Self.readingTime)) { return copy }
        reading.cancel()
        throw LoadError.overdue
    }

    /// Finds the copy. If it is not fresh, the first search of a load also searches the tiers below, which other
    /// processes may share. A fresher copy found there is copied to the tiers above, so that later searches need not
    /// repeat this.
    ///
    /// - Throws: ``LoadError`` with the code `notCached` when there is no sound copy, with the store's error if the
    ///   store failed.
    private func find(_ call: Call) async throws -> CachedCopy {
        let (mark, judge) = try search(for: call)
        let found = try await read(at: mark, for: call, asking: judge)
        return try await settled(found, at: mark, for: call, judgedBy: judge)
    }

    /// Returns the key at which the copy is looked for, and who judges the copies there.
    ///
    /// - Throws: ``LoadError`` with the code `notCached` if the copies are outdated.
    @inline(never)
    private func search(for call: Call) throws -> (mark: ReadingMark, judge: CopyJudge) {
        let key = variations.entryKey(of: call.request)
        let mark = keys.mark(key, for: call.ticket)
        let outdated = storeAccess.outdatedReason(of: key)
        if let reason = outdated?.reasonToHide {
            call.trail.note("store", .copySkipped(reason))
            throw LoadError.notCached
        }
        return (mark, CopyJudge(for: call, outdated: outdated, validators: validators, in: world))
    }

    /// Returns a copy that was read, after all that follows from the judgement.
    @inline(never)
    private func settled(
        _ found: Found, at mark: ReadingMark, for call: Call, judgedBy judge: CopyJudge
    ) async throws -> CachedCopy {
        guard let judged = found.judged else {
            if !mark.entryKey.isVariant, let variation = Variation(marker: found.entry) {
                variations.learn(variation, of: mark.entryKey)
                return try await find(call)
            }
            throw Self.noCopy
        }
        noteReplaced(judge.refusals, in: call.trail)
        if !judged.isKept { await removeUnkeepable(in: found.tier, at: mark, for: call) }
        let copy = try copy(found, judged, for: call)
        if judged.isKept, found.repair != nil { await spread(copy, at: mark, for: call, judgedBy: judge) }
        countRefusal(of: copy, in: call.trail)
        return copy
    }

    // These are apart from ``settled(_:at:for:judgedBy:)``, which waits: see ``MeasuredLoader``.

    @inline(never)
    private func noteReplaced(_ refusals: [CopyJudge.Refused], in trail: Trail.Recorder) {
        for refusal in refusals {
            trail.note(refusal.tier, .copyReplaced(refusal.reason))
            if refusal.isDamage { storeAccess.meter.present.count(.corrupt) }
        }
    }

    /// Removes a copy that may be shown, but not kept.
    @inline(never)
    private func removeUnkeepable(in tier: String, at mark: ReadingMark, for call: Call) async {
        call.trail.note(tier, .copyRemoved(.mayNotBeKept))
        await storeAccess.removeCopy(of: mark.ticket(), call.trail)
    }

    /// Returns the copy with its payload decoded.
    ///
    /// - Throws: ``LoadError`` with the code `notCached` if the copy cannot be decoded.
    @inline(never)
    private func copy(_ found: Found, _ judged: JudgedCopy, for call: Call) throws -> CachedCopy {
        var found = found
        found.entry = judged.entry
        do {
            try found.entry.payload.decode(with: call.codec)
        } catch {
            storeAccess.meter.countRefused()
            call.trail.note(found.tier, .copyUndecodable)
            throw LoadError.notCached
        }
        return CachedCopy(
            found: found, isKept: judged.isKept, request: call.request, load: call.load, validators: validators,
            revision: revision, world: world)
    }

    /// Writes a copy to the tiers that lack it or have a worse one.
    @inline(never)
    private func spread(_ copy: CachedCopy, at mark: ReadingMark, for call: Call, judgedBy judge: CopyJudge) async {
        guard let repair = copy.found.repair else { return }
        let effect: FaultEffect = judge.refusals.isEmpty ? .notPromoted : .notReplaced
        await storeAccess.spread(
            copy.found.entry, by: repair, since: mark.ticket(), effect: effect, trail: call.trail)
    }

    /// Counts and notes a copy that may not be shown.
    @inline(never)
    private func countRefusal(of copy: CachedCopy, in trail: Trail.Recorder) {
        let permissions = copy.permissions
        if permissions.allows(.showing) { return }
        storeAccess.meter.countRefused()
        copy.noteRefusalForAllUses(permissions, in: trail)
    }

    /// The error when there is no copy. Most misses throw it, so it is made once.
    private static let noCopy: any Error = LoadError.notCached

    /// Reads the best copy of all tiers. Removes the copies if none is sound.
    private func read(at mark: ReadingMark, for call: Call, asking judge: CopyJudge) async throws -> Found {
        do {
            if let found = try await storeAccess.read(mark.entryKey, asking: judge) {
                storeAccess.noteFound(found.judged?.entry, at: mark.entryKey)
                storeAccess.meter.report(found.faults, effect: .notRead, trail: call.trail)
                return found
            }
        } catch {
            throw await failed(error, at: mark, for: call, asking: judge)
        }
        storeAccess.noteFound(nil, at: mark.entryKey)
        if judge.refusals.isEmpty { throw Self.noCopy }
        await discard(at: mark, for: call, refusedBy: judge)
        throw LoadError.notCached
    }

    /// Removes the copies of a read that failed if they are damaged.
    ///
    /// - Returns: the error of the load.
    @inline(never)
    private func failed(
        _ error: any Error, at mark: ReadingMark, for call: Call, asking judge: CopyJudge
    ) async -> any Error {
        if error is CancellationError, Task.isCancelled { return error }
        _ = storeAccess.meter.report(error, effect: .notRead, trail: call.trail)
        if (error as? StoreError)?.isDamaged == true || !judge.refusals.isEmpty {
            await discard(at: mark, for: call, refusedBy: judge)
        }
        var missing = LoadError.notCached
        missing.store = error
        return missing
    }

    /// Removes the copies under a key, of which none is sound.
    private func discard(at mark: ReadingMark, for call: Call, refusedBy judge: CopyJudge) async {
        if let refusal = judge.refusals.first {
            call.trail.note(refusal.tier, .copyRemoved(refusal.reason))
            storeAccess.meter.countRefused()
        }
        await storeAccess.discard(mark.ticket(), call.trail)
    }
}
