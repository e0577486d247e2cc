/// The cached side: finds the copy and says what it may be used for.
package struct Lookup: Loader {
    let shelf: Shelf
    let validators: Validators
    let world: any World

    package init(_ shelf: Shelf, validators: Validators, world: any World) {
        self.shelf = shelf
        self.validators = validators
        self.world = world
    }

    /// A copy in memory that is decoded and may be used for what the call accepts.
    package func answer(_ call: Call) -> Loaded<Entry>? {
        let now = world.now
        var permissions = Permissions([])
        let found = shelf.store.peek(call.key) { entry in
            guard entry.payload.isDecoded(by: call.codec) else { return false }
            permissions = validators.permit(entry.metadata, at: now)
            return permissions.allows(call.accepting)
        }
        guard let found, let use = permissions.uses.intersection(call.accepting).best else { return nil }
        return Self.loaded(found, permissions, at: now).serving(as: use)
    }

    /// The copy, whatever it may be used for. The first look of a load that finds none that is fresh looks for one in the
    /// tiers below, which others may share: what is fresher there has come up by the second look.
    ///
    /// - Throws: ``LoadError`` with the code `notCached` when there is none that is sound, with the store's error
    ///   beside it if it failed.
    package func load(_ call: Call) async throws -> Loaded<Entry> {
        let ticket = shelf.order.begin(call.key)
        var found = try await read(call, ticket)
        if found.isForeign {
            do {
                try validators.admit(&found.entry, from: .store)
            } catch {
                call.trail.note(found.tier, "copy removed: \(error.reason)")
                await shelf.discard(ticket, call.trail)
                throw Self.notCached
            }
        }
        if !call.hasLooked, let fresher = try await fresher(than: found, ticket, call) { found = fresher }
        do {
            try found.entry.payload.decode(with: call.codec)
        } catch {
            call.trail.note(found.tier, "copy does not decode")
            throw Self.notCached
        }
        if found.depth > 0 { await shelf.promote(found, ticket, call.trail) }
        let now = world.now
        return Self.loaded(found, validators.permit(found.entry.metadata, at: now), at: now)
    }

    private func read(_ call: Call, _ ticket: Ticket) async throws -> Found {
        let found: Found?
        do {
            found = try await shelf.store.read(call.key)
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

    /// A fresh copy in a tier below one whose copy is not; nil when there is none.
    ///
    /// - Throws: `CancellationError` only.
    private func fresher(than upper: Found, _ ticket: Ticket, _ call: Call) async throws -> Found? {
        var last = upper
        while !isFresh(last) {
            do {
                guard let found = try await shelf.store.read(call.key, below: last) else { return nil }
                shelf.report(found.faults, .read, call.trail, "not read")
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

    private static func loaded(_ found: Found, _ permissions: Permissions, at now: Timestamp) -> Loaded<Entry> {
        Loaded(
            found.entry, from: .store(found.tier), freshness: permissions.allows(.fresh) ? .fresh : .stale,
            age: found.entry.metadata.age(at: now), isStored: true, permissions: permissions)
    }

    static var notCached: LoadError { LoadError(.notCached, "not cached") }
}

extension Uses {
    /// The use of these that does a copy most honour.
    var best: Uses? {
        [.fresh, .whileRevalidating, .onError].first { !isDisjoint(with: $0) }
    }
}

extension Loaded where Value == Entry {
    /// This copy, served for one of its permitted uses.
    public func serving(as use: Uses, fellBack: Bool = false) -> Loaded<Entry> {
        var copy = self
        copy.freshness = use == .fresh ? .fresh : .stale
        copy.fellBack = fellBack
        if case .store(let tier) = source {
            copy.trail = Trail(
                serving: Trail.Serving(tier: tier, age: age ?? .zero, use: use, permissions: permissions))
        }
        return copy
    }

    /// This copy for the best of `uses` that it is permitted for; nil when it is permitted for none.
    public func serving(anyOf uses: Uses, fellBack: Bool = false) -> Loaded<Entry>? {
        permissions.uses.intersection(uses).best.map { serving(as: $0, fellBack: fellBack) }
    }
}
