/// The two sides a strategy arranges, and what strategies do with them.
///
/// Strategies are recipes over ``live`` and ``cached``; the methods here hold what they have in common, so that all of
/// them treat errors, answers, patience, deadlines and windows alike.
public struct Sides: Sendable {
    /// Asks the origin and saves its answer. All who ask at the same time share one call.
    public let live: any Loader
    /// Finds the copy, whatever it may be used for; look at its ``Loaded/permissions``. Throws `notCached` if there is none.
    public let cached: any Loader
    /// Time, for strategies that wait.
    public let world: any World
    let shelf: Shelf
    let meter: Meter

    package init(live: any Loader, cached: any Loader, world: any World, shelf: Shelf, meter: Meter) {
        self.live = live
        self.cached = cached
        self.world = world
        self.shelf = shelf
        self.meter = meter
    }

    /// The copy; nil when there is none.
    ///
    /// - Throws: `CancellationError` only.
    public func copy(_ call: Call) async throws -> Loaded<Entry>? {
        do {
            return try await cached.load(call)
        } catch let error as CancellationError {
            throw error
        } catch {
            return nil
        }
    }

    /// The copy if it may be shown at all, and never the origin.
    ///
    /// - Throws: ``LoadError`` with the code `notCached`, with the store's error beside it if it failed.
    public func copyOnly(_ call: Call) async throws -> Loaded<Entry> {
        let copy = try await cached.load(call)
        if let served = copy.serving(anyOf: .showing) { return served }
        note(refusalOf: copy, in: call)
        var refused = Lookup.notCached
        refused.message = "not cached: the copy may not be shown any more"
        throw refused
    }

    /// Asks the origin, and lets the copy stand in as far as the policy allows.
    ///
    /// - After `patience` (or at the caller's deadline) a copy that is fresh or in either window is served, and the call
    ///   goes on for at most `linger`. Without such a copy the wait goes on.
    /// - When the origin fails, a copy that is fresh or that `onError` allows is served.
    /// - An origin's answer that is an error is thrown as it is.
    ///
    /// - Throws: the origin's own error, with the store's beside it; `deadline` when the caller's deadline passes.
    public func load(_ call: Call, patience: Duration? = nil, linger: Duration = .seconds(60)) async throws
        -> Loaded<Entry>
    {
        let limits = [patience, call.due.map { $0 - world.uptime }].compactMap { $0 }
        guard let limit = limits.min() else {
            do {
                return try await live.load(call)
            } catch {
                return try await standIn(for: error, in: call)
            }
        }
        let calling = call.inBackground
        let pursuit = Pursuit(in: world) { [live] in try await live.load(calling) }
        do {
            if let loaded = try await pursuit.value(within: limit) {
                call.trail.add(calling.trail.steps)
                return loaded
            }
            call.trail.note("origin", "no answer after \(limit.brief)")
            // Now: lower tiers are not waited for.
            if let copy = try await copy(call.knowing(nil)) {
                if let served = copy.serving(anyOf: .showing, fellBack: true) {
                    pursuit.cancel(after: linger)
                    return served
                }
                note(refusalOf: copy, in: call)
            }
            if let loaded = try await pursuit.value(within: call.due.map { $0 - world.uptime }) {
                call.trail.add(calling.trail.steps)
                return loaded
            }
        } catch let error as CancellationError {
            pursuit.cancel()
            throw error
        } catch {
            call.trail.add(calling.trail.steps)
            return try await standIn(for: error, in: call)
        }
        // There was no copy to show, and the origin has not failed: only the caller's time is over.
        pursuit.cancel(after: linger)
        throw LoadError(.deadline, "the caller's deadline passed")
    }

    /// Starts a refresh in the background, unless one for this key is under way or the last one failed a moment ago.
    /// It is given up after `limit`.
    public func refresh(_ call: Call, within limit: Duration = .seconds(60)) {
        guard shelf.refreshes.begin(call.key, at: world.uptime) else { return }
        var calling = call.inBackground
        calling.request.priority = .low
        calling.ticket = call.ticket ?? shelf.order.begin(call.key)
        world.spawn { [calling] in
            let pursuit = Pursuit(in: world) { try await live.load(calling) }
            var failed: Bool
            do {
                failed = try await pursuit.value(within: limit) == nil
                if failed { pursuit.cancel() }
            } catch {
                // An answer is no failure, even if it is an error.
                failed = LoadError.meaning(of: error)?.isAnswer != true
            }
            meter.refreshed(failed: failed)
            shelf.refreshes.end(call.key, failed: failed, at: world.uptime)
        }
    }

    /// Whether a copy that is fresh has lived through `share` of its fresh time, so that it is time for a ``refresh(_:within:)``.
    public func isAgeing(_ loaded: Loaded<Entry>, past share: Double) -> Bool {
        guard let whole = loaded.permissions.freshFor, let age = loaded.age else { return false }
        return age >= whole.scaled(by: share)
    }

    func standIn(for error: any Error, in call: Call) async throws -> Loaded<Entry> {
        guard var failure = LoadError.meaning(of: error) else { throw error }
        call.trail.note("origin", failure.message)
        if failure.isAnswer { throw failure }
        do {
            let copy = try await cached.load(call)
            if let served = copy.serving(anyOf: [.fresh, .onError], fellBack: true) { return served }
            note(refusalOf: copy, in: call)
            failure.copyRefused = true
        } catch let missing as LoadError {
            failure.store = missing.store
        }
        throw failure
    }

    private func note(refusalOf copy: Loaded<Entry>, in call: Call) {
        let reasons = copy.permissions.reasons(for: .onError)
        call.trail.note(
            copy.source.description, "copy refused" + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", ")))
    }
}
