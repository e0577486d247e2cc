public import LarderSystem

/// The two sides that a strategy arranges, and the methods that strategies share.
///
/// A strategy is a recipe over ``live`` and ``cached``. The methods here make all strategies treat errors, answers,
/// patience, deadlines and windows alike. A strategy must return a value that it got from here: it asks for the copy
/// for some uses, and gets the copy or the reasons against it.
public final class Sides: Sendable {
    /// Asks the origin and saves its answer. Equal requests at the same time share one call.
    public let live: any Loader
    /// Finds the copy and shows it for the best use that is permitted. Throws `notCached` if there is no copy, or if no
    /// use is permitted. To ask for certain uses, call ``copy(_:)``.
    public let cached: any Loader
    /// The world, for strategies that wait.
    public let world: any World
    let storeAccess: StoreAccess
    let meter: Meter
    /// The surroundings of the strategy that these sides were made for.
    let scope: any StrategyScope
    /// The cached side, if the strategy has one.
    private let lookup: Lookup?
    /// The live side, if there is an origin.
    private let originSide: OriginSide?
    /// The first rest of the origin after a failure.
    private let rest: Duration
    /// Whether copies are shown while the device has no network.
    private let usesNetworkState: Bool
    /// The rules about background work.
    private let background: BackgroundRules

    init(
        live: any Loader, cached: any Loader, rest: Duration = .zero, usesNetworkState: Bool = false,
        background: BackgroundRules? = nil, world: any World, storeAccess: StoreAccess, meter: Meter,
        scope: any StrategyScope
    ) {
        self.live = live
        self.cached = cached
        self.rest = rest
        self.usesNetworkState = usesNetworkState
        self.background = background ?? BackgroundRules(rules: [], world: world)
        self.world = world
        self.storeAccess = storeAccess
        self.meter = meter
        self.scope = scope
        lookup = cached as? Lookup
        originSide = live as? OriginSide
    }

    /// Returns these sides for a strategy among the settings of another.
    func with(_ scope: any StrategyScope) -> Sides {
        Sides(
            live: live, cached: cached, rest: rest, usesNetworkState: usesNetworkState, background: background,
            world: world, storeAccess: storeAccess, meter: meter, scope: scope)
    }

    // MARK: The copy

    /// Returns the copy, which can be asked for its permitted uses. Returns nil when there is none.
    ///
    /// - Throws: `CancellationError`; ``LoadError`` with the code `deadline` when the caller's deadline passes first.
    public func copy(_ call: Call) async throws -> CachedCopy? {
        do {
            return try await found(call)
        } catch let error as LoadError where error.code != .deadline {
            return nil
        }
    }

    /// Returns the copy.
    ///
    /// - Throws: the errors of ``copy(_:)``; ``LoadError`` with the code `notCached` when there is no copy, with the
    ///   store's error if the store failed.
    private func found(_ call: Call) async throws -> CachedCopy {
        guard let lookup else { throw LoadError.notCached }
        return try await lookup.copy(for: call)
    }

    // MARK: The origin

    /// Asks the origin, and shows the copy in its place where the policy allows it.
    ///
    /// - After `patience`, or at the caller's deadline, a copy is shown that is fresh or in either window, and the call
    ///   goes on for at most `linger`. Without such a copy the wait goes on.
    /// - When the origin fails, a copy is shown that is fresh or that `onError` allows. While the origin rests for this
    ///   key after a failure, or the device has no network, such a copy is shown without a call.
    /// - An answer of the origin that is an error is thrown unchanged.
    ///
    /// - Throws: the origin's own error, with the store's error; `deadline` when the caller's deadline passes.
    public func load(_ call: Call, patience: Duration? = nil, linger: Duration = .seconds(60)) async throws
        -> Loaded<Entry>
    {
        let isPatient = patience == nil && call.deadline == nil
        guard let joined = isPaused(call) ? nil : originSide?.join(call, isPatient: isPatient) else {
            return try await loadOtherwise(call, patience: patience, linger: linger)
        }
        let limits = isPatient ? nil : WaitLimits(patience, until: call.deadline, at: world.uptime)
        let endsOffline = usesNetworkState && call.respectsPause && call.request.mode == .normal
        // This function only waits, so that its frame stays small: see ``MeasuredLoader``.
        while true {
            let limit = limits.flatMap { $0.next(at: world.uptime) }
            let ending = await joined.wait(within: limit, isLast: limits?.isHalf != true, endsOffline: endsOffline)
            var failure: (any Error)?
            if ending == .answered {
                do { return try joined.answer() } catch { failure = error }
            }
            let end = WaitEnd(
                ending, failure: failure, of: joined, limits: limits, patience: patience, linger: linger)
            if let shown = try await shown(to: call, after: end) { return shown.loaded }
        }
    }

    /// The end of a wait for the origin. A class, so that it takes no room in the frame of a load that waits.
    private final class WaitEnd: Sendable {
        let ending: Flight.Ending
        /// The error of the call, or the reason for which its answer is not for this caller.
        let failure: (any Error)?
        let joined: LiveCall
        let limits: WaitLimits?
        let patience: Duration?
        let linger: Duration

        init(
            _ ending: Flight.Ending, failure: (any Error)?, of joined: LiveCall, limits: WaitLimits?,
            patience: Duration?, linger: Duration
        ) {
            (self.ending, self.failure, self.joined, self.limits) = (ending, failure, joined, limits)
            (self.patience, self.linger) = (patience, linger)
        }
    }

    /// A result, as a class for the same reason.
    private final class Shown: Sendable {
        let loaded: Loaded<Entry>

        init(_ loaded: Loaded<Entry>) { self.loaded = loaded }
    }

    /// Returns what is shown after the end of a wait that brought no answer; nil to wait again.
    @inline(never)
    private func shown(to call: Call, after end: WaitEnd) async throws -> Shown? {
        let joined = end.joined
        do {
            if let failure = end.failure { throw failure }
            switch end.ending {
            // An answer without a failure ends the load before.
            case .answered, .left: throw CancellationError()
            case .overran: break
            case .networkLost:
                guard isOffline, let shown = try await copy(of: call, during: .offline) else { return nil }
                joined.goOn(for: end.linger)
                return Shown(shown)
            }
            guard let limits = end.limits else { return nil }
            if let shown = overran(limits, joined: joined, call: call) {
                goOn(joined, for: end.linger, after: limits, call)
                return Shown(shown)
            }
            if !limits.isOver { return nil }
            joined.goOn(for: end.linger)
            throw LoadError.overdue
        } catch is AnotherVariant {
            return Shown(try await loadAgain(call, patience: end.patience, linger: end.linger))
        } catch {
            return Shown(try await standIn(for: error, in: call))
        }
    }

    /// Shows the copy while the origin is not called, and calls the origin when no copy may be shown. Asks a live side that is
    /// not an ``OriginSide``: in a policy without an origin.
    @inline(never)
    private func loadOtherwise(_ call: Call, patience: Duration?, linger: Duration) async throws -> Loaded<Entry> {
        var call = call
        if let pause = pause(of: call) {
            if let shown = try await copy(of: call, during: pause) { return shown }
            call.respectsPause = false
        }
        if originSide != nil { return try await load(call, patience: patience, linger: linger) }
        do { return try await live.load(call) } catch { return try await standIn(for: error, in: call) }
    }

    /// Asks again, after the answer of a shared call did not match the request.
    @inline(never)
    private func loadAgain(_ call: Call, patience: Duration?, linger: Duration) async throws -> Loaded<Entry> {
        try await load(call.afterMismatch, patience: patience, linger: linger)
    }

    /// Decides what follows a wait for the origin that ended without an answer.
    ///
    /// - Returns: the copy to show in its place; nil when no copy may be shown, or when it is being read.
    @inline(never)
    private func overran(_ limits: WaitLimits, joined: LiveCall, call: Call) -> Loaded<Entry>? {
        switch limits.stage {
        case .patience(let patience):
            call.trail.note("origin", .noAnswer(after: patience))
            storeAccess.keys.originOverran(call.key, base: rest, in: world)
            // The wait for the call goes on meanwhile, so that an answer is shown before a slow store's copy.
            limits.pass(reading: reading(call) { [weak joined] in joined?.wake() })
            return nil
        case .half:
            limits.pass(reading: reading(call) {})
            return nil
        case .whole(let whole): call.trail.note("origin", .noAnswer(after: whole))
        case .reading: break
        case .open, .over:
            limits.pass()
            return nil
        }
        // If the copy could not be read, this is nil.
        let copy = limits.copy
        limits.pass()
        if let shown = copy?.shown(for: .showing, fellBack: true) { return shown }
        copy?.noteRefusal(in: call.trail)
        return nil
    }

    /// Lets the call go on without its caller. If the caller's patience has ended, the metrics get the time that the call
    /// takes.
    @inline(never)
    private func goOn(_ joined: LiveCall, for linger: Duration, after limits: WaitLimits, _ call: Call) {
        guard limits.hasPatience, !call.request.isCountedApart else { return joined.goOn(for: linger) }
        joined.goOn(for: linger) { [meter, world] ending in
            meter.lateCallEnded(ending, after: world.uptime - limits.start)
        }
    }

    /// Begins to read the copy. Lower tiers are not searched, because the copy is needed now.
    private func reading(_ call: Call, then: @escaping @Sendable () -> Void) -> WaitLimits.CopyReading {
        AwaitableWork(in: world) { [self] in
            try await copy(call.knowing(nil))
        } then: { _ in
            then()
        }
    }

    /// Asks the origin, and never shows a copy in its place. At the caller's deadline the wait ends, and the call goes
    /// on for at most `linger`.
    ///
    /// - Throws: the origin's own error, which ``standIn(for:in:)`` takes; an error with the code ``LoadError/Code/deadline``
    ///   when the caller's deadline passes.
    public func ask(_ call: Call, linger: Duration = .seconds(60)) async throws -> Loaded<Entry> {
        guard let originSide else { return try await live.load(call) }
        return try await originSide.load(call, linger: linger)
    }

    /// Returns the copy in the place of a call that failed, if it is fresh or `onError` allows it. Metrics count it as
    /// a fallback.
    ///
    /// - Throws: the failure, with the store's error, when no copy may be shown. An answer of the origin, a passed
    ///   deadline and a cancellation are thrown unchanged.
    public func standIn(for error: any Error, in call: Call) async throws -> Loaded<Entry> {
        guard var failure = LoadError.meaning(of: error), failure.code != .deadline else { throw error }
        call.trail.note("origin", failure.event)
        if failure.isAnswer { throw failure }
        do {
            let copy = try await found(call)
            if let shown = copy.shown(for: Self.standingIn, fellBack: true) { return shown }
            copy.noteRefusal(in: call.trail)
            failure.copyRefused = true
            failure.neededWindow = copy.neededWindowOnError
        } catch let missing as LoadError {
            failure.store = missing.store
        }
        throw failure
    }

    /// Starts a refresh in the background, unless a refresh of this key is under way or the origin rests for it. While the
    /// device has no network, or the policy permits no refreshes on it, the refresh waits for a better one. The refresh is
    /// given up after `limit`. It has a low priority, until a more urgent request joins its call.
    public func refresh(_ call: Call, within limit: Duration = .seconds(60)) {
        if !mayRefresh(call) { return refreshLater(call, within: limit) }
        if let refresh = refreshing(call, within: limit) { world.begin(refresh) }
    }

    /// Begins a refresh. Returns the work that is left, or nil if there is none.
    private func refreshing(_ call: Call, within limit: Duration) -> (@Sendable () async -> Void)? {
        let isResting = storeAccess.keys.rest(of: call.key, base: rest, at: world.uptime) != nil
        guard let originSide, !isResting else { return nil }
        let key = storeAccess.variations.entryKey(of: call.request)
        guard storeAccess.keys.beginRefresh(key) else { return nil }
        var calling = call.inBackground
        calling.request.priority = .low
        calling.ticket = call.ticket ?? storeAccess.keys.begin(call.key)
        return { [self, calling] in
            var failed: Bool
            do {
                let loaded = try await originSide.join(calling).value(within: limit)
                failed = loaded == nil
                if failed { storeAccess.keys.originFailed(calling.key, in: world) }
                if let loaded, let end = originSide.freshUntil(loaded, for: calling.request) {
                    meter.refreshed(calling.key.hash, freshUntil: end)
                }
            } catch is AnotherVariant {
                failed = false
            } catch {
                // An error that is an answer of the origin is not a failure.
                failed = LoadError.meaning(of: error)?.isAnswer != true
            }
            meter.refreshed(failed: failed)
            storeAccess.keys.endRefresh(key)
        }
    }

    /// Returns whether a refresh may call the origin on the present network.
    private func mayRefresh(_ call: Call) -> Bool {
        !isOffline && background.permit(.refresh)
            && (call.request.purpose != .prefetch || background.permit(.prefetch))
    }

    /// Lets a refresh begin when the network allows it, unless its copy is cleared before.
    func refreshLater(_ call: Call, within limit: Duration = .seconds(60)) {
        guard originSide != nil else { return }
        storeAccess.keys.postponeRefresh(of: call, within: limit)
    }

    /// Makes a refresh that has waited, unless its copy was cleared meanwhile.
    func refreshNow(_ due: Call, within limit: Duration) async {
        if due.ticket.map(storeAccess.keys.isVoid) == true { return }
        if !mayRefresh(due) { return refreshLater(due, within: limit) }
        await refreshing(Call(due.request, codec: due.codec), within: limit)?()
    }

    // MARK: While the origin is not called

    /// The uses for which a copy may replace a call that failed.
    static let standingIn: Uses = [.fresh, .onError]

    /// Whether the strategy heeds the network, and the device is known to have none.
    var isOffline: Bool { usesNetworkState && world.network.reach == .offline }

    /// Returns the copy to show while the origin rests for this key after a failure, or while the device has no network.
    /// Returns nil when the origin may be asked, or when no copy may be shown. ``load(_:patience:linger:)`` does this
    /// itself.
    public func copyWhileResting(_ call: Call) async throws -> Loaded<Entry>? {
        guard let pause = pause(of: call) else { return nil }
        return try await copy(of: call, during: pause)
    }

    @inline(never)
    private func isPaused(_ call: Call) -> Bool { pause(of: call) != nil }

    private func pause(of call: Call) -> OriginPause? {
        guard call.respectsPause, call.request.mode == .normal else { return nil }
        return pause(at: call.key)
    }

    func pause(at key: Key) -> OriginPause? {
        if isOffline { return .offline }
        return storeAccess.keys.rest(of: key, base: rest, at: world.uptime).map(OriginPause.resting)
    }

    @inline(never)
    private func copy(of call: Call, during pause: OriginPause) async throws -> Loaded<Entry>? {
        guard let shown = try await copy(call)?.shown(for: Self.standingIn, fellBack: true) else { return nil }
        if pause.isSlow, !call.request.isCountedApart { meter.shownWhileSlow() }
        if pause.isOffline { refreshLater(call) }
        call.trail.note("origin", pause.event)
        return shown
    }
}
