package import LarderSystem

/// Decides what a screen shows: a state machine without I/O, clocks and tasks.
///
/// The phase is computed from a few facts, so that wrong pairs, such as an error beside a spinner, cannot be told apart
/// from right ones by mistake: a load that begins removes the error, and an error ends the load.
package struct ScreenState<Value: Sendable>: Sendable {
    package typealias Phase = LiveResource<Value>.Phase

    /// A load that the screen waits for.
    package struct Load: Sendable, Hashable {
        package let number: Int
        package let mode: Request.Mode
    }

    /// An event in the life of a screen.
    package enum Event: Sendable {
        /// The screen has appeared, for the first time or again.
        case returned
        /// The user asks for new data.
        case refreshAsked
        /// The policy of the resource has changed.
        case policyChanged
        case networkLost
        case networkReturned
        /// The app has begun to clear these copies. The number identifies the clearing.
        case clearingBegan(Int, Selection)
        case clearingEnded(Int)
        /// The load of this number has got further.
        case load(Int, Progress)
        /// A load of somebody else got this answer.
        case saved(Loaded<Value>)
    }

    /// A step of a load.
    package enum Progress: Sendable {
        /// There is a copy. The load goes on.
        case copy(Loaded<Value>)
        /// The origin has answered. The load is over.
        case answered(Loaded<Value>)
        /// The origin says that the copy is current. The load is over.
        case unchanged(Loaded<Value>)
        /// The load is over. The policy is content with the copy, and did not ask the origin.
        case settled(Loaded<Value>)
        /// The load is over. The value stands in for an answer because of the error.
        case stoodIn(Loaded<Value>, LoadError)
        /// The load is over.
        case failed(LoadError)
        /// The load is over, and nobody needs it any more.
        case cancelled
    }

    /// A value with the facts that decide its freshness at any time.
    private struct Kept: Sendable {
        var value: Value
        var isStale: Bool
        /// The moment at which the value was current; nil if it is not known.
        var currentAt: Timestamp?
        /// The age at which it is stale; nil if no age makes it stale.
        var freshFor: Duration?
        var tags: [String]

        func age(at now: Timestamp) -> Duration? { currentAt.map { max(.zero, now - $0) } }

        func isIn(_ selection: Selection) -> Bool {
            if case .tag(let tag) = selection { tags.contains(tag) } else { false }
        }

        func isStale(at now: Timestamp) -> Bool {
            if isStale { return true }
            guard let freshFor, let age = age(at: now) else { return false }
            return age >= freshFor
        }
    }

    /// The key of the present request.
    package var key: Key
    private var kept: Kept?
    private var error: LoadError?
    /// The load whose steps count. The steps of all others come too late.
    package private(set) var load: Load?
    private var loads = 0
    private var isOffline: Bool
    /// Whether the data was cleared, and the screen has not asked for it since.
    package private(set) var isCleared = false
    private var clearings: [Int: Selection] = [:]
    /// The mode of the load that begins when the clearings have ended. Nil if none does.
    package private(set) var postponed: Request.Mode?
    /// The number of changes of the phase so far, but for those that time brings.
    package private(set) var changes = 0

    /// The number of values that were put on the screen so far.
    package private(set) var values = 0
    /// The number of loads that have ended so far.
    package private(set) var ends = 0

    package init(for key: Key, isOffline: Bool = false) {
        self.key = key
        self.isOffline = isOffline
    }

    /// Returns the phase. A value becomes stale by the passing of time alone.
    package func phase(at now: Timestamp) -> Phase {
        if isCleared { return .empty }
        let shown = kept.map {
            LiveResource.Shown(
                value: $0.value, freshness: $0.isStale(at: now) ? .stale : .fresh, age: $0.age(at: now))
        }
        if isOffline { return .offline(shown: shown) }
        if let error { return .failed(error, shown: shown) }
        guard let shown else { return load == nil ? .empty : .loading }
        switch shown.freshness {
        case .fresh: return .fresh(shown.value, isRefreshing: load != nil)
        case .stale: return .stale(shown.value, age: shown.age, isRefreshing: load != nil)
        }
    }

    /// Returns the age of the value; nil if there is none or its age is not known.
    package func age(at now: Timestamp) -> Duration? { kept?.age(at: now) }

    /// Returns the time until the value becomes stale; nil if it is stale, or no time makes it so.
    package func freshness(left now: Timestamp) -> Duration? {
        guard let kept, !kept.isStale(at: now), let freshFor = kept.freshFor, let age = kept.age(at: now) else {
            return nil
        }
        return freshFor - age
    }

    /// Takes an event.
    ///
    /// - Returns: the load to begin; nil if there is none.
    package mutating func apply(_ event: Event, at now: Timestamp) -> Load? {
        switch event {
        case .returned: return load == nil ? begin(.normal) : nil
        case .refreshAsked: return begin(.refresh)
        case .policyChanged: return beginAgain()
        case .networkLost: setOffline(true)
        case .networkReturned:
            guard isOffline else { return nil }
            // After a failure without a network, the policy may leave the origin alone for a while.
            let mode: Request.Mode? = error == nil ? nil : .refresh
            setOffline(false)
            return beginAgain(mode)
        case .clearingBegan(let number, let selection):
            clearings[number] = selection
            if concerns(selection) { clear() }
        case .clearingEnded(let number): return clearingEnded(number)
        case .load(let number, let progress):
            if number == load?.number { take(progress, at: now) }
        case .saved(let loaded):
            if isCleared { return nil }
            if show(loaded, at: now, isLive: true) { error = nil }
        }
        return nil
    }

    // MARK: Loads

    private mutating func begin(_ mode: Request.Mode) -> Load? {
        if isBeingCleared {
            if postponed != .refresh { postponed = mode }
            return nil
        }
        (loads, changes) = (loads + 1, changes + 1)
        let load = Load(number: loads, mode: mode)
        (self.load, error, isCleared) = (load, nil, false)
        return load
    }

    /// Begins a load that nobody has asked for. What was cleared stays so.
    private mutating func beginAgain(_ mode: Request.Mode? = nil) -> Load? {
        isCleared ? nil : begin(mode ?? load?.mode ?? .normal)
    }

    private mutating func setOffline(_ isOffline: Bool) {
        if self.isOffline != isOffline { changes += 1 }
        self.isOffline = isOffline
    }

    private mutating func take(_ progress: Progress, at now: Timestamp) {
        switch progress {
        case .copy(let loaded):
            show(loaded, at: now)
            return
        case .answered(let loaded), .unchanged(let loaded):
            // The origin knows best, even if it calls its answer older than the one before.
            let former = kept
            kept = nil
            if !show(loaded, at: now, isLive: true), !isCleared { kept = former }
        case .settled(let loaded): show(loaded, at: now)
        case .stoodIn(let loaded, let error):
            show(loaded, at: now)
            if !isCleared { self.error = error }
        case .failed(let error):
            if error.isAnswer { kept = nil }
            if error.code != .notCached { self.error = error }
        case .cancelled: break
        }
        load = nil
        (changes, ends) = (changes + 1, ends + 1)
    }

    // MARK: Values

    /// The least time for which a new answer is shown as fresh, even under a policy that regards nothing as fresh. So
    /// the screen does not call it old at once.
    package static var leastFresh: Duration { .seconds(60) }

    /// Shows a value, unless a newer one is shown.
    ///
    /// - Parameter isLive: whether the value has just come from the origin.
    /// - Returns: whether it is shown.
    @discardableResult
    private mutating func show(_ loaded: Loaded<Value>, at now: Timestamp, isLive: Bool = false) -> Bool {
        let age = loaded.age.flatMap { $0 < .zero ? nil : $0 }
        var next = Kept(
            value: loaded.value, isStale: loaded.freshness == .stale, currentAt: age.map { now - $0 },
            freshFor: loaded.permissions.freshFor, tags: loaded.metadata?.tags ?? [])
        if isLive { next.freshFor = next.freshFor.map { max($0, (age ?? .zero) + Self.leastFresh) } }
        if clearings.values.contains(where: { next.isIn($0) }) {
            clear()
            return false
        }
        if let kept {
            guard let new = next.currentAt, kept.currentAt.map({ new >= $0 }) ?? true else { return false }
        }
        kept = next
        (changes, values) = (changes + 1, values + 1)
        return true
    }

    // MARK: Clearing

    /// Whether copies for the request are being removed now, so that those that are found do not count.
    private var isBeingCleared: Bool { clearings.values.contains { !$0.isTag && $0.mayConcern(key) } }

    private func concerns(_ selection: Selection) -> Bool {
        selection.isTag ? kept?.isIn(selection) ?? false : selection.mayConcern(key)
    }

    private mutating func clear() {
        (kept, error, load, postponed, isCleared) = (nil, nil, nil, nil, true)
        changes += 1
    }

    private mutating func clearingEnded(_ number: Int) -> Load? {
        guard let selection = clearings.removeValue(forKey: number) else { return nil }
        let next = postponed
        if concerns(selection) {
            clear()
        } else if selection.isTag, let load {
            // Its answer may be one that the origin gave before the clearing.
            return begin(load.mode)
        }
        if isBeingCleared { postponed = next }
        return isBeingCleared ? nil : next.flatMap { begin($0) }
    }
}

extension Selection {
    fileprivate var isTag: Bool {
        if case .tag = self { true } else { false }
    }
}
