/// The cached side: finds the copy, and shows it for what it may be used for.
package struct Lookup: Loader {
    let shelf: Shelf
    /// The shelf's.
    private let store: any Store
    private let nearest: String
    private let leftovers: Leftovers
    private let failedClearings: FailedClearings
    let validators: Validators
    let world: any World
    /// The revision of the policy.
    private let revision: String

    package init(_ shelf: Shelf, validators: Validators, revision: String, world: any World) {
        self.shelf = shelf
        store = shelf.store
        nearest = shelf.store.nearest
        leftovers = shelf.leftovers
        failedClearings = shelf.failedClearings
        self.validators = validators
        self.revision = revision
        self.world = world
    }

    /// A copy in memory that is decoded and may be used.
    package func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
        Judging.storeIsUsed()
        guard leftovers.isEmpty || leftovers[request.key] == nil,
            failedClearings.isEmpty || !failedClearings.select(request.key)
        else { return nil }
        let now = world.now
        var permissions = Permissions([])
        var entry = store.peek(request.key) { entry in
            guard entry.payload.isDecoded(by: codec) else { return false }
            permissions = Judging.whileStoreWaits { validators.permit(entry.metadata, at: now) }
            return permissions.allows(uses)
        }
        guard let since = entry?.metadata.since, let use = permissions.uses.intersection(uses).best else { return nil }
        let account = Account(
            in: nearest, aged: now.nanoseconds(since: since), permissions, for: use, of: request.key, by: revision)
        return entry.take().map { Loaded($0, account: account) }
    }

    /// The copy, if it may be shown at all.
    ///
    /// - Throws: ``LoadError`` with the code `notCached` when there is none that may, with the store's error beside it if it
    ///   failed.
    package func load(_ call: Call) async throws -> Loaded<Entry> {
        let copy = try await copy(for: call)
        if let shown = copy.shown(for: .showing) { return shown }
        call.trail.note(copy.tier, copy.refusal(for: .onError))
        throw LoadError(.notCached, "not cached: the copy may not be shown any more")
    }

    /// How long a copy may take to be read even if the caller's deadline is nearer: one that lies at hand is shown.
    private static let readingTime = Duration.milliseconds(20)

    /// The copy, whatever it may be used for.
    ///
    /// - Throws: ``LoadError`` with the code `notCached` when there is none that is sound, with the store's error beside it
    ///   if it failed; with the code `deadline` when the caller's deadline passes first.
    func copy(for call: Call) async throws -> CachedCopy {
        guard let due = call.due else { return try await find(call) }
        let reading = Pursuit(in: world) { try await find(call) }
        if let copy = try await reading.value(within: max(due - world.uptime, Self.readingTime)) { return copy }
        reading.cancel()
        throw Self.overdue
    }

    static var overdue: LoadError { LoadError(.deadline, "the caller's deadline passed") }

    /// Looks for the copy. The first look of a load that finds none that is fresh looks for one in the
    /// tiers below, which others may share: what is fresher there has come up by the second look.
    ///
    /// - Throws: ``LoadError`` with the code `notCached` when there is none that is sound, with the store's error
    ///   beside it if it failed.
    private func find(_ call: Call) async throws -> CachedCopy {
        let ticket = shelf.order.begin(call.key)
        let flaw = shelf.flaw(of: call.key)
        var found = try await read(call, ticket, flaw)
        if found.isForeign {
            do {
                try validators.admit(&found.entry, from: .store)
            } catch {
                call.trail.note(found.tier, "copy removed: \(error.reason)")
                shelf.countRefused()
                await shelf.discard(ticket, call.trail)
                throw Self.notCached
            }
        }
        if !call.hasLooked || found.entry.metadata.isExpired,
            let fresher = try await fresher(than: found, ticket, call, flaw)
        {
            found = fresher
        }
        do {
            try found.entry.payload.decode(with: call.codec)
        } catch {
            shelf.countRefused()
            call.trail.note(found.tier, "copy does not decode")
            throw Self.notCached
        }
        if found.depth > 0 { await shelf.promote(found, ticket, call.trail) }
        let copy = CachedCopy(
            found: found, key: call.key, load: call.load, validators: validators, revision: revision, world: world)
        if !copy.permissions.allows(.showing) { shelf.countRefused() }
        return copy
    }

    private func read(_ call: Call, _ ticket: Ticket, _ flaw: Leftovers.Flaw?) async throws -> Found {
        if let reason = flaw?.hidden {
            call.trail.note("store", "copy passed over: \(reason)")
            throw Self.notCached
        }
        let found: Found?
        do {
            found = try await shelf.read(call.key)?.heeding(flaw)
        } catch let error as CancellationError where Task.isCancelled {
            throw error
        } catch {
            _ = shelf.report(error, .read, call.trail, "not read")
            if (error as? StoreError)?.isDamaged == true { await shelf.discard(ticket, call.trail) }
            var missing = Self.notCached
            missing.store = error
            throw missing
        }
        guard let found else { throw Self.notCached }
        shelf.report(found.faults, .read, call.trail, "not read")
        return found
    }

    /// A fresh copy in a tier below one whose copy is not, or one that is not expired below one that is; nil when there is
    /// none.
    ///
    /// - Throws: `CancellationError` only.
    private func fresher(
        than upper: Found, _ ticket: Ticket, _ call: Call, _ flaw: Leftovers.Flaw?
    ) async throws -> Found? {
        var last = upper
        while !isFresh(last) {
            if last.depth > upper.depth, upper.entry.metadata.isExpired, !last.entry.metadata.isExpired { break }
            do {
                guard let found = try await shelf.store.read(call.key, below: last)?.heeding(flaw) else { return nil }
                shelf.report(found.faults, .read, call.trail, "not read")
                shelf.countSuperseded()
                last = found
            } catch let error as CancellationError where Task.isCancelled {
                throw error
            } catch {
                _ = shelf.report(error, .read, call.trail, "not read")
                return nil
            }
        }
        if last.depth == upper.depth { return nil }
        if last.isForeign {
            do {
                try validators.admit(&last.entry, from: .store)
            } catch {
                call.trail.note(last.tier, "copy replaced by the one above it: \(error.reason)")
                await shelf.mend(with: upper, ticket, call.trail)
                return nil
            }
        }
        return last
    }

    private func isFresh(_ found: Found) -> Bool {
        validators.permit(found.entry.metadata, at: world.now).allows(.fresh)
    }

    static var notCached: LoadError { LoadError(.notCached, "not cached") }
}

extension Found {
    /// The same, expired if something newer is known.
    fileprivate func heeding(_ flaw: Leftovers.Flaw?) -> Found {
        guard case .outdated(let newest) = flaw, newest.outdates(entry) else { return self }
        var copy = self
        copy.entry.metadata.isExpired = true
        return copy
    }
}
