/// The two sides a strategy arranges, and what strategies do with them.
///
/// Strategies are recipes over ``live`` and ``cached``; the methods here hold what they have in common, so that all of
/// them treat errors, answers, patience, deadlines and windows alike. What a strategy returns must come from here: it asks
/// for a copy for the uses it has, and gets the copy or the reasons.
public struct Sides: Sendable {
    /// Asks the origin and saves its answer. All who ask at the same time share one call.
    public let live: any Loader
    /// Finds the copy and shows it for the best use that is permitted. Throws `notCached` if there is none, or it may not
    /// be shown at all. For other uses there is ``copy(_:)``.
    public let cached: any Loader
    /// Time, for strategies that wait.
    public let world: any World
    let shelf: Shelf
    let meter: Meter
    /// The cached side, if the strategy has one.
    private let lookup: Lookup?
    /// The live side, if there is an origin.
    private let shared: Shared?
    /// How long a key's origin is left alone after its first failure.
    private let rest: Duration

    package init(
        live: any Loader, cached: any Loader, rest: Duration = .zero, world: any World, shelf: Shelf, meter: Meter
    ) {
        self.live = live
        self.cached = cached
        self.rest = rest
        self.world = world
        self.shelf = shelf
        self.meter = meter
        lookup = cached as? Lookup
        shared = live as? Shared
    }

    // MARK: The copy

    /// The copy, to be asked what it may be shown for; nil when there is none.
    ///
    /// - Throws: `CancellationError`; ``LoadError`` with the code `deadline` when the caller's deadline passes first.
    public func copy(_ call: Call) async throws -> CachedCopy? {
        do {
            return try await found(call)
        } catch let error as LoadError where error.code != .deadline {
            return nil
        }
    }

    /// The copy.
    ///
    /// - Throws: as ``copy(_:)``; ``LoadError`` with the code `notCached` when there is none, with the store's error beside
    ///   it if it failed.
    private func found(_ call: Call) async throws -> CachedCopy {
        guard let lookup else { throw Lookup.notCached }
        return try await lookup.copy(for: call)
    }

    // MARK: The origin

    /// Asks the origin, and lets the copy stand in as far as the policy allows.
    ///
    /// - After `patience` (or at the caller's deadline) a copy that is fresh or in either window is shown, and the call
    ///   goes on for at most `linger`. Without such a copy the wait goes on.
    /// - When the origin fails, a copy that is fresh or that `onError` allows is shown. While the origin rests after a
    ///   failure for this key, such a copy is shown without asking.
    /// - An origin's answer that is an error is thrown as it is.
    ///
    /// - Throws: the origin's own error, with the store's beside it; `deadline` when the caller's deadline passes.
    public func load(_ call: Call, patience: Duration? = nil, linger: Duration = .seconds(60)) async throws
        -> Loaded<Entry>
    {
        if let resting = rest(of: call) { return try await load(call, during: resting, patience, linger) }
        guard let joined = shared?.join(call) else { return try await loadAlone(call) }
        let limits = WaitLimits(patience, until: call.due, at: world.uptime)
        // All waiting is done here, and nothing else: see ``Measured``.
        do {
            while true {
                switch await joined.wait(within: limits.next(at: world.uptime), isLast: !limits.isHalf) {
                case .answered: return try joined.answer()
                case .left: throw CancellationError()
                case .overran: break
                }
                if let shown = overran(limits, joined, call) {
                    joined.goOn(for: linger)
                    return shown
                }
                if limits.isOver {
                    joined.goOn(for: linger)
                    throw Lookup.overdue
                }
            }
        } catch {
            return try await standIn(for: error, in: call)
        }
    }

    /// Shows the copy while the origin is left alone; asks when there is none that may be shown.
    @inline(never)
    private func load(
        _ call: Call, during rest: BackOff.Rest, _ patience: Duration?, _ linger: Duration
    ) async throws -> Loaded<Entry> {
        if let shown = try await copy(of: call, during: rest) { return shown }
        var call = call
        call.heedsRest = false
        return try await load(call, patience: patience, linger: linger)
    }

    /// Asks a live side that is none of the graph's.
    @inline(never)
    private func loadAlone(_ call: Call) async throws -> Loaded<Entry> {
        do { return try await live.load(call) } catch { return try await standIn(for: error, in: call) }
    }

    /// A wait for the origin is over, and there is no answer.
    ///
    /// - Returns: the copy that stands in; nil when there is none that may, or it is being read.
    @inline(never)
    private func overran(_ limits: WaitLimits, _ joined: LiveCall, _ call: Call) -> Loaded<Entry>? {
        switch limits.stage {
        case .patience(let patience):
            call.trail.note("origin", "no answer after \(patience.brief)")
            shelf.backOff.overran(call.key, base: rest, in: world)
            // Beside the call: an answer that comes while a slow store is read is shown.
            limits.pass(reading: reading(call) { [weak joined] in joined?.wake() })
            return nil
        case .half:
            limits.pass(reading: reading(call) {})
            return nil
        case .whole(let whole): call.trail.note("origin", "no answer after \(whole.brief)")
        case .reading: break
        case .open, .over:
            limits.pass()
            return nil
        }
        // A copy that could not be read is none.
        let copy = limits.copy
        limits.pass()
        if let shown = copy?.shown(for: .showing, fellBack: true) { return shown }
        if let copy { call.trail.note(copy.tier, copy.refusal(for: .onError)) }
        return nil
    }

    /// Begins to read the copy. Lower tiers are not waited for: it is needed now.
    private func reading(_ call: Call, then: @escaping @Sendable () -> Void) -> WaitLimits.CopyReading {
        Pursuit(in: world) {
            try await copy(call.knowing(nil))
        } then: { _ in
            then()
        }
    }

    /// Joins the call under way, or starts one; nil when there is no origin.
    func join(_ call: Call) -> LiveCall? { shared?.join(call) }

    /// Shows the copy in the place of a call that failed.
    ///
    /// - Throws: the failure, with the store's beside it, when there is no copy that may be shown; an error that is the
    ///   origin's answer as it is.
    func standIn(for error: any Error, in call: Call) async throws -> Loaded<Entry> {
        guard var failure = LoadError.meaning(of: error), failure.code != .deadline else { throw error }
        call.trail.note("origin", failure.message)
        if failure.isAnswer { throw failure }
        do {
            let copy = try await found(call)
            if let shown = copy.shown(for: Self.standingIn, fellBack: true) { return shown }
            call.trail.note(copy.tier, copy.refusal(for: .onError))
            failure.copyRefused = true
        } catch let missing as LoadError {
            failure.store = missing.store
        }
        throw failure
    }

    /// Starts a refresh in the background, unless one for this key is under way or its origin rests after a failure.
    /// It is given up after `limit`.
    public func refresh(_ call: Call, within limit: Duration = .seconds(60)) {
        let isResting = shelf.backOff.rest(of: call.key, base: rest, at: world.uptime) != nil
        guard let shared, !isResting, shelf.refreshes.begin(call.key) else { return }
        var calling = call.inBackground
        calling.request.priority = .low
        calling.ticket = call.ticket ?? shelf.order.begin(call.key)
        world.spawn { [calling] in
            var failed: Bool
            do {
                failed = try await shared.join(calling).value(within: limit) == nil
                if failed { shelf.backOff.failed(calling.key, in: world) }
            } catch {
                // An answer is no failure, even if it is an error.
                failed = LoadError.meaning(of: error)?.isAnswer != true
            }
            meter.refreshed(failed: failed)
            shelf.refreshes.end(calling.key)
        }
    }

    /// Whether a copy that is fresh has lived through `share` of its fresh time, so that it is time for a ``refresh(_:within:)``.
    public func isAgeing(_ loaded: Loaded<Entry>, past share: Double) -> Bool {
        guard let whole = loaded.permissions.freshFor, let age = loaded.age else { return false }
        return age >= whole.scaled(by: share)
    }

    // MARK: While the origin rests

    /// Uses for which a copy stands in for a call that failed.
    private static let standingIn: Uses = [.fresh, .onError]

    /// The copy that stands in while the origin is left alone for this instance, after it failed; nil when it may be asked,
    /// and when there is no copy that may stand in. ``load(_:patience:linger:)`` looks for it by itself.
    public func copyWhileResting(_ call: Call) async throws -> Loaded<Entry>? {
        guard let resting = rest(of: call) else { return nil }
        return try await copy(of: call, during: resting)
    }

    private func rest(of call: Call) -> BackOff.Rest? {
        guard call.heedsRest, call.request.mode == .normal else { return nil }
        return shelf.backOff.rest(of: call.key, base: rest, at: world.uptime)
    }

    @inline(never)
    private func copy(of call: Call, during rest: BackOff.Rest) async throws -> Loaded<Entry>? {
        guard let shown = try await copy(call)?.shown(for: Self.standingIn, fellBack: true) else { return nil }
        call.trail.note("origin", rest.description)
        return shown
    }

    /// The same, where it can be told at once.
    func answerWhileResting(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
        guard let resting = shelf.backOff.rest(of: request.key, base: rest, at: world.uptime) else { return nil }
        var shown = cached.answer(request, codec: codec, for: uses.intersection(Self.standingIn))
        shown?.account.standIn(after: Trail.Step("origin", resting.description))
        return shown
    }
}
